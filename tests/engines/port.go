package engines

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"sync"

	"github.com/gofrs/flock"
)

// Ports of servers lie below those that systems give to connections and to listeners on port 0.
const (
	firstPort = 20_000
	lastPort  = 31_999
)

// reserved holds the locks of this process's ports: they end with the process.
var reserved struct {
	mu    sync.Mutex
	locks []*flock.Flock
}

// FreePort returns a port of this machine that nothing listens on. No other process that calls FreePort gets it
// while this one runs, so that a server may stop and start again on it.
func FreePort() (int, error) {
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("feedmesh-ports-%d", os.Getuid()))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return 0, err
	}
	for range 1000 {
		port := firstPort + rand.IntN(lastPort-firstPort+1)
		lock := flock.New(filepath.Join(dir, fmt.Sprint(port)))
		if ok, err := lock.TryLock(); err != nil || !ok {
			continue
		}
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			_ = lock.Close()
			continue
		}
		reserved.mu.Lock()
		reserved.locks = append(reserved.locks, lock)
		reserved.mu.Unlock()
		return port, l.Close()
	}
	return 0, errors.New("no port is free")
}

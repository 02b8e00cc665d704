package embedded

import (
	"fmt"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

const (
	recoveryLogged  = 15 * time.Second // a recovery of the files that takes longer is logged
	recoveryTimeout = 5 * time.Minute
)

// recoverFiles starts the server, which recovers its files first. In damaged files it may look for messages without end
// (nats-server v2.15.2: a wrong sequence number in a block), and cannot be stopped then: the process should end.
func (s *Server) recoverFiles(next *server.Server) error {
	started := make(chan struct{})
	go func() {
		defer close(started)
		next.Start()
	}()
	first := min(recoveryLogged, s.recoveryTimeout)
	select {
	case <-started:
		return nil
	case <-time.After(first):
	}
	s.log.Warn("NATS server recovers its files", "dir", s.settings.StoreDir, "at_most", s.recoveryTimeout)
	select {
	case <-started:
		return nil
	case <-time.After(s.recoveryTimeout - first):
		return fmt.Errorf("embedded NATS server: the files in %s were not recovered within %v, so they seem to be damaged: "+
			"move this folder away and start again; the schedule is rebuilt from the store, and lost tasks come again from the feeds",
			s.settings.StoreDir, s.recoveryTimeout)
	}
}

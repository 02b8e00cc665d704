//go:build unix

package node

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"feedmesh/agent/simulate"
	servers "feedmesh/tests/engines"
)

// Not parallel, because it sets PATH.
func TestRun_OwnMeilisearch(t *testing.T) {
	servers.SetMeilisearchPath(t)
	web := httptest.NewServer(simulate.NewFeedServer(testFeeds, testEntries, time.Now().Add(-time.Hour)))
	defer web.Close()
	c := settings(filepath.Join(t.TempDir(), "data"))
	c.Search = "meilisearch:"
	r := start(t, c)
	r.add(web.URL)
	r.waitIdle(testItems)
	r.checkSearch(testFeeds, testEntries)

	killed := processOf(t, c.Data)
	if err := syscall.Kill(killed, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, "Meilisearch runs again", func() bool {
		id := processOf(t, c.Data)
		return id != 0 && id != killed
	})
	r.waitIdle(testItems)
	r.checkSearch(testFeeds, testEntries)

	last := processOf(t, c.Data)
	r.stop()
	if err := syscall.Kill(last, 0); err == nil {
		t.Errorf("process %d of Meilisearch still runs", last)
	}

	// The program of an agent that was killed, on a system that does not kill it too.
	dir := filepath.Join(c.Data, "meilisearch")
	left := exec.Command("meilisearch", "--http-addr", "127.0.0.1:"+line(t, dir, "port"), "--no-analytics", "--db-path", filepath.Join(dir, "data"))
	left.Dir, left.Env = dir, append(os.Environ(), "MEILI_MASTER_KEY="+line(t, dir, "key"))
	if err := left.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- left.Wait() }()
	if err := os.WriteFile(filepath.Join(dir, "pid"), []byte(strconv.Itoa(left.Process.Pid)), 0o600); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the program answers", func() bool {
		answer, err := http.Get("http://127.0.0.1:" + line(t, dir, "port") + "/health")
		if err == nil {
			answer.Body.Close()
		}
		return err == nil
	})
	r = start(t, c)
	r.waitIdle(testItems)
	r.checkSearch(testFeeds, testEntries)
	r.stop()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Fatal("the program that an agent left behind still runs")
	}

	if err := os.WriteFile(filepath.Join(dir, "data", "VERSION"), []byte("1.20.0"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := startError(t, c); !strings.Contains(got, "incompatible") || !strings.Contains(got, "delete the folder") {
		t.Errorf("got %q, want the message of Meilisearch and the remedy", got)
	}
	if err := os.RemoveAll(filepath.Join(dir, "data")); err != nil {
		t.Fatal(err)
	}
	r = start(t, c)
	r.waitIdle(testItems)
	r.checkSearch(testFeeds, testEntries)
}

// processOf returns the process ID of the Meilisearch of a data folder, 0 while none runs.
func processOf(t *testing.T, data string) int {
	t.Helper()
	text, _ := os.ReadFile(filepath.Join(data, "meilisearch", "pid"))
	id, _ := strconv.Atoi(string(text))
	return id
}

// line returns the only line of a file.
func line(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

package node

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sys/unix"

	"feedmesh/agent/client"
	"feedmesh/agent/simulate"
	"feedmesh/agent/wire"
)

// fillDisk takes all space of the disk of a folder at once, and returns a function that gives it back.
func fillDisk(t *testing.T, dir string) (free func()) {
	t.Helper()
	path := filepath.Join(dir, "ballast")
	ballast, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	for taken := int64(0); ; { // other writers may be faster
		left, err := FreeBytes(dir)
		if err != nil {
			t.Fatal(err)
		}
		if left == 0 {
			break
		}
		if err := unix.Fallocate(int(ballast.Fd()), 0, taken, left); err == nil {
			taken += left
		} else if err != unix.ENOSPC {
			t.Fatal(err)
		}
	}
	return func() {
		ballast.Close()
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

// A disk that is full from one moment to the next makes a node read-only. It recovers by itself, and loses nothing.
func TestRun_DiskFullAtOnce(t *testing.T) {
	t.Parallel()
	disk := smallDisk(t, "400m")
	c := settings(filepath.Join(disk, "data"))
	c.Listen, c.Schedule.Interval = freeAddr(t), 2*time.Second
	f := simulate.NewFeedServer(testFeeds, testEntries, time.Now().Add(-time.Hour))
	web := httptest.NewServer(f)
	t.Cleanup(web.Close)
	r := start(t, c)
	r.add(web.URL)
	r.waitIdle(testItems)
	at := "http://" + c.Listen

	// Entries appear all the time.
	ctx, stop := context.WithCancel(t.Context())
	var load sync.WaitGroup
	load.Go(func() {
		for ctx.Err() == nil {
			f.Publish()
			select {
			case <-ctx.Done():
			case <-time.After(500 * time.Millisecond):
			}
		}
	})
	// Searches and pages are answered all the time.
	answered := 0
	load.Go(func() {
		word := simulate.UniqueWord(0, 0)
		for failed := map[string]bool{}; ctx.Err() == nil; answered++ {
			for _, path := range []string{"/api/search?q=" + word, "/?q=" + word, "/feeds", "/api/feeds", "/livez"} {
				status, body := get(t, at+path, "")
				if (status != http.StatusOK || strings.Contains(path, word) && !strings.Contains(body, word)) && !failed[path] && ctx.Err() == nil {
					failed[path] = true
					t.Errorf("%s: got %d %.500s, want an answer with status 200", path, status, body)
				}
			}
		}
	})
	eventually(t, "entries are stored under load", func() bool {
		s, err := client.Call(t.Context(), r.Client, wire.GetStatus, wire.None{})
		return err == nil && s.Items > testItems
	})

	began := time.Now()
	free := fillDisk(t, c.Data)
	eventually(t, "readiness names the disk", func() bool {
		status, body := get(t, at+"/readyz", "")
		return status == 503 && strings.Contains(body, `"disk","ok":false,"detail":"the disk of the data folder `+c.Data+` is full`)
	})
	t.Logf("readiness names the disk after %v", time.Since(began).Round(10*time.Millisecond))
	for method, body := range map[string]string{"POST /api/feeds": fmt.Sprintf(`{"urls":[%q]}`, web.URL+"/feed/99"), "PUT /api/views/a": `{"definition":"view a = from all"}`} {
		verb, path, _ := strings.Cut(method, " ")
		status, text := send(t, verb, at+path, body)
		if status != http.StatusInsufficientStorage || !strings.Contains(text, "nothing can be changed now, only read: the disk of the data folder") {
			t.Errorf("%s: got %d %s, want 507 with the disk", method, status, text)
		}
	}
	if status, text := send(t, "POST", at+"/feeds", "url=x"); status != http.StatusInsufficientStorage || !strings.Contains(text, "is full") {
		t.Errorf("a form: got %d %s, want 507 with the disk", status, text)
	}
	eventually(t, "the disk has been full for twice the time that the NATS server may be unhealthy", func() bool {
		return time.Since(began) > 2*maxUnhealthy
	})
	if status, _ := get(t, at+"/livez", ""); status != 200 {
		t.Fatalf("got %d, want a process that lives", status)
	}

	freed := time.Now()
	free()
	eventually(t, "the node is ready", func() bool { status, _ := get(t, at+"/readyz", ""); return status == 200 })
	t.Logf("ready %v after the disk had space", time.Since(freed).Round(10*time.Millisecond))
	stop()
	load.Wait()
	eventually(t, "all entries are stored and searchable", func() bool {
		s, err := client.Call(t.Context(), r.Client, wire.GetStatus, wire.None{})
		served := int64(len(f.Served()))
		return err == nil && s.Items == served && s.Indexed == served
	})
	t.Logf("all entries searchable after %v; %d rounds of requests were answered meanwhile", time.Since(freed).Round(10*time.Millisecond), answered)
	if !strings.Contains(r.log.String(), "fetching paused, disk full") {
		t.Errorf("got log %s, want the full disk", r.log)
	}
}

// Streams that became unavailable on a full disk are available again when the disk has space, without a restart of the
// process; what was stored is kept.
func TestWatch_RestartsNATSAfterFullDisk(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped by -short: waits for the bound of an unhealthy server")
	}
	t.Parallel()
	p := &process{config: settings(smallDisk(t, "200m")), options: Options{Log: slog.New(slog.DiscardHandler)}}
	s, err := p.startNATS()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	conn, err := s.Connect(p.natsOptions()...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn, jetstream.WithDefaultTimeout(time.Second))
	if err != nil {
		t.Fatal(err)
	}
	stream, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "s", Subjects: []string{"s"}})
	if err != nil {
		t.Fatal(err)
	}
	free := fillDisk(t, p.config.Data)
	stored := uint64(0)
	for s.Healthy() == nil {
		if _, err := js.Publish(t.Context(), "s", make([]byte, 64<<10)); err == nil {
			stored++
		}
	}
	free()
	if s.Healthy() == nil {
		t.Fatal("the server is healthy without a restart, want that the streams stay unavailable")
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- watch(ctx, p, s) }()
	began := time.Now()
	eventually(t, "a message is stored", func() bool {
		_, err := js.Publish(t.Context(), "s", []byte("after"))
		return err == nil
	})
	t.Logf("a message is stored %v after the disk had space", time.Since(began).Round(100*time.Millisecond))
	if info, err := stream.Info(t.Context()); err != nil || info.State.Msgs < stored+1 {
		t.Errorf("got %+v, %v; want the %d acknowledged messages and the last", info, err, stored)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// send sends a request with a JSON body, or with a form.
func send(t *testing.T, method, url, body string) (status int, text string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if !strings.HasPrefix(body, "{") {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b := make([]byte, 4096)
	n, _ := resp.Body.Read(b)
	return resp.StatusCode, string(b[:n])
}

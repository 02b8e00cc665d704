package client

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"feedmesh/agent/wire"
)

// silent returns a client of a server in memory that accepts connections and sends what it is given, and no more.
func silent(t *testing.T, answer string) *Client {
	t.Helper()
	c, err := NewClient("http://node.example:8080", "")
	if err != nil {
		t.Fatal(err)
	}
	c.http.Transport.(*http.Transport).DialContext = func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go func() {
			theirs.Read(make([]byte, 4096))
			io.WriteString(theirs, answer)
			io.Copy(io.Discard, theirs)
		}()
		t.Cleanup(func() { theirs.Close() })
		return ours, nil
	}
	return c
}

// A node that hangs is left after 30 s, before, during and after its answer's header.
func TestClient_NodeHangs(t *testing.T) {
	for name, test := range map[string]struct{ answer, want string }{
		"no answer":     {"", "http://node.example:8080 accepts connections but did not respond within 30s: check the node's log, or restart it"},
		"half a header": {"HTTP/1.1 200 OK\r\nContent-", "did not respond within 30s"},
		"half a body":   {"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{", "ended early: nothing arrived for 30s"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := silent(t, test.answer)
				began, waited := time.Now(), time.Duration(0)
				c.Waiting = func() { waited = time.Since(began) }
				_, err := Call(t.Context(), c, wire.GetStatus, wire.None{})
				if err == nil || !strings.Contains(err.Error(), test.want) {
					t.Errorf("got %v, want %q", err, test.want)
				}
				if took := time.Since(began); took != answerTimeout {
					t.Errorf("took %v, want %v", took, answerTimeout)
				}
				if early := strings.HasSuffix(test.answer, "{"); early != (waited == 0) || !early && waited != noticeAfter {
					t.Errorf("the wait was reported after %v, want %v, and nothing if the answer has begun", waited, noticeAfter)
				}
				c.http.CloseIdleConnections()
			})
		})
	}
}

// A node may take minutes to make a file, as a backup of a large store.
func TestClient_SlowDownload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := silent(t, "")
		c.http.Transport.(*http.Transport).DialContext = func(context.Context, string, string) (net.Conn, error) {
			ours, theirs := net.Pipe()
			go func() {
				theirs.Read(make([]byte, 4096))
				time.Sleep(10 * time.Minute)
				io.WriteString(theirs, "HTTP/1.1 200 OK\r\nContent-Type: "+wire.MakeBackup.Type+"\r\nContent-Disposition: attachment; filename=a.db\r\nContent-Length: 4\r\nConnection: close\r\n\r\nfile")
				theirs.Close()
			}()
			return ours, nil
		}
		d, err := Download(t.Context(), c, wire.MakeBackup, wire.None{})
		if err != nil {
			t.Fatal(err)
		}
		defer d.Body.Close()
		if content, err := io.ReadAll(d.Body); string(content) != "file" || err != nil || d.Name != "a.db" {
			t.Errorf("got %q, %q, %v", d.Name, content, err)
		}
	})
}

// A list that is typed slowly is no node that hangs.
func TestClient_SlowUpload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := silent(t, "")
		list, typed := io.Pipe()
		go func() {
			for range 3 {
				time.Sleep(time.Minute)
				io.WriteString(typed, "https://feeds.example/\n")
			}
			typed.Close()
		}()
		began := time.Now()
		if _, err := c.StartImport(t.Context(), "list", list); err == nil || !strings.Contains(err.Error(), "did not respond within 30s") {
			t.Errorf("got %v, want that the node hangs", err)
		}
		if took := time.Since(began); took < 90*time.Second {
			t.Errorf("took %v, want the time of the source not to count", took)
		}
		c.http.CloseIdleConnections()
	})
}

// A request ends at once when it is cancelled, even if the source of its body blocks.
func TestClient_CancelEndsAtOnce(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.Copy(io.Discard, r.Body) }))
	c, err := NewClient(server.URL, "")
	if err != nil {
		t.Fatal(err)
	}
	list, typed := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := c.StartImport(ctx, "list", list)
		ended <- err
	}()
	io.WriteString(typed, "https://feeds.example/\n") // the upload runs
	cancel()
	select {
	case err := <-ended:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want %v", err, context.Canceled)
		}
	case <-time.After(20 * time.Second):
		t.Error("the request did not end within 20 s")
	}
	typed.Close()
	server.Close()
}

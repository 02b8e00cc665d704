package node

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"feedmesh/config"
	"feedmesh/subjects"
)

// silentServer accepts connections and never answers. It returns its address.
func silentServer(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0") // the kernel accepts them
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l.Addr().String()
}

// begin runs a node whose start may wait, and returns its log, and a function that stops it and returns its error.
func begin(t *testing.T, c config.Config) (l *log, stop func() error) {
	t.Helper()
	if testing.Short() {
		t.Skip("skipped by -short: runs a node for seconds")
	}
	ctx, cancel := context.WithCancel(context.Background())
	l = &log{}
	done := make(chan error, 1)
	go func() { done <- Run(ctx, c, Options{Version: "test", Log: slog.New(slog.NewTextHandler(l, nil))}) }()
	stop = func() error { cancel(); return <-done }
	t.Cleanup(cancel)
	return l, stop
}

// request sends a GET request and returns the response with its body.
func request(t *testing.T, url string, header ...string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(body)
}

// A node whose engine does not answer at its start answers at once, and names the engine.
func TestStartup_EngineAway(t *testing.T) {
	t.Parallel()
	refused := freeAddr(t)
	for _, test := range []struct {
		name, check, kind, host string
		set                     func(c *config.Config, host string)
	}{
		{"PostgreSQL refuses", "store", "PostgreSQL", refused, func(c *config.Config, host string) {
			c.Store = config.Address("postgres://user:s3cret@" + host + "/feedmesh")
		}},
		{"PostgreSQL hangs", "store", "PostgreSQL", silentServer(t), func(c *config.Config, host string) {
			c.Store = config.Address("postgres://user:s3cret@" + host + "/feedmesh")
		}},
		{"Meilisearch refuses", "index", "Meilisearch", refused, func(c *config.Config, host string) {
			c.Search = config.Address("meilisearch://" + host)
		}},
		{"Meilisearch hangs", "index", "Meilisearch", silentServer(t), func(c *config.Config, host string) {
			c.Search = config.Address("meilisearch://" + host)
		}},
		{"NATS refuses", "mesh", "NATS", refused, func(c *config.Config, host string) {
			c.NATS = []config.Address{config.Address("nats://" + host)}
		}},
		{"NATS hangs", "mesh", "NATS", silentServer(t), func(c *config.Config, host string) {
			c.NATS = []config.Address{config.Address("nats://" + host)}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := settings(filepath.Join(t.TempDir(), "data"))
			c.Listen, c.Health, c.Token = freeAddr(t), freeAddr(t), "s3cret"
			test.set(&c, test.host)
			l, stop := begin(t, c)
			at, wants := "http://"+c.Listen, test.kind+" at "+test.host
			eventually(t, "readiness names the engine", func() bool {
				status, body := get(t, at+"/readyz", "s3cret")
				return status == 503 && strings.Contains(body, `"name":"`+test.check+`","ok":false,"detail":"waits for `+wants+" since ")
			})
			if resp, body := request(t, at+"/livez"); resp.StatusCode != 200 || body != "ok\n" {
				t.Errorf("liveness: got %s %s, want 200", resp.Status, body)
			}
			if status, body := get(t, "http://"+c.Health+"/readyz", "s3cret"); status != 503 || !strings.Contains(body, wants) {
				t.Errorf("readiness by --health: got %d %s, want 503 with %s", status, body, wants)
			}
			resp, body := request(t, at+"/api/status", "Authorization", "Bearer s3cret")
			if resp.StatusCode != 503 || resp.Header.Get("Retry-After") == "" || resp.Header.Get("Content-Type") != "application/problem+json" ||
				!strings.Contains(body, "feedmesh is starting: waits for "+wants+" since ") {
				t.Errorf("the API: got %s %v %s, want a problem that names %s", resp.Status, resp.Header, body, wants)
			}
			resp, body = request(t, at+"/feeds", "Accept", "text/html", "Authorization", "Bearer s3cret")
			if resp.StatusCode != 503 || !strings.Contains(body, `<meta http-equiv="refresh"`) || !strings.Contains(body, "feedmesh is starting: waits for "+wants) {
				t.Errorf("a page: got %s %s, want one that names %s and loads itself again", resp.Status, body, wants)
			}
			// Without the token only the kind of the engine is shown.
			if resp, body := request(t, at+"/"); resp.StatusCode != 503 || !strings.Contains(body, "waits for "+test.kind) || strings.Contains(body, test.host) {
				t.Errorf("without a token: got %s %s, want %s without its host", resp.Status, body, test.kind)
			}
			if resp, _ := request(t, at+"/readyz"); resp.StatusCode != 401 {
				t.Errorf("readiness without a token: got %s, want 401", resp.Status)
			}
			eventually(t, "the log names the engine", func() bool {
				return strings.Contains(l.String(), `msg="dependency unavailable, startup waits" name="`+wants+`"`)
			})
			if test.kind == "NATS" {
				eventually(t, "readiness states the error", func() bool {
					_, body := get(t, at+"/readyz", "s3cret")
					return strings.Contains(body, "connect to the NATS server of --nats: ")
				})
			}
			began := time.Now()
			if err := stop(); err != nil {
				t.Errorf("stop: got %v, want nil", err)
			}
			if took := time.Since(began); took > 8*time.Second {
				t.Errorf("the stop took %v, want it within the bound of one attempt to connect", took)
			}
			if strings.Contains(l.String(), "s3cret") {
				t.Errorf("the log contains the password: %s", l)
			}
		})
	}
}

// A node that waits for NATS starts when the server does, and serves the API at the same address.
func TestStartup_NATSComesLater(t *testing.T) {
	t.Parallel()
	address := freeAddr(t)
	c := settings(filepath.Join(t.TempDir(), "data"))
	c.Listen, c.NATS = freeAddr(t), []config.Address{config.Address("nats://" + address)}
	l, stop := begin(t, c)
	at := "http://" + c.Listen
	eventually(t, "the start waits", func() bool {
		return strings.Contains(l.String(), "startup waits")
	})
	u, err := url.Parse("nats://" + address)
	if err != nil {
		t.Fatal(err)
	}
	port, err := net.LookupPort("tcp", u.Port())
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: port, NoSigs: true, JetStream: true, StoreDir: t.TempDir(), MaxPayload: subjects.MaxMessage,
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	eventually(t, "the node is ready", func() bool { status, _ := get(t, at+"/readyz", ""); return status == 200 })
	for _, path := range []string{"/", "/api/status"} {
		if resp, body := request(t, at+path); resp.StatusCode != 200 {
			t.Errorf("%s: got %s %s, want 200", path, resp.Status, body)
		}
	}
	if !strings.Contains(l.String(), `msg="dependency recovered" name="NATS at `+address) {
		t.Errorf("got log %s, want the recovered NATS", l)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

// The second server of the list is used if the first accepts connections and never answers.
func TestStartup_FirstServerHangs(t *testing.T) {
	t.Parallel()
	c := settings(filepath.Join(t.TempDir(), "never"))
	c.Roles, c.NATS = []string{"crawl"}, []config.Address{config.Address("nats://" + silentServer(t)), natsServer(t, true)}
	began := time.Now()
	start(t, c)
	if took := time.Since(began); took > 15*time.Second {
		t.Errorf("started after %v, want 15 s at most", took)
	}
}

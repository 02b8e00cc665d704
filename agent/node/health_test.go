package node

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"feedmesh/agent/role"
	"feedmesh/agent/simulate"
	"feedmesh/config"
	"feedmesh/subjects"
)

// freeAddr returns a free loopback address.
func freeAddr(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// get returns the response to a GET request; status 0 and the error text if the request failed.
func get(t *testing.T, url, token string) (status int, body string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

// stoppableNATS runs a NATS server until stop is called or the test ends.
func stoppableNATS(t *testing.T) (url string, stop func()) {
	t.Helper()
	s, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, JetStream: true, StoreDir: t.TempDir(), MaxPayload: subjects.MaxMessage,
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	stop = func() { s.Shutdown(); s.WaitForShutdown() }
	t.Cleanup(stop)
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("the NATS server is not ready")
	}
	return s.ClientURL(), stop
}

func TestHealth_WithoutRoleAPI(t *testing.T) {
	t.Parallel()
	nats, stop := stoppableNATS(t)
	c := settings(filepath.Join(t.TempDir(), "never"))
	c.Roles, c.NATS, c.Health, c.Token = []string{"crawl"}, []config.Address{config.Address(nats)}, freeAddr(t), "s3cret"
	start(t, c)
	at := "http://" + c.Health
	for path, want := range map[string]string{"/livez": "ok", "/readyz": `"mesh","ok":true`, "/metrics": "feedmesh_fetch_total", "/debug/pprof/": "goroutine", "/debug/pprof/goroutine?debug=1": "feedmesh"} {
		if status, body := get(t, at+path, "s3cret"); status != 200 || !strings.Contains(body, want) {
			t.Errorf("%s: got %d %.200s, want %s", path, status, body, want)
		}
		if status, _ := get(t, at+path, ""); status != 401 && path != "/livez" {
			t.Errorf("%s without the token: got %d, want 401", path, status)
		}
	}
	if status, _ := get(t, at+"/api/status", "s3cret"); status != 404 {
		t.Errorf("the API: got %d, want 404", status)
	}

	stop()
	began := time.Now()
	eventually(t, "readiness reports NATS unavailable", func() bool {
		status, body := get(t, at+"/readyz", "s3cret")
		return status == 503 && strings.Contains(body, `"mesh","ok":false`)
	})
	if took := time.Since(began); took > 15*time.Second {
		t.Errorf("readiness changed after %v, want 15 s at most", took)
	}
	if status, _ := get(t, at+"/livez", ""); status != 200 {
		t.Errorf("liveness: got %d while NATS is unavailable, want 200", status)
	}
}

func TestHealth_ProfilesOnLoopbackOnly(t *testing.T) {
	t.Parallel()
	nats, _ := stoppableNATS(t)
	c := settings(filepath.Join(t.TempDir(), "never"))
	_, port, _ := net.SplitHostPort(freeAddr(t))
	c.Roles, c.NATS, c.Health, c.Token = []string{"crawl"}, []config.Address{config.Address(nats)}, "0.0.0.0:"+port, "s3cret"
	start(t, c)
	if status, _ := get(t, "http://127.0.0.1:"+port+"/debug/pprof/", "s3cret"); status != 404 {
		t.Errorf("profiles: got %d, want 404", status)
	}
	if status, _ := get(t, "http://127.0.0.1:"+port+"/readyz", "s3cret"); status != 200 {
		t.Errorf("readiness: got %d, want 200", status)
	}
}

func TestRun_HealthAddressInUse(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c := settings(filepath.Join(t.TempDir(), "data"))
	c.Health = l.Addr().String()
	if got := startError(t, c); !strings.HasPrefix(got, c.Health+" is in use") || !strings.Contains(got, "--health") {
		t.Errorf("got %q, want the address in use and the remedy", got)
	}
}

func TestMetrics_CompleteAndBounded(t *testing.T) {
	t.Parallel()
	web := httptest.NewServer(simulate.NewFeedServer(testFeeds, testEntries, time.Now().Add(-time.Hour)))
	t.Cleanup(web.Close)
	c := settings(filepath.Join(t.TempDir(), "data"))
	c.Health = freeAddr(t)
	r := start(t, c)
	r.add(web.URL)
	r.waitIdle(testItems)
	var page string
	eventually(t, "the active schedule exports its gauges", func() bool {
		_, page = get(t, "http://"+c.Health+"/metrics", "")
		return strings.Contains(page, "feedmesh_queue_pending") && strings.Contains(page, "\nfeedmesh_stalled ")
	})
	problems, err := promlint.New(bytes.NewBufferString(page)).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
	lines := slices.DeleteFunc(strings.Split(page, "\n"), func(line string) bool { return line == "" || strings.HasPrefix(line, "#") })
	if len(lines) > 2000 {
		t.Errorf("got %d series, want 2,000 at most", len(lines))
	}
	t.Logf("%d series", len(lines))
	for _, want := range []string{
		`feedmesh_agent_info{roles="` + strings.Join(role.Names(role.All), ",") + `",version="test"} 1`,
		`feedmesh_fetch_total{outcome="fetched"} `, "feedmesh_fetch_duration_seconds_bucket{", "feedmesh_feed_lag_seconds_bucket{",
		`feedmesh_feeds{partition="0",state="waiting",tier="hot"} `, `feedmesh_overdue_feeds{partition="0"} `, "feedmesh_items_stored_total ", "feedmesh_duplicates_total ",
		`feedmesh_queue_pending{queue="crawl"} `, "feedmesh_index_lag_seconds_bucket{", `feedmesh_quarantined_total{queue="parse"} 0`,
		`feedmesh_active{lease="schedule"} 1`, `feedmesh_active{lease="cluster-en"} 1`, "go_goroutines ", "process_resident_memory_bytes ",
	} {
		if !slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, want) }) {
			t.Errorf("metric missing: %s", want)
		}
	}
	for _, line := range lines {
		if name, _, _ := strings.Cut(line, " "); strings.Contains(name, "127.0.0.1") || strings.Contains(name, "://") {
			t.Errorf("%s contains a host or feed", line)
		}
	}
}

package simulate

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"
)

func mustRead(t *testing.T, path string) []byte {
	t.Helper()
	body, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// With several hosts the port is open on all addresses, but only for this machine.
func TestServe_RejectsOtherMachines(t *testing.T) {
	t.Parallel()
	_, server := newWeb(t, 2, func(s *Settings) { s.Hosts = 2 })
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	tried := false
	for _, a := range addresses {
		network, is := a.(*net.IPNet)
		if !is || network.IP.IsLoopback() || network.IP.To4() == nil {
			continue
		}
		tried = true
		if response, _, err := get(t, fmt.Sprintf("http://%s/feed/0", net.JoinHostPort(network.IP.String(), strconv.Itoa(server.Port)))); err == nil {
			t.Errorf("at %v: got %v, want to be hung up on", network.IP, response)
		}
	}
	if !tried {
		t.Skip("the machine has only loopback addresses")
	}
}

func TestServe_AcceptsLoopbackAddressesOnly(t *testing.T) {
	t.Parallel()
	w, err := NewWeb(Settings{Feeds: 1, Hosts: 1, Rate: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, address := range []string{"", "9090", ":9090", "0.0.0.0:0", "192.0.2.1:0", "127.0.0.2:0", "localhost:0"} {
		want := fmt.Sprintf("invalid address %q: simulated feeds are served on this machine only; write 127.0.0.1:PORT", address)
		if _, err := w.Serve(address, ""); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
		if _, err := w.Serve("127.0.0.1:0", address); address != "" && (err == nil || err.Error() != want) {
			t.Errorf("as a proxy: got %v, want %s", err, want)
		}
	}
}

// BenchmarkAnswer measures a request without the connection.
func BenchmarkAnswer(b *testing.B) {
	const feeds = 50_000
	w, err := NewWeb(Settings{Feeds: feeds, Hosts: 5000, Seed: 1, Rate: 3})
	if err != nil {
		b.Fatal(err)
	}
	validators := func(feed int, header http.Header) http.Header {
		r := httptest.NewRequest(http.MethodGet, "/feed/"+strconv.Itoa(feed), nil)
		r.Header = header
		rw := httptest.NewRecorder()
		w.ServeHTTP(rw, r)
		return rw.Header()
	}
	b.Run("new", func(b *testing.B) { // a document that is not in the cache
		at := time.Now().Add(-time.Hour * time.Duration(b.N))
		for i := range b.N {
			p := w.publisher(i * 7919 % feeds)
			zipped(p.render(p.shown(at.Add(time.Hour * time.Duration(i)))))
		}
	})
	b.Run("200", func(b *testing.B) {
		for i := range b.N {
			validators(i%500, http.Header{"Accept-Encoding": {"gzip"}})
		}
	})
	b.Run("304", func(b *testing.B) {
		tagged := 0
		for !w.publisher(tagged).tags {
			tagged++
		}
		header := http.Header{"If-None-Match": validators(tagged, nil)["Etag"]}
		b.ResetTimer()
		for range b.N {
			validators(tagged, header)
		}
	})
	b.Run("HTTP 304", func(b *testing.B) { // with connection and client
		server, err := w.Serve("127.0.0.1:0", "")
		if err != nil {
			b.Fatal(err)
		}
		defer server.Close()
		r, _ := http.NewRequest(http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/feed/0", server.Port), nil)
		for range b.N {
			response, err := http.DefaultClient.Do(r)
			if err != nil {
				b.Fatal(err)
			}
			r.Header.Set("If-None-Match", response.Header.Get("Etag"))
			response.Body.Close()
		}
	})
	b.Run("memory", func(b *testing.B) {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		for range b.N {
			var err error
			if w, err = NewWeb(Settings{Feeds: feeds, Hosts: 5000, Seed: 1, Rate: 3}); err != nil {
				b.Fatal(err)
			}
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc)/1e6, "MB-heap")
	})
}

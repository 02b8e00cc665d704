package fetch

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// cpu returns the CPU time of this process.
func cpu(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// Not parallel: it measures the whole process, including the test's server.
func TestBody_BombsCostLittle(t *testing.T) {
	const maxCPU, maxAlloc = 200 * time.Millisecond, 64 << 20
	endless := func(write func(w io.Writer) error) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			for write(w) == nil {
				w.(http.Flusher).Flush()
			}
		}
	}
	part, gib := make([]byte, 64<<10), bombs(t)
	urls := map[string]string{
		"doubled gzip": sends(t, "gzip", zipped(t, gib["gzip"])),
		"endless chunks": serve(t, endless(func(w io.Writer) error {
			_, err := w.Write(part)
			return err
		})),
		"chunks of a byte": serve(t, endless(func(w io.Writer) error {
			time.Sleep(5 * time.Millisecond)
			_, err := w.Write(part[:1])
			return err
		})),
		"endless headers": raw(t, func(c net.Conn) {
			io.WriteString(c, "HTTP/1.1 200 OK\r\n")
			for i := 0; ; i++ {
				if _, err := fmt.Fprintf(c, "X-%d: x\r\n", i); err != nil {
					return
				}
			}
		}),
		"one endless header": raw(t, func(c net.Conn) {
			io.WriteString(c, "HTTP/1.1 200 OK\r\nX: ")
			for {
				if _, err := io.WriteString(c, strings.Repeat("x", 4096)); err != nil {
					return
				}
			}
		}),
		"endless 100 Continue": raw(t, func(c net.Conn) {
			for {
				if _, err := io.WriteString(c, "HTTP/1.1 100 Continue\r\n\r\n"); err != nil {
					return
				}
			}
		}),
		"a redirect with a bomb": serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "/")
			w.WriteHeader(http.StatusFound)
			endless(func(w io.Writer) error { _, err := w.Write(part); return err })(w, nil)
		}),
		"no response": raw(t, func(c net.Conn) { io.Copy(io.Discard, c) }),
	}
	for encoding, body := range gib {
		urls[encoding] = sends(t, encoding, body)
		urls[encoding+" in an error"] = serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", encoding)
			w.WriteHeader(http.StatusForbidden)
			w.Write(body)
		})
		urls[encoding+" declared as a page"] = serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.Header().Set("Content-Encoding", encoding)
			w.Write(body)
		})
	}
	for name, url := range urls {
		c := client(t, within(time.Second), func(o *Options) { o.MaxBody, o.MaxCompressed = 10<<20, 6<<20 })
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		used := cpu(t)
		d, err := c.Fetch(t.Context(), Request{URL: url, Routes: []string{""}}, time.Now())
		used = cpu(t) - used
		runtime.ReadMemStats(&after)
		alloc := after.TotalAlloc - before.TotalAlloc
		t.Logf("%-28s %4d ms, %2d MB: %v", name, used.Milliseconds(), alloc>>20, err)
		if err == nil && d.Size > 10<<20 {
			t.Errorf("%s: got %d bytes of it", name, d.Size)
		}
		if alloc > maxAlloc {
			t.Errorf("%s: it allocated %d bytes, want at most %d", name, alloc, maxAlloc)
		}
		if used > maxCPU && !raced {
			t.Errorf("%s: it used %v of a processor, want at most %v", name, used, maxCPU)
		}
	}
}

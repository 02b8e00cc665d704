package fetch

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// piped is a listener without a network, for tests in simulated time.
type piped chan net.Conn

func (p piped) Accept() (net.Conn, error) {
	conn, open := <-p
	if !open {
		return nil, net.ErrClosed
	}
	return conn, nil
}

func (piped) Close() error   { return nil }
func (piped) Addr() net.Addr { return &net.TCPAddr{} }

func (p piped) dial(context.Context, string, string) (net.Conn, error) {
	here, there := net.Pipe()
	p <- there
	return here, nil
}

func TestBodyRate_SlowBodyTimesOut(t *testing.T) {
	second := func(i int, bytes ...int) int { return bytes[min(i, len(bytes)-1)] }
	for _, x := range []struct {
		name  string
		bytes func(second int) int // -1 is the end
		ends  time.Duration        // time of the timeout; 0 for none
	}{
		{"fast, then its end", func(i int) int { return second(i, 5000, -1) }, 0},
		{"just fast enough", func(i int) int { return second(i, append(repeat(1030, 28), -1)...) }, 0},
		{"half as fast", func(int) int { return 512 }, 10 * time.Second},
		{"empty", func(int) int { return 0 }, 10 * time.Second},
		{"fast, then stalled", func(i int) int { return second(i, 20<<10, 0) }, 21 * time.Second},
		{"slow, but at its end before it counts", func(i int) int { return second(i, append(repeat(1, 9), -1)...) }, 0},
	} {
		t.Run(x.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				wires := make(piped)
				server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					for i := 0; r.Context().Err() == nil; i++ {
						n := x.bytes(i)
						if n < 0 {
							return
						}
						io.WriteString(w, strings.Repeat("x", n))
						w.(http.Flusher).Flush()
						time.Sleep(time.Second)
					}
				})}
				go server.Serve(wires)
				c := New(options(within(30 * time.Second)))
				c.direct.DialContext = wires.dial
				began := time.Now()
				_, err := c.Fetch(t.Context(), Request{URL: "http://feed.test"}, began)
				if x.ends == 0 && err != nil {
					t.Errorf("got %v, want the document", err)
				}
				if took := time.Since(began); x.ends != 0 && (took != x.ends || err == nil || err.(*Error).Class != ClassTimeout) {
					t.Errorf("got %v after %v, want a timeout after %v", err, took, x.ends)
				}
				c.Close()
				close(wires)
				server.Close()
				time.Sleep(time.Minute) // lets pending work end
			})
		})
	}
}

func repeat(n, times int) []int {
	all := make([]int, times)
	for i := range all {
		all[i] = n
	}
	return all
}

package deliver

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/nats-io/nuid"

	"feedmesh/subjects"
)

// BenchmarkReceivers sends items to 1,000 webhooks on as many addresses, of which a tenth hangs, a tenth fails and a twentieth is gone,
// and prints the time from the entry of an item in the view to its receipt by the others, with what was lost and repeated.
func BenchmarkReceivers(b *testing.B) {
	const receivers, rounds, pause = 1000, 60, time.Second
	f := newFixture(b, 1)
	f.env.Receivers = &http.Transport{MaxIdleConnsPerHost: 1, MaxIdleConns: 4096}
	ledger := receipts{first: map[string]time.Duration{}}
	listener, err := net.Listen("tcp4", "0.0.0.0:0")
	if err != nil {
		b.Fatal(err)
	}
	server := &http.Server{Handler: &ledger}
	go server.Serve(listener)
	defer server.Close()
	port := listener.Addr().(*net.TCPAddr).Port
	well := 0
	for i := range receivers {
		kind := "well"
		switch {
		case i%10 == 0:
			kind = "hangs"
		case i%10 == 1:
			kind = "fails"
		case i%20 == 2:
			kind = "gone"
		default:
			well++
		}
		f.subscribe(fmt.Sprintf("r%d", i), Webhook, fmt.Sprintf("http://127.1.%d.%d:%d/%s/%d", i/250, i%250+1, port, kind, i), 1)
	}
	for b.Loop() {
		end := f.run()
		sent := 0
		for i := range rounds {
			f.enter(1, fmt.Sprint("x", i))
			sent++
			event := subjects.Event{Kind: subjects.ViewsGrew, At: time.Now(), Text: nuid.Next()}
			if err := f.env.Mesh.Publish(b.Context(), event.Message()); err != nil {
				b.Fatal(err)
			}
			time.Sleep(pause) // the pace of the items
		}
		for limit := time.Now().Add(time.Minute); ledger.received() < well*sent && time.Now().Before(limit); time.Sleep(100 * time.Millisecond) {
		}
		end()
		lags := ledger.lags()
		states, err := f.store.DeliveryStates(b.Context(), "r2", "r22", "r42")
		if err != nil {
			b.Fatal(err)
		}
		off := 0
		for _, s := range states {
			if s.Off != "" {
				off++
			}
		}
		w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintln(w, "\nreceivers\titems\tto be received\tlost\trepeated\tp50\tp99\tmax\t3 that are gone, off\t")
		fmt.Fprintf(w, "%d\t%d\t%d\t%d\t%d\t%v\t%v\t%v\t%d\t\n", receivers, sent, well*sent, well*sent-len(lags), ledger.repeats,
			lags[len(lags)/2].Round(time.Millisecond), lags[len(lags)*99/100].Round(time.Millisecond), lags[len(lags)-1].Round(time.Millisecond), off)
		w.Flush()
	}
}

// receipts are what receivers that work accepted.
type receipts struct {
	mu      sync.Mutex
	first   map[string]time.Duration // by receiver and message
	repeats int
}

func (l *receipts) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	kind, _, _ := strings.Cut(r.URL.Path[1:], "/")
	switch kind {
	case "hangs":
		<-r.Context().Done()
	case "fails":
		w.WriteHeader(http.StatusInternalServerError)
	case "gone":
		w.WriteHeader(http.StatusGone)
	default:
		if strings.HasPrefix(string(body), `{"type":"subscription.off"`) {
			return // it informs the owner of those that are gone
		}
		_, rest, _ := strings.Cut(string(body), `"timestamp":"`)
		text, _, _ := strings.Cut(rest, `"`)
		at, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		key := r.URL.Path + " " + r.Header.Get("Webhook-Id")
		if _, is := l.first[key]; is {
			l.repeats++
			return
		}
		l.first[key] = time.Since(at)
	}
}

func (l *receipts) received() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.first)
}

// lags returns the times from entry to receipt, sorted.
func (l *receipts) lags() (lags []time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, lag := range l.first {
		lags = append(lags, lag)
	}
	slices.Sort(lags)
	return lags
}

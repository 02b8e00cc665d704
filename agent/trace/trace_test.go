package trace_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"feedmesh/agent/trace"
	"feedmesh/agent/trace/tracetest"
)

// open returns a tracer to the address.
func open(t testing.TB, to, agent string, share float64, log *slog.Logger) *trace.Tracer {
	t.Helper()
	tracer, err := trace.Open(trace.Options{To: to, Share: share, Version: "1.2", Agent: agent, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	return tracer
}

// collect serves a collector until the test ends.
func collect(t *testing.T) (*tracetest.Collector, string) {
	c := &tracetest.Collector{}
	web := httptest.NewServer(c)
	t.Cleanup(web.Close)
	return c, web.URL
}

func TestTrace_AcrossAgents(t *testing.T) {
	t.Parallel()
	c, url := collect(t)
	one := open(t, strings.Replace(url, "://", "://user:s3cret@", 1), "one", 1, slog.New(slog.DiscardHandler))
	two := open(t, url+"/v1/traces", "two", 0, slog.New(slog.DiscardHandler)) // its share is of the traces it begins itself

	ctx, first := one.Begin(t.Context(), "schedule")
	first.Text("feedmesh.tier", "hot")
	first.Number("feedmesh.feeds", 3)
	header := trace.Header(ctx)
	header["Nats-Msg-Id"] = []string{"x"}
	first.End(nil)

	// An agent in between does not trace.
	var none *trace.Tracer
	between, span := none.Receive(t.Context(), "crawl", header)
	if span != nil {
		t.Error("got a step of an agent that does not trace, want none")
	}
	received, second := two.Receive(t.Context(), "parse", trace.Header(between))
	if trace.ID(received) == "" || trace.ID(received) != trace.ID(ctx) {
		t.Errorf("got trace %q, want %q", trace.ID(received), trace.ID(ctx))
	}
	_, inner := trace.Start(received, "within")
	inner.End(errors.New("first line\nsecond line"))
	second.End(nil)
	one.Close()
	two.Close()

	spans := map[string]tracetest.Span{}
	for _, s := range c.Spans() {
		spans[s.Name] = s
	}
	begun, parsed, within := spans["schedule"], spans["parse"], spans["within"]
	if len(spans) != 3 || begun.Parent != "" || parsed.Parent != begun.ID || within.Parent != parsed.ID || within.Trace != begun.Trace {
		t.Errorf("got %+v, want each the child of the one before", spans)
	}
	if begun.Attributes["feedmesh.tier"] != "hot" || begun.Attributes["feedmesh.feeds"] != "3" || begun.Failure != "" {
		t.Errorf("got %+v, want what was noted", begun)
	}
	if within.Failure != "first line" {
		t.Errorf("got failure %q, want the first line", within.Failure)
	}
	if r := parsed.Resource; r["service.name"] != "feedmesh" || r["service.version"] != "1.2" || r["service.instance.id"] != "two" {
		t.Errorf("got resource %v, want what sent it", r)
	}
}

func TestOpen_SendsBasicAuthentication(t *testing.T) {
	t.Parallel()
	c, url := collect(t)
	tracer := open(t, strings.Replace(url, "://", "://user:s3cret@", 1)+"/", "a", 1, slog.New(slog.DiscardHandler))
	_, span := tracer.Begin(t.Context(), "x")
	span.End(nil)
	tracer.Close()
	r := http.Request{Header: c.Header()}
	if user, password, _ := r.BasicAuth(); user != "user" || password != "s3cret" || len(c.Spans()) != 1 {
		t.Errorf("got user %q, password %q, %d spans; want user, s3cret, one", user, password, len(c.Spans()))
	}
}

func TestBegin_SamplesShare(t *testing.T) {
	t.Parallel()
	_, url := collect(t)
	for share, want := range map[float64][2]int{0: {0, 0}, 0.5: {400, 600}, 1: {1000, 1000}} {
		tracer := open(t, url, "a", share, slog.New(slog.DiscardHandler))
		n := 0
		for range 1000 {
			ctx, span := tracer.Begin(t.Context(), "x")
			if (trace.Header(ctx) != nil) != (span != nil) {
				t.Fatal("a trace has a header and a step, or neither")
			}
			if span != nil {
				n++
			}
		}
		if n < want[0] || n > want[1] {
			t.Errorf("share %v: got %d of 1000 traced, want %v", share, n, want)
		}
		tracer.Close()
	}
}

func TestJoin_IgnoresForeignHeader(t *testing.T) {
	t.Parallel()
	_, url := collect(t)
	tracer := open(t, url, "a", 1, slog.New(slog.DiscardHandler))
	defer tracer.Close()
	for _, parent := range []string{
		"", "rubbish", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00", // the last is of a trace that is not kept
		"00-00000000000000000000000000000000-b7ad6b7169203331-01", strings.Repeat("0", 100_000),
	} {
		ctx, span := tracer.Receive(t.Context(), "x", map[string][]string{"traceparent": {parent}})
		if span != nil || trace.ID(ctx) != "" || trace.Header(ctx) != nil {
			t.Errorf("%.60q: got a step or trace, want none", parent)
		}
	}
}

func TestSpan_NilDoesNotAllocate(t *testing.T) {
	ctx := context.WithValue(t.Context(), t, "any")
	header := map[string][]string{"Nats-Msg-Id": {"x"}}
	var none *trace.Tracer
	if n := testing.AllocsPerRun(100, func() {
		begun, span := none.Begin(ctx, "schedule")
		span.Text("a", "b")
		span.End(nil)
		received, span := none.Receive(begun, "crawl", header)
		span.Number("a", 1)
		span.End(nil)
		inner, span := trace.Start(received, "fetch")
		span.End(nil)
		if trace.Header(inner) != nil || trace.ID(inner) != "" {
			t.Error("got a trace, want none")
		}
	}); n != 0 {
		t.Errorf("got %v allocations, want 0", n)
	}
}

// A buffer is a log that may be written and read concurrently.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) lines() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.Split(strings.TrimSpace(b.b.String()), "\n")
}

func TestExport_FailureWarnsOnce(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close() // nobody listens there
	hangs := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}))
	t.Cleanup(hangs.Close)
	refuses := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(refuses.Close)
	for name, url := range map[string]string{"closed": "http://user:s3cret@" + l.Addr().String(), "hangs": hangs.URL, "refuses": refuses.URL} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var log buffer
			tracer := open(t, url, "a", 1, slog.New(slog.NewJSONHandler(&log, nil)))
			began := time.Now()
			for range 100_000 { // many times what may wait
				_, span := tracer.Begin(t.Context(), "x")
				span.Text("key", "value")
				span.End(nil)
			}
			if took := time.Since(began); took > 30*time.Second { // for a busy machine and the race detector
				t.Errorf("100,000 steps took %v, want a few µs each", took)
			}
			began = time.Now()
			tracer.Close()
			if took := time.Since(began); took > 10*time.Second {
				t.Errorf("closing took %v, want 3 s at most", took)
			}
			var lines []string
			for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
				if lines = log.lines(); lines[0] != "" {
					break
				}
			}
			var warning struct {
				Level, Msg string
				Spans      int
			}
			if err := json.Unmarshal([]byte(lines[0]), &warning); len(lines) != 1 || err != nil || warning.Level != "WARN" || warning.Spans == 0 || strings.Contains(lines[0], "s3cret") {
				t.Errorf("got %q, want one warning, without secrets", lines)
			}
		})
	}
}

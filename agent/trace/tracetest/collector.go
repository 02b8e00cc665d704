// Package tracetest provides an OpenTelemetry collector for tests.
package tracetest

import (
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	"google.golang.org/protobuf/proto"
)

// Span is a received span. IDs are hexadecimal.
type Span struct {
	Name, Trace, ID string
	Parent          string            // empty for the root of a trace
	Links           []string          // IDs of spans
	Failure         string            // empty on success
	Attributes      map[string]string // numbers too, in decimal
	Resource        map[string]string // resource attributes of the sender
}

// Collector receives and stores spans by OTLP over HTTP. Its methods may be called concurrently.
type Collector struct {
	mu     sync.Mutex
	spans  []Span
	header http.Header
}

// ServeHTTP receives spans at /v1/traces.
func (c *Collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/x-protobuf" {
		http.Error(w, "no spans", http.StatusBadRequest)
		return
	}
	body, err := io.ReadAll(r.Body)
	var in collector.ExportTraceServiceRequest
	if err == nil {
		err = proto.Unmarshal(body, &in)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.header = r.Header
	for _, of := range in.ResourceSpans {
		resource := textOf(of.Resource.Attributes)
		for _, scope := range of.ScopeSpans {
			for _, s := range scope.Spans {
				span := Span{
					Name: s.Name, Trace: hex.EncodeToString(s.TraceId), ID: hex.EncodeToString(s.SpanId), Parent: hex.EncodeToString(s.ParentSpanId),
					Failure: s.GetStatus().GetMessage(), Attributes: textOf(s.Attributes), Resource: resource,
				}
				for _, link := range s.Links {
					span.Links = append(span.Links, hex.EncodeToString(link.SpanId))
				}
				c.spans = append(c.spans, span)
			}
		}
	}
}

func textOf(list []*common.KeyValue) map[string]string {
	text := map[string]string{}
	for _, a := range list {
		switch v := a.Value.Value.(type) {
		case *common.AnyValue_StringValue:
			text[a.Key] = v.StringValue
		case *common.AnyValue_DoubleValue:
			text[a.Key] = fmt.Sprint(v.DoubleValue)
		}
	}
	return text
}

// Spans returns the spans received since the start.
func (c *Collector) Spans() []Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.spans)
}

// Header returns the header of the last request.
func (c *Collector) Header() http.Header {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.header
}

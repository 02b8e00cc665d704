// Package trace records the processing of a task across the mesh as one OpenTelemetry trace. The trace
// context travels in the headers of messages, as W3C Trace Context. A [Tracer] buffers at most 4096 spans for
// the collector; more are dropped. The package does not depend on tasks.
package trace

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	otel "go.opentelemetry.io/otel/trace"
)

// Options are the parameters of [Open].
type Options struct {
	To      string  // URL of the collector, OTLP over HTTP; user and password are sent to it
	Share   float64 // sampled share of traces begun here, 0 to 1
	Version string  // of the program
	Agent   string  // ID of this process
	Log     *slog.Logger
}

// Tracer begins traces, adds spans to received ones, and exports its spans to a collector. The nil Tracer
// does neither, but received trace headers are still passed on, so only some agents of a mesh need to trace.
type Tracer struct {
	tracer   otel.Tracer
	provider *sdk.TracerProvider
	exporter *exporter
	client   *http.Client
}

const (
	maxWaiting = 4096            // buffered spans, about 2 KB each; more are dropped
	sendEvery  = 2 * time.Second // export interval; earlier with 512 buffered spans
	sendTime   = 5 * time.Second // timeout of an export
	flushTime  = 3 * time.Second // timeout of the last export
)

// Open returns a tracer. It never waits for the collector: spans that can't be exported are dropped, with a
// warning at most once a minute.
func Open(o Options) (*Tracer, error) {
	client := &http.Client{Timeout: sendTime, Transport: http.DefaultTransport.(*http.Transport).Clone()}
	options := []otlptracehttp.Option{
		otlptracehttp.WithHTTPClient(client),
		otlptracehttp.WithRetry(otlptracehttp.RetryConfig{}), // no retry, because the buffer is bounded
	}
	to, err := url.Parse(o.To)
	if err != nil {
		return nil, fmt.Errorf("trace to a collector: invalid address: use http://HOST:4318 with --trace-to")
	}
	if to.User != nil {
		options = append(options, otlptracehttp.WithHeaders(map[string]string{"Authorization": basic(to.User)}))
		to.User = nil
	}
	if !strings.HasSuffix(to.Path, "/v1/traces") {
		to = to.JoinPath("v1/traces")
	}
	sender, err := otlptracehttp.New(context.Background(), append(options, otlptracehttp.WithEndpointURL(to.String()))...)
	if err != nil {
		return nil, fmt.Errorf("trace to %s: %w", to, err)
	}
	e := &exporter{Exporter: sender, to: to.Host, log: o.Log}
	provider := sdk.NewTracerProvider(
		sdk.WithBatcher(e, sdk.WithMaxQueueSize(maxWaiting), sdk.WithBatchTimeout(sendEvery), sdk.WithExportTimeout(sendTime)),
		sdk.WithSampler(sdk.ParentBased(sdk.TraceIDRatioBased(o.Share))),
		sdk.WithResource(resource.NewSchemaless(
			attribute.String("service.name", "feedmesh"),
			attribute.String("service.version", o.Version),
			attribute.String("service.instance.id", o.Agent),
		)),
	)
	return &Tracer{tracer: provider.Tracer("feedmesh"), provider: provider, exporter: e, client: client}, nil
}

// basic returns the header of HTTP basic authentication.
func basic(user *url.Userinfo) string {
	r := http.Request{Header: http.Header{}}
	password, _ := user.Password()
	r.SetBasicAuth(user.Username(), password)
	return r.Header.Get("Authorization")
}

// Close exports the buffered spans, for three seconds at most.
func (t *Tracer) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), flushTime)
	defer cancel()
	t.provider.Shutdown(ctx)
	t.exporter.Exporter.Shutdown(ctx) // cancels an export in progress
	t.client.CloseIdleConnections()
	return nil // lost spans must not fail a node
}

// exporter exports spans, and limits the warnings about failures.
type exporter struct {
	*otlptrace.Exporter
	to   string
	log  *slog.Logger
	lost int // spans lost since the last warning
	said time.Time
}

const complainEvery = time.Minute

// ExportSpans implements [sdk.SpanExporter]. It is not called concurrently.
func (e *exporter) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	err := e.Exporter.ExportSpans(ctx, spans)
	if err == nil {
		return nil
	}
	e.lost += len(spans)
	if time.Since(e.said) >= complainEvery {
		e.log.Warn("trace export failed, spans dropped", "collector", e.to, "spans", e.lost, "err", err)
		e.lost, e.said = 0, time.Now()
	}
	return nil // OpenTelemetry would print every error
}

// Package trace shows a task's way through the mesh as one OpenTelemetry trace.
// Where a task is on its way travels in its messages' headers, as W3C Trace
// Context. The package knows nothing of tasks.
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

// Options say how to [Open] a tracer.
type Options struct {
	To      string  // the collector, by OTLP over HTTP; a user and password in it are shown to it
	Share   float64 // of the traces begun here, 0 to 1
	Version string  // of the program
	Agent   string  // ID of this process
	Log     *slog.Logger
}

// A Tracer begins traces, takes part in those of others, and sends its spans to
// a collector. The nil Tracer does neither, but lets what came with a message
// travel on: not all agents of a mesh have to trace.
type Tracer struct {
	tracer   otel.Tracer
	provider *sdk.TracerProvider
	exporter *exporter
	client   *http.Client
}

const (
	maxWaiting = 4096            // spans that wait to be sent, some 2 KB each; more are lost
	sendEvery  = 2 * time.Second // or as soon as 512 wait
	sendTime   = 5 * time.Second // that sending them may take
	flushTime  = 3 * time.Second // that sending the rest may take at the end
)

// Open returns a tracer. It does not wait for the collector, now or ever: spans
// that can't be sent are lost, and a warning a minute tells of it.
func Open(o Options) (*Tracer, error) {
	client := &http.Client{Timeout: sendTime, Transport: http.DefaultTransport.(*http.Transport).Clone()}
	options := []otlptracehttp.Option{
		otlptracehttp.WithHTTPClient(client),
		otlptracehttp.WithRetry(otlptracehttp.RetryConfig{}), // none: what waits is bounded
	}
	to, err := url.Parse(o.To)
	if err != nil {
		return nil, fmt.Errorf("trace to a collector: its address can't be read: write http://HOST:4318 with --trace-to")
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

// basic returns the header by which a user logs in.
func basic(user *url.Userinfo) string {
	r := http.Request{Header: http.Header{}}
	password, _ := user.Password()
	r.SetBasicAuth(user.Username(), password)
	return r.Header.Get("Authorization")
}

// Close sends what waits to be sent, for three seconds at most.
func (t *Tracer) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), flushTime)
	defer cancel()
	t.provider.Shutdown(ctx)
	t.exporter.Exporter.Shutdown(ctx) // ends what is being sent still
	t.client.CloseIdleConnections()
	return nil // spans that are lost are no reason for a node to fail
}

// An exporter sends spans, and complains seldom if it can't.
type exporter struct {
	*otlptrace.Exporter
	to   string
	log  *slog.Logger
	lost int // spans, since it complained
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
		e.log.Warn("traces are lost: the collector does not take them", "collector", e.to, "spans", e.lost, "err", err)
		e.lost, e.said = 0, time.Now()
	}
	return nil // or OpenTelemetry would print it, each time
}

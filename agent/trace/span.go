package trace

import (
	"context"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	otel "go.opentelemetry.io/otel/trace"
)

// Span is one operation of a trace. The methods of a nil Span, for operations that are not traced, do
// nothing.
type Span struct{ span otel.Span }

// Begin begins a trace if it is sampled.
func (t *Tracer) Begin(ctx context.Context, name string) (context.Context, *Span) {
	if t == nil {
		return ctx, nil
	}
	return start(ctx, t.tracer, name, otel.WithNewRoot(), otel.WithSpanKind(otel.SpanKindProducer))
}

// Receive begins a span for a message with this header, if it belongs to a trace.
func (t *Tracer) Receive(ctx context.Context, name string, header map[string][]string) (context.Context, *Span) {
	ctx = Join(ctx, header)
	if t == nil || !otel.SpanContextFromContext(ctx).IsSampled() {
		return ctx, nil
	}
	return start(ctx, t.tracer, name, otel.WithSpanKind(otel.SpanKindConsumer))
}

// Start begins a child of the current span, if that is traced here.
func Start(ctx context.Context, name string) (context.Context, *Span) {
	within := otel.SpanFromContext(ctx)
	if !within.IsRecording() {
		return ctx, nil
	}
	return start(ctx, within.TracerProvider().Tracer("feedmesh"), name)
}

func start(ctx context.Context, t otel.Tracer, name string, options ...otel.SpanStartOption) (context.Context, *Span) {
	inner, span := t.Start(ctx, name, options...)
	if !span.IsRecording() {
		return ctx, nil
	}
	return inner, &Span{span}
}

// Text sets an attribute to a string.
func (s *Span) Text(key, value string) {
	if s != nil {
		s.span.SetAttributes(attribute.String(key, value))
	}
}

// Number sets an attribute to a number.
func (s *Span) Number(key string, value float64) {
	if s != nil {
		s.span.SetAttributes(attribute.Float64(key, value))
	}
}

// Link adds a link to another span. Neither may be nil.
func (s *Span) Link(to *Span) {
	s.span.AddLink(otel.Link{SpanContext: to.span.SpanContext()})
}

// End ends the span, as failed if err is not nil. The first line of err is visible to all readers of the
// trace.
func (s *Span) End(err error) {
	if s == nil {
		return
	}
	if err != nil {
		line, _, _ := strings.Cut(err.Error(), "\n")
		s.span.SetStatus(codes.Error, line)
	}
	s.span.End()
}

// ID returns the trace ID of ctx, or "".
func ID(ctx context.Context) string {
	if c := otel.SpanContextFromContext(ctx); c.IsSampled() {
		return c.TraceID().String()
	}
	return ""
}

// Header returns the message headers that carry the trace of ctx to a receiver; nil without a trace.
func Header(ctx context.Context) map[string][]string {
	if !otel.SpanContextFromContext(ctx).IsSampled() {
		return nil
	}
	h := header{}
	propagation.TraceContext{}.Inject(ctx, h)
	return h
}

// Join returns ctx with the trace of a message's header; ctx itself if the header contains none.
func Join(ctx context.Context, h map[string][]string) context.Context {
	if len(h["traceparent"]) == 0 {
		return ctx
	}
	return propagation.TraceContext{}.Extract(ctx, header(h))
}

// header is a NATS header. Unlike an HTTP header, it is case-sensitive.
type header map[string][]string

// Get implements [propagation.TextMapCarrier].
func (h header) Get(key string) string {
	if values := h[key]; len(values) > 0 {
		return values[0]
	}
	return ""
}

// Set implements [propagation.TextMapCarrier].
func (h header) Set(key, value string) { h[key] = []string{value} }

// Keys implements [propagation.TextMapCarrier].
func (h header) Keys() []string {
	keys := make([]string, 0, len(h))
	for key := range h {
		keys = append(keys, key)
	}
	return keys
}

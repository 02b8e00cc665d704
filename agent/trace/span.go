package trace

import (
	"context"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	otel "go.opentelemetry.io/otel/trace"
)

// A Span is one step on a traced way. The nil Span is a step on a way that is
// not traced: its methods do nothing.
type Span struct{ span otel.Span }

// Begin begins a trace, if it is among those to be traced.
func (t *Tracer) Begin(ctx context.Context, name string) (context.Context, *Span) {
	if t == nil {
		return ctx, nil
	}
	return start(ctx, t.tracer, name, otel.WithNewRoot(), otel.WithSpanKind(otel.SpanKindProducer))
}

// Receive begins the step that a message with this header asks for, if it
// belongs to a trace.
func (t *Tracer) Receive(ctx context.Context, name string, header map[string][]string) (context.Context, *Span) {
	ctx = Join(ctx, header)
	if t == nil || !otel.SpanContextFromContext(ctx).IsSampled() {
		return ctx, nil
	}
	return start(ctx, t.tracer, name, otel.WithSpanKind(otel.SpanKindConsumer))
}

// Start begins a step within the one under way, if that is traced here.
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

// Text notes something about the step.
func (s *Span) Text(key, value string) {
	if s != nil {
		s.span.SetAttributes(attribute.String(key, value))
	}
}

// Number notes a number about the step.
func (s *Span) Number(key string, value float64) {
	if s != nil {
		s.span.SetAttributes(attribute.Float64(key, value))
	}
}

// Link points to another step, for those who look at this one. Neither may be nil.
func (s *Span) Link(to *Span) {
	s.span.AddLink(otel.Link{SpanContext: to.span.SpanContext()})
}

// End ends the step, which failed if err is not nil. Of err, the first line is
// shown to all who may see the trace.
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

// ID returns the ID of the trace that ctx belongs to; empty if to none.
func ID(ctx context.Context) string {
	if c := otel.SpanContextFromContext(ctx); c.IsSampled() {
		return c.TraceID().String()
	}
	return ""
}

// Header returns what a message's header must say so that its receiver's steps
// become part of the trace of ctx; nil if there is none.
func Header(ctx context.Context) map[string][]string {
	if !otel.SpanContextFromContext(ctx).IsSampled() {
		return nil
	}
	h := header{}
	propagation.TraceContext{}.Inject(ctx, h)
	return h
}

// Join returns a context that belongs to the trace of a message with this
// header; ctx itself if it belongs to none.
func Join(ctx context.Context, h map[string][]string) context.Context {
	if len(h["traceparent"]) == 0 {
		return ctx
	}
	return propagation.TraceContext{}.Extract(ctx, header(h))
}

// A header is that of a NATS message. Unlike HTTP's, it tells cases apart.
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

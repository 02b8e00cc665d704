package mesh

import (
	"context"
	"time"

	"feedmesh/agent/trace"
)

// spans are the spans of one attempt in the traces of its tasks.
type spans []*trace.Span

// startSpans starts a span in the trace of each task that has one. The actor's work belongs to the first,
// because a context has one span only; the others link to it.
func (s *server[T]) startSpans(ctx context.Context, deliveries []delivery) (context.Context, spans) {
	var all spans
	first := ctx
	for _, d := range deliveries {
		taskCtx, span := s.mesh.trace.Receive(ctx, s.queue.Name, d.Header)
		if first == ctx {
			first = taskCtx
		}
		if span == nil {
			continue
		}
		setSpanAttributes(span, s.queue.Name, d)
		if len(all) > 0 {
			span.Link(all[0])
		}
		all = append(all, span)
	}
	return first, all
}

func setSpanAttributes(span *trace.Span, queue string, d delivery) {
	span.Text("feedmesh.queue", queue)
	span.Text("feedmesh.task", d.ID)
	if d.msg == nil && d.since.IsZero() {
		return
	}
	span.Text("feedmesh.subject", d.Subject)
	if d.msg == nil {
		span.Number("feedmesh.attempt", 1)
		span.Number("feedmesh.waited_seconds", time.Since(d.since).Seconds())
		return
	}
	if meta, err := d.msg.Metadata(); err == nil {
		span.Number("feedmesh.attempt", float64(meta.NumDelivered))
		span.Number("feedmesh.waited_seconds", max(0, time.Since(meta.Timestamp).Seconds())) // by the clocks of two machines
	}
}

// end ends the spans with the actor's error.
func (all spans) end(err error) {
	for _, span := range all {
		v := verdict(err)
		span.Text("feedmesh.verdict", v)
		if v == "failed" {
			span.End(err)
			continue
		}
		if err != nil {
			span.Text("feedmesh.reason", firstLine(err))
		}
		span.End(nil)
	}
}

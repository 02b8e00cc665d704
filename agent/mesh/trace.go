package mesh

import (
	"context"
	"log/slog"
	"time"

	"feedmesh/agent/trace"
)

// spans are the steps that one attempt is in the traces of its tasks.
type spans []*trace.Span

// follow begins a step in the trace of each task that belongs to one. What
// the actor does belongs to the first: a context has room for one only, so the
// others link to it.
func (s *server[T]) follow(ctx context.Context, parcels []parcel) (context.Context, spans) {
	var all spans
	first := ctx
	for _, p := range parcels {
		own, span := s.mesh.trace.Receive(ctx, s.queue.Name, p.part.Header)
		if first == ctx {
			first = own
		}
		if span == nil {
			continue
		}
		describe(span, s.queue.Name, p)
		if len(all) > 0 {
			span.Link(all[0])
		}
		all = append(all, span)
	}
	return first, all
}

func describe(span *trace.Span, queue string, p parcel) {
	span.Text("feedmesh.queue", queue)
	span.Text("feedmesh.task", p.part.ID)
	if p.msg == nil {
		return
	}
	span.Text("feedmesh.subject", p.msg.Subject())
	if meta, err := p.msg.Metadata(); err == nil {
		span.Number("feedmesh.attempt", float64(meta.NumDelivered))
		span.Number("feedmesh.waited_seconds", max(0, time.Since(meta.Timestamp).Seconds())) // by two machines' clocks
	}
}

// end ends the steps by what the actor answered.
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

// logOf returns the log, with the trace that ctx belongs to.
func (m *Mesh) logOf(ctx context.Context) *slog.Logger {
	if id := trace.ID(ctx); id != "" {
		return m.log.With("trace_id", id)
	}
	return m.log
}

package node

import (
	"context"
	"errors"
	"net/url"
	"time"

	"feedmesh/agent/role"
	"feedmesh/agent/role/crawl/fetch"
	"feedmesh/agent/role/work"
	"feedmesh/agent/trace"
	"feedmesh/storage"
)

// openTrace opens the tracer, nil if none is configured.
func (p *process) openTrace() (*trace.Tracer, error) {
	if p.config.Trace.To == "" {
		return nil, nil
	}
	t, err := trace.Open(trace.Options{
		To: string(p.config.Trace.To), Share: p.config.Trace.Share,
		Version: p.options.Version, Agent: p.self.ID, Log: p.options.Log,
	})
	if err == nil {
		p.closeLater(t)
	}
	return t, err
}

// addTracing wraps the fetcher and the engines to record spans within tasks.
func addTracing(env *role.Env) {
	if env.Trace == nil {
		return
	}
	env.Fetch = tracedFetcher{env.Fetch}
	if env.Store != nil {
		env.Store = tracedStore{env.Store}
	}
	if env.Index != nil {
		env.Index = tracedIndex{env.Index}
	}
}

// tracedFetcher records the host and the result of each fetch. It omits the rest of the address and error
// texts that may quote it, because they may contain secrets.
type tracedFetcher struct{ work.Fetcher }

// Fetch implements [work.Fetcher].
func (f tracedFetcher) Fetch(ctx context.Context, r fetch.Request, now time.Time) (fetch.Document, error) {
	ctx, span := trace.Start(ctx, "fetch")
	d, err := f.Fetcher.Fetch(ctx, r, now)
	if span == nil {
		return d, err
	}
	if u, err := url.Parse(r.URL); err == nil {
		span.Text("server.address", u.Hostname())
	}
	status := d.Status
	var shown error
	if e := (*fetch.Error)(nil); errors.As(err, &e) {
		status, shown = e.Status, errors.New(string(e.Class))
	} else if err != nil {
		shown = errors.New("failed")
	}
	span.Number("http.response.status_code", float64(status))
	span.Number("feedmesh.bytes", float64(d.Size))
	span.End(shown)
	return d, err
}

// tracedStore records each transaction that stores items.
type tracedStore struct{ storage.Store }

// PutItems implements [storage.Store].
func (s tracedStore) PutItems(ctx context.Context, batch storage.Batch) (storage.Stored, error) {
	ctx, span := trace.Start(ctx, "store transaction")
	stored, err := s.Store.PutItems(ctx, batch)
	span.Number("feedmesh.items", float64(len(batch.Items)))
	span.Number("feedmesh.new_items", float64(len(stored.New)))
	span.End(err)
	return stored, err
}

// tracedIndex records each batch of index updates.
type tracedIndex struct{ storage.Index }

// Put implements [storage.Index].
func (x tracedIndex) Put(ctx context.Context, items ...storage.IndexItem) error {
	ctx, span := trace.Start(ctx, "index put")
	err := x.Index.Put(ctx, items...)
	span.Number("feedmesh.items", float64(len(items)))
	span.End(err)
	return err
}

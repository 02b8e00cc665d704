package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"feedmesh/agent/api"
	"feedmesh/subjects"
)

// A clock can be put forward, to have feeds due.
type clock struct{ ahead atomic.Int64 }

func (c *clock) now() time.Time      { return time.Now().Add(time.Duration(c.ahead.Load())) }
func (c *clock) add(d time.Duration) { c.ahead.Add(int64(d)) }

// until waits until the node's status is as asked for, ten minutes at most.
func (r *run) until(ctx context.Context, is func(api.Status) bool) (api.Status, error) {
	for deadline := time.Now().Add(10 * time.Minute); ; {
		st, err := r.Status(ctx)
		if err != nil {
			return st, err
		}
		if is(st) {
			return st, nil
		}
		if time.Now().After(deadline) {
			return st, fmt.Errorf("not done after ten minutes: %+v", st)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// idle reports whether nothing waits anywhere.
func idle(st api.Status) bool {
	for _, q := range st.Queues {
		if q.Tasks > 0 && q.Queue != subjects.QuarantineStream {
			return false
		}
	}
	return st.Feeds.Out == 0 && st.Feeds.Polled == st.Feeds.Known
}

// polled waits until all feeds have been polled since then: until none has been
// out for a moment and the farm has had as many requests.
func (r *run) polled(ctx context.Context, since time.Time) error {
	want, err := r.farm.count()
	if err != nil {
		return err
	}
	want += r.feeds
	_, err = r.until(ctx, func(st api.Status) bool {
		n, err := r.farm.count()
		return err == nil && n >= want && idle(st)
	})
	return err
}

// someFeeds returns the IDs of n feeds.
func (r *run) someFeeds(ctx context.Context, n int) ([]string, error) {
	var ids []string
	for after := ""; len(ids) < n; {
		page, err := r.Feeds(ctx, after, 500)
		if err != nil {
			return nil, err
		}
		for _, f := range page.Feeds {
			ids = append(ids, f.ID)
		}
		if after = page.Next; after == "" {
			break
		}
	}
	return ids[:min(n, len(ids))], nil
}

// metrics returns what the node tells of itself, to be closed.
func (r *run) metrics(ctx context.Context) (io.ReadCloser, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.Address()+"/metrics", nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	return response.Body, nil
}

// A histogram is a cumulative one, as Prometheus has them.
type histogram struct {
	bounds []float64
	counts []float64
}

// lag reads how long items took from fetch to searchable so far.
func (r *run) lag(ctx context.Context) (histogram, error) {
	var h histogram
	page, err := r.metrics(ctx)
	if err != nil {
		return h, err
	}
	defer page.Close()
	for lines := bufio.NewScanner(page); lines.Scan(); {
		rest, is := strings.CutPrefix(lines.Text(), `feedmesh_index_lag_seconds_bucket{le="`)
		bound, count, _ := strings.Cut(rest, `"} `)
		if !is || bound == "+Inf" {
			continue
		}
		b, err := strconv.ParseFloat(bound, 64)
		if err != nil {
			return h, err
		}
		n, err := strconv.ParseFloat(count, 64)
		if err != nil {
			return h, err
		}
		h.bounds, h.counts = append(h.bounds, b), append(h.counts, n)
	}
	if len(h.bounds) == 0 {
		return h, fmt.Errorf("the node's metrics have no feedmesh_index_lag_seconds")
	}
	return h, nil
}

// quantile returns between which bounds the q-th of what came since before lies.
func (h histogram) quantile(before histogram, q float64) string {
	total := h.counts[len(h.counts)-1] - before.counts[len(before.counts)-1]
	low := 0.0
	for i, bound := range h.bounds {
		if h.counts[i]-before.counts[i] >= q*total {
			return fmt.Sprintf("%v to %v s, of %.0f documents", low, bound, total)
		}
		low = bound
	}
	return fmt.Sprintf("more than %v s", low)
}

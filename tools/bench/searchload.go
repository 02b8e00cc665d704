package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"time"
	"unicode"

	"feedmesh/agent/client"
	"feedmesh/agent/wire"
	"feedmesh/tools/bench/report"
)

// searchLoad simulate console users: they search for one to three words of titles, best first, grouped by story,
// with facets.
type searchLoad struct {
	node   *client.Client
	titles [][]string // words of some items' titles
	chance *rand.Rand

	mu     sync.Mutex
	times  []time.Duration
	failed []error
}

const searchEvery = 200 * time.Millisecond

// newSearchLoad returns a search load based on the newest items.
func newSearchLoad(ctx context.Context, node *client.Client) (*searchLoad, error) {
	p := &searchLoad{node: node, chance: rand.New(rand.NewPCG(9, 5))}
	q := wire.Search{Sort: "newest", Limit: 100}
	for range 10 {
		found, err := client.Call(ctx, node, wire.SearchItems, q)
		if err != nil {
			return nil, err
		}
		for _, item := range found.Items {
			words := strings.FieldsFunc(item.Title, func(r rune) bool { return !unicode.IsLetter(r) })
			if len(words) >= 3 {
				p.titles = append(p.titles, words)
			}
		}
		if q.Cursor = found.Next; q.Cursor == "" {
			break
		}
	}
	if len(p.titles) == 0 {
		return nil, errors.New("no words to search for")
	}
	return p, nil
}

// query returns one to three words of a title.
func (p *searchLoad) query() string {
	words := p.titles[p.chance.IntN(len(p.titles))]
	first := p.chance.IntN(len(words) - 2)
	return strings.Join(words[first:first+1+p.chance.IntN(3)], " ")
}

// search sends searches at intervals until ctx ends, without waiting for slow ones.
func (p *searchLoad) search(ctx context.Context) {
	tick := time.NewTicker(searchEvery)
	defer tick.Stop()
	var searches sync.WaitGroup
	defer searches.Wait()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		q := wire.Search{Query: p.query(), Sort: "best", Once: true, Facets: true, Limit: 20}
		searches.Go(func() { p.measure(context.WithoutCancel(ctx), q) })
	}
}

func (p *searchLoad) measure(ctx context.Context, q wire.Search) {
	began := time.Now()
	found, err := client.Call(ctx, p.node, wire.SearchItems, q)
	elapsed := time.Since(began)
	if err == nil && found.By == wire.ByStore {
		err = errors.New(found.Why)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil {
		p.failed = append(p.failed, err)
		return
	}
	p.times = append(p.times, elapsed)
}

// rows adds the latencies of searches, with a prefix for each row's name.
func (p *searchLoad) rows(out *report.Report, prefix string) {
	if len(p.failed) > 0 {
		out.Failed(prefix+"searches", p.failed[0].Error())
		out.Add(prefix+"searches that failed", float64(len(p.failed)), "")
	}
	if len(p.times) == 0 {
		return
	}
	t := report.TimingOf(p.times)
	out.Aimed(prefix+"5 searches a second over HTTP, 1 to 3 words, facets: p50", t.P50.Seconds()*1e3, "ms", "<= 5")
	out.Aimed(prefix+"5 searches a second over HTTP, 1 to 3 words, facets: p99", t.P99.Seconds()*1e3, "ms", "<= 50")
}

package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"time"
	"unicode"

	"feedmesh/agent/api"
)

// people search as those at the console do: for one to three words of what there
// is, best first, each story once, with facets.
type people struct {
	node   *api.Client
	titles [][]string // words of some items' titles
	chance *rand.Rand

	mu     sync.Mutex
	times  []time.Duration
	failed []error
}

const searchEvery = 200 * time.Millisecond

// newPeople returns people who know some of the newest items.
func newPeople(ctx context.Context, node *api.Client) (*people, error) {
	p := &people{node: node, chance: rand.New(rand.NewPCG(9, 5))}
	q := api.Search{Sort: "newest", Limit: 100}
	for range 10 {
		found, err := node.Search(ctx, q)
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
		return nil, errors.New("there is nothing to search for")
	}
	return p, nil
}

// query returns one to three words of a title.
func (p *people) query() string {
	words := p.titles[p.chance.IntN(len(p.titles))]
	first := p.chance.IntN(len(words) - 2)
	return strings.Join(words[first:first+1+p.chance.IntN(3)], " ")
}

// search searches again and again until ctx ends. A search that lasts does not hold
// up the next.
func (p *people) search(ctx context.Context) {
	tick := time.NewTicker(searchEvery)
	defer tick.Stop()
	var asking sync.WaitGroup
	defer asking.Wait()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		q := api.Search{Query: p.query(), Sort: "best", Once: true, Facets: true, Limit: 20}
		asking.Go(func() { p.ask(context.WithoutCancel(ctx), q) })
	}
}

func (p *people) ask(ctx context.Context, q api.Search) {
	began := time.Now()
	found, err := p.node.Search(ctx, q)
	took := time.Since(began)
	if err == nil && found.By == api.ByStore {
		err = errors.New(found.Why)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil {
		p.failed = append(p.failed, err)
		return
	}
	p.times = append(p.times, took)
}

// rows adds how long searches took, each row's name after a prefix.
func (p *people) rows(out *report, prefix string) {
	if len(p.failed) > 0 {
		out.failed(prefix+"searches", p.failed[0].Error())
		out.add(prefix+"searches that failed", float64(len(p.failed)), "")
	}
	if len(p.times) == 0 {
		return
	}
	t := timingOf(p.times)
	out.aimed(prefix+"5 searches a second over HTTP, 1 to 3 words, facets: p50", t.p50.Seconds()*1e3, "ms", "<= 5")
	out.aimed(prefix+"5 searches a second over HTTP, 1 to 3 words, facets: p99", t.p99.Seconds()*1e3, "ms", "<= 50")
}

package schedule

import (
	"context"
	"iter"
	"math/rand/v2"
	"time"

	"feedmesh/agent/role/schedule/policy"
)

// A Span is the period of a simulation.
type Span struct {
	Begin int64 // Unix seconds
	Learn int   // days in which policies learn, without scores
	Score int   // scored days after those
}

const (
	recalibrateEvery = 3600 // simulated seconds
	spentEvery       = 60

	// extraTime is the time for which polls continue after the scored days, so that the last items are found too:
	// more than the longest interval of an active feed.
	extraTime = daySeconds + daySeconds/8
)

// A run is one simulation.
type run struct {
	world  World
	span   Span
	policy policy.Policy
	random *rand.Rand
	feeds  []reader
	wheel  *wheel
	dates  []time.Time // of the current document
	score  score
	polls  int // since the last RecordPolls
}

// A reader is the state of a polled feed.
type reader struct {
	policy.Feed
	seen  int // number of its items that were in a document or lost
	total int // number of its published items
}

// Run simulates the polling of a world's feeds by a policy, and returns the scores. Equal seeds give equal
// results. It returns early when ctx ends.
func Run(ctx context.Context, w World, s Span, p policy.Policy, seed uint64) (Result, error) {
	r := &run{
		world: w, span: s, policy: p, random: rand.New(rand.NewPCG(seed, 1)),
		feeds: make([]reader, len(w.Feeds)), wheel: newWheel(len(w.Feeds), s.Begin), score: newScore(w, s),
	}
	started := time.Now()
	for i := range r.feeds {
		r.feeds[i].Window = w.Feeds[i].Window
		// The first polls of existing feeds are spread.
		r.wheel.put(i, s.Begin+1+r.random.Int64N(recalibrateEvery))
	}
	end := s.end()
	for r.wheel.now < end+extraTime {
		r.wheel.step(r.poll)
		if r.wheel.now%spentEvery == 0 {
			p.RecordPolls(r.polls, r.now())
			r.polls = 0
		}
		if r.wheel.now%recalibrateEvery == 0 {
			if err := ctx.Err(); err != nil {
				return Result{}, err
			}
			p.Recalibrate(r.all(), r.now())
		}
	}
	for i := range r.feeds {
		r.poll(i) // items not found yet have waited at least until now
	}
	return r.score.result(w, s, time.Since(started)), nil
}

func (s Span) end() int64     { return s.scored() + int64(s.Score)*daySeconds }
func (s Span) scored() int64  { return s.Begin + int64(s.Learn)*daySeconds }
func (r *run) now() time.Time { return time.Unix(r.wheel.now, 0).UTC() }

// all yields the feeds as input for policies.
func (r *run) all() iter.Seq[*policy.Feed] {
	return func(yield func(*policy.Feed) bool) {
		for i := range r.feeds {
			if !yield(&r.feeds[i].Feed) {
				return
			}
		}
	}
}

// poll reads a feed and decides its next poll.
func (r *run) poll(i int) {
	f, published := &r.feeds[i], r.world.Feeds[i].Published
	at, now := r.wheel.now, r.now()
	for f.total < len(published) && published[f.total] <= at {
		f.total++
	}
	r.polls++
	r.score.polls++
	counted := at >= r.span.scored() && at < r.span.end()
	if counted {
		r.score.requests++
		r.score.hours[(at-r.span.scored())/3600]++
	}
	switch {
	case f.Polled.IsZero() && f.total == 0:
		f.Model.LearnFirstSeen(0, f.Polled, now)
	case f.total > f.seen:
		if counted {
			r.score.hits++
		}
		shown := max(0, f.total-f.Window)
		r.scoreItems(i, f.seen, shown, at)
		f.seen = f.total
		r.dates = r.dates[:0]
		for _, t := range published[shown:f.total] {
			r.dates = append(r.dates, time.Unix(t, 0).UTC())
		}
		f.Model.Learn(r.dates, now)
	}
	f.Polled = now
	d := r.policy.Next(&f.Feed, now, 2*r.random.Float64()-1)
	r.wheel.put(i, d.Next.Unix())
}

// scoreItems scores the items of a feed from seen on: those before shown are lost.
func (r *run) scoreItems(i, seen, shown int, at int64) {
	f := &r.world.Feeds[i]
	for n := seen; n < r.feeds[i].total; n++ {
		switch t := f.Published[n]; {
		case t < r.span.scored() || t >= r.span.end():
		case n < shown:
			r.score.lose(f.pushedOut(n) - t)
		default:
			r.score.find(i, at-t)
		}
	}
}

// pushedOut returns the time at which an item left its feed's document.
func (f *Feed) pushedOut(n int) int64 { return f.Published[n+f.Window] }

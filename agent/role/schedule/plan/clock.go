package plan

import (
	"time"

	"feedmesh/agent/role/schedule/policy"
)

// Shift moves all times of the plan by d, after the system clock jumped by d: each feed stays due after the same
// time. Stored states are shifted with the next change of their feed; until then [Plan.Clamp] corrects them after
// a restart.
func (p *Plan) Shift(d time.Duration) {
	shift := func(times ...*time.Time) {
		for _, t := range times {
			if !t.IsZero() {
				*t = t.Add(d)
			}
		}
	}
	// All keys of the heaps move together, so their order remains.
	for _, f := range p.feeds {
		shift(&f.State.Next, &f.Dispatched)
	}
	for _, h := range p.hosts {
		shift(&h.notBefore, &h.PausedUntil, &h.LastRequest, &h.ProxySince, &h.ValidatorsChecked, &h.ValidatorsWrong)
		for id, at := range h.retryAfter {
			h.retryAfter[id] = at.Add(d)
		}
	}
	for _, k := range p.states {
		shift(&k.LastUsed, &k.ProbePassed, &k.ProbeSent, &k.RestUntil)
	}
	for i := range p.outage.results {
		shift(&p.outage.results[i].at)
	}
	shift(&p.outage.since, &p.outage.probe, &p.budget.at)
}

// clockTolerance is the difference of two agents' clocks that needs no correction.
const clockTolerance = time.Minute

// Clamp decides anew when feeds are due that were polled in the future, or are due later than any decision
// allows: a clock was wrong when their states were written. It returns these feeds.
func (p *Plan) Clamp(now time.Time) (clamped []*Feed) {
	latest := now.Add(policy.MaxWait + clockTolerance)
	for _, f := range p.feeds {
		s := f.State
		if s.Crawl != "" || s.Next.IsZero() || !s.Polled.After(now.Add(clockTolerance)) && !s.Next.After(latest) {
			continue
		}
		if s.Polled.After(now) {
			s.Polled = now
		}
		due := s.Next
		p.decide(f, 0, now)
		if s.Next.After(due) {
			p.change(f, func() { s.Next = due })
		}
		clamped = append(clamped, f)
	}
	for _, h := range p.hosts {
		if h.PausedUntil.After(latest) || h.LastRequest.After(now.Add(clockTolerance)) {
			h.PausedUntil, h.LastRequest = time.Time{}, earlierOf(h.LastRequest, now)
			h.notBefore = p.nextRequest(h)
			p.changedHosts[h] = true
			p.updateReady(h)
		}
	}
	return clamped
}

func earlierOf(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

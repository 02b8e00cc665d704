package deliver

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"feedmesh/agent/role/deliver/alert"
	"feedmesh/storage"
)

const (
	scoredBatch = 1000   // size of a batch of members that are read with their sentiments
	maxScored   = 50_000 // members that are read for an evaluation, of which one worker of a process makes one at a time
)

// falls evaluates "sentiment falls by N in TIME": it compares the items that entered within the time with those of the time before, as [alert.Compare]
// does. After a message the next one needs as much time. The problem is set if the condition can't hold.
func (r *run) falls(ctx context.Context) ([]occurrence, int64, error) {
	within := r.condition.Within
	if sent := r.state.Sent; sent.After(r.at.Add(-within)) && !sent.After(r.at) { // a later one is that of a wrong clock
		return nil, 0, nil
	}
	select {
	case r.scoring <- struct{}{}:
		defer func() { <-r.scoring }()
	case <-ctx.Done():
		return nil, 0, ctx.Err()
	}
	before, after := period{from: r.at.Add(-2 * within), to: r.at.Add(-within)}, period{from: r.at.Add(-within), to: r.at}
	isWhole, err := r.readSentiments(ctx, &before, &after)
	if err != nil {
		return nil, 0, err
	}
	if r.state.Problem = r.sentimentProblem(isWhole, before, after); r.state.Problem != "" {
		return nil, 0, nil
	}
	means, isFall := alert.Compare(before.values(), after.values(), r.condition.Fall())
	if !isFall {
		return nil, 0, nil
	}
	text := fmt.Sprintf("sentiment fell from %.2f to %.2f in %s", means.Before, means.After, alert.TimeText(within))
	return []occurrence{{key: "sentiment after " + r.state.Sent.UTC().Format(time.RFC3339Nano), text: text, members: after.lowest()}}, 0, nil
}

// A period has the members that entered from a time, before another.
type period struct {
	from, to time.Time
	entered  int                    // members
	scored   []storage.ScoredMember // those with a sentiment, each item once
}

func (p *period) add(m storage.ScoredMember) {
	if m.Entered.Before(p.from) || !m.Entered.Before(p.to) {
		return
	}
	p.entered++
	if m.Sentiment != 0 {
		p.scored = append(p.scored, m)
	}
}

// values returns the mean sentiment of each story, and the sentiments of items without one.
func (p *period) values() (values []float64) {
	type sum struct{ total, n float64 }
	stories := map[string]sum{}
	for _, m := range p.scored {
		if m.StoryID == "" {
			values = append(values, m.Sentiment)
			continue
		}
		s := stories[m.StoryID]
		stories[m.StoryID] = sum{s.total + m.Sentiment, s.n + 1}
	}
	for _, s := range stories {
		values = append(values, s.total/s.n)
	}
	return values
}

// lowest returns the members, those with the lowest sentiment first.
func (p *period) lowest() []storage.Member {
	slices.SortStableFunc(p.scored, func(a, b storage.ScoredMember) int { return cmp.Compare(a.Sentiment, b.Sentiment) })
	members := make([]storage.Member, len(p.scored))
	for i, m := range p.scored {
		members[i] = storage.Member{View: m.View, Serial: m.Serial, ItemID: m.ItemID, Entered: m.Entered}
	}
	return members
}

// readSentiments reads the members of both periods in batches, the last ones first. It reports false if there are more than maxScored.
func (r *run) readSentiments(ctx context.Context, before, after *period) (isWhole bool, err error) {
	isRead := map[string]bool{} // items, if they may be in several views
	n := 0
	for _, view := range r.Views {
		for next := int64(math.MaxInt64); ; {
			members, err := r.store.ListScored(ctx, view, next, scoredBatch)
			if err != nil {
				return false, err
			}
			for _, m := range members {
				next = m.Serial
				if isRead[m.ItemID] {
					continue
				}
				if len(r.Views) > 1 {
					isRead[m.ItemID] = true
				}
				before.add(m)
				after.add(m)
			}
			if len(members) < scoredBatch || members[len(members)-1].Entered.Before(before.from) {
				break
			}
			if n += len(members); n >= maxScored {
				return false, nil
			}
		}
	}
	return true, nil
}

// sentimentProblem returns why the condition can't hold; empty: it can.
func (r *run) sentimentProblem(isWhole bool, before, after period) string {
	within := alert.TimeText(r.condition.Within)
	entered, scored := before.entered+after.entered, len(before.scored)+len(after.scored)
	last, former := len(after.values()), len(before.values())
	switch {
	case !isWhole:
		return fmt.Sprintf("more than %d items entered in twice %s: make an alert with a shorter time", maxScored, within)
	case entered > 0 && scored == 0:
		return fmt.Sprintf("none of the %d items that entered in twice %s has a sentiment: turn on classify.sentiment for all agents with the role classify; only English and Russian items get one", entered, within)
	case min(last, former) < alert.MinScored && r.clock.Now().Sub(r.Created) >= 2*r.condition.Within:
		return fmt.Sprintf("too few stories and items with a sentiment entered: %d in the last %s, %d in the %s before; %d of each are needed: make an alert with a longer time, or with more views", last, within, former, within, alert.MinScored)
	}
	return ""
}

package workbench

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"feedmesh/agent/role/classify/label"
	"feedmesh/classify"
	"feedmesh/classify/stem"
	"feedmesh/classify/text"
	"feedmesh/storage"
)

// A timedDecision is the decision on an item, and the time it took.
type timedDecision struct {
	classify.Decision
	took time.Duration
}

// decideAll decides items concurrently, with workers on half of the processors, which leaves the rest to the
// mesh. Each decider's decisions are in the order of the items, those of the first decider first.
func decideAll(ctx context.Context, lookup *feedCache, items []storage.Item, by ...Decider) ([]timedDecision, error) {
	decisions := make([]timedDecision, len(items)*len(by))
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(max(1, runtime.GOMAXPROCS(0)/2))
	for i, item := range items {
		feed, err := lookup.get(ctx, item.FeedID)
		if err != nil {
			return nil, errors.Join(err, group.Wait())
		}
		group.Go(func() error {
			if within.Err() != nil {
				return within.Err()
			}
			doc := documentOf(item, feed)
			for n, decider := range by {
				began := time.Now()
				decision := decider.Decide(doc)
				decisions[n*len(items)+i] = timedDecision{decision, time.Since(began)}
			}
			return nil
		})
	}
	return decisions, group.Wait()
}

// differs reports whether two decisions label an item differently. The spam score and the reasons do not count: the
// reasons contain the lines of rules, which move when a rule is added before them.
func differs(a, b classify.Decision) bool {
	return a.Spam != b.Spam || a.Score != b.Score || !slices.Equal(a.Categories, b.Categories) ||
		!slices.Equal(a.Topics, b.Topics) || !slices.Equal(a.Flags, b.Flags)
}

// documentOf returns an item as a document, with its stems, which several deciders share.
func documentOf(item storage.Item, feed storage.Feed) classify.Document {
	doc := label.Document(item, feed, text.PlainText(item.HTML))
	doc.Stems = stem.Words(doc.Text, doc.Language)
	return doc
}

package workbench

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"feedmesh/classify"
	"feedmesh/storage"
)

// An Example is a document with known labels.
type Example struct {
	ID         string
	Document   classify.Document
	Corrected  bool     // labelled by a person, not by rules
	Spam       *bool    // nil: not labelled
	Categories []string // best first; empty: not labelled, unless Spam is set
}

// Examples yields training examples: corrections first, then confident decisions of the rules on other items,
// newest first. It can be repeated. It stops at the first error and yields it.
type Examples = iter.Seq2[Example, error]

// progressInterval is the interval of progress updates of a training.
const progressInterval = time.Second

// train trains the next version of a rule set.
func (r *Runner) train(ctx context.Context, job *storage.Job, b jobSpec) error {
	if r.Learn == nil {
		return fmt.Errorf("nothing can be learned here: %w", ErrPermanent)
	}
	lookup := &feedCache{store: r.Store}
	job.Total, job.Done = b.Items, 0
	reported := time.Now()
	progress := func(items int) error {
		job.Done = min(job.Done+items, job.Total)
		if time.Since(reported) < progressInterval {
			return nil
		}
		reported = time.Now()
		return storage.Jobs(r.Store).Put(ctx, *job)
	}
	found, err := r.Learn(ctx, b.Set, func(yield func(Example, error) bool) {
		job.Done = 0 // the examples may be read again
		err := r.correctedExamples(ctx, lookup, yield)
		if err == nil {
			err = r.decidedExamples(ctx, lookup, b.Items, progress, yield)
		}
		if err != nil && !errors.Is(err, errStop) {
			yield(Example{}, err)
		}
	})
	if err != nil {
		return err
	}
	b.Found = found
	*job = b.on(*job)
	return nil
}

// correctedExamples yields the items with corrections of spam or categories.
func (r *Runner) correctedExamples(ctx context.Context, lookup *feedCache, yield func(Example, error) bool) error {
	for from, n := (storage.Correction{}), 0; n < maxCorrections; {
		page, err := r.Store.Corrections(ctx, from, batchSize)
		if err != nil || len(page) == 0 {
			return err
		}
		from, n = page[len(page)-1], n+len(page)
		for _, c := range page {
			if len(c.Categories) == 0 && c.Spam == nil {
				continue
			}
			item, err := storage.ItemByID(ctx, r.Store, c.ItemID)
			if errors.Is(err, storage.ErrNotFound) {
				continue
			}
			if err != nil {
				return err
			}
			feed, err := lookup.get(ctx, item.FeedID)
			if err != nil {
				return err
			}
			if !yield(Example{item.ID, documentOf(item, feed), true, c.Spam, c.Categories}, nil) {
				return errStop
			}
		}
	}
	return nil
}

// decidedExamples yields the newest items with a confident decision of the rules in force. Guesses of the
// model are skipped.
func (r *Runner) decidedExamples(ctx context.Context, lookup *feedCache, left int, progress func(int) error, yield func(Example, error) bool) error {
	by := r.InForce()
	return scan(ctx, r.Store, place{}, batchSize, func(items []storage.Item, _ place) error {
		items = items[:min(len(items), left)]
		decisions, err := decideAll(ctx, lookup, items, by)
		if err != nil {
			return err
		}
		for i, item := range items {
			d := decisions[i]
			if item.Corrected || d.Spam || d.Guessed || len(d.Categories) == 0 {
				continue
			}
			feed, err := lookup.get(ctx, item.FeedID)
			if err != nil {
				return err
			}
			if !yield(Example{item.ID, documentOf(item, feed), false, nil, d.Categories}, nil) {
				return errStop
			}
		}
		if left -= len(items); left == 0 {
			return errStop
		}
		return progress(len(items))
	})
}

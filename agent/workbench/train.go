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

// An Example is a document of which it is known what it is.
type Example struct {
	ID         string
	Document   classify.Document
	Corrected  bool     // a person said what it is, and not the rules
	Spam       *bool    // nil: nobody said
	Categories []string // best first; none: nobody said, unless Spam is told
}

// Examples yields what is learned from, in the same order each time but for what
// changes meanwhile: what persons said first, then what the rules say confidently
// of other items, the newest first. It stops at the first error and yields it.
type Examples = iter.Seq2[Example, error]

// tellEvery is how often the progress of a training is noted.
const tellEvery = time.Second

// train learns the next version of a rule set.
func (r *Runner) train(ctx context.Context, job *storage.Job, b brief) error {
	if r.Learn == nil {
		return fmt.Errorf("nothing can be learned here: %w", ErrHopeless)
	}
	lookup := &feeds{store: r.Store}
	job.Total, job.Done = b.Items, 0
	told := time.Now()
	progress := func(items int) error {
		job.Done = min(job.Done+items, job.Total)
		if time.Since(told) < tellEvery {
			return nil
		}
		told = time.Now()
		return r.Store.PutJob(ctx, *job)
	}
	found, err := r.Learn(ctx, b.Set, func(yield func(Example, error) bool) {
		job.Done = 0 // it may be asked again
		err := r.saidExamples(ctx, lookup, yield)
		if err == nil {
			err = r.ruledExamples(ctx, lookup, b.Items, progress, yield)
		}
		if err != nil && !errors.Is(err, errEnough) {
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

// saidExamples yields the items that a person called spam or not, or about
// something.
func (r *Runner) saidExamples(ctx context.Context, lookup *feeds, yield func(Example, error) bool) error {
	for from, n := (storage.Correction{}), 0; n < maxSaid; {
		page, err := r.Store.Corrections(ctx, from, pageSize)
		if err != nil || len(page) == 0 {
			return err
		}
		from, n = page[len(page)-1], n+len(page)
		for _, c := range page {
			if len(c.Categories) == 0 && c.Spam == nil {
				continue
			}
			item, err := r.Store.Item(ctx, c.ItemID)
			if errors.Is(err, storage.ErrNotFound) {
				continue
			}
			if err != nil {
				return err
			}
			feed, err := lookup.of(ctx, item.FeedID)
			if err != nil {
				return err
			}
			if !yield(Example{item.ID, documentOf(item, feed), true, c.Spam, c.Categories}, nil) {
				return errEnough
			}
		}
	}
	return nil
}

// ruledExamples yields those of the newest items of which the rules in force are
// sure. What the model guessed teaches it nothing.
func (r *Runner) ruledExamples(ctx context.Context, lookup *feeds, left int, progress func(int) error, yield func(Example, error) bool) error {
	by := r.InForce()
	return walk(ctx, r.Store, place{}, pageSize, func(items []storage.Item, _ place) error {
		items = items[:min(len(items), left)]
		decisions, err := judge(ctx, lookup, items, by)
		if err != nil {
			return err
		}
		for i, item := range items {
			d := decisions[i]
			if item.Corrected || d.Spam || d.Guessed || len(d.Categories) == 0 {
				continue
			}
			feed, err := lookup.of(ctx, item.FeedID)
			if err != nil {
				return err
			}
			if !yield(Example{item.ID, documentOf(item, feed), false, nil, d.Categories}, nil) {
				return errEnough
			}
		}
		if left -= len(items); left == 0 {
			return errEnough
		}
		return progress(len(items))
	})
}

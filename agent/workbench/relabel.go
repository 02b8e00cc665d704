package workbench

import (
	"context"
	"errors"
	"fmt"

	"feedmesh/agent/role/classify/label"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// relabel labels stored items again, newest first.
func (r *Runner) relabel(ctx context.Context, job *storage.Job, b jobSpec) error {
	deciders, err := r.relabelDeciders(ctx, b)
	if err != nil {
		return err
	}
	from, err := placeOf(b.Place)
	if err != nil {
		return errors.Join(ErrPermanent, err)
	}
	counts, err := r.Store.CountFeeds(ctx, storage.FeedQuery{})
	if err != nil {
		return err
	}
	job.Total = int(counts.Items)
	lookup := &feedCache{store: r.Store}
	again := true // a runner that exited may have applied the first batch already
	return scan(ctx, r.Store, from, jobBatch, func(items []storage.Item, to place) error {
		labels, err := r.decide(ctx, lookup, items, deciders)
		if err != nil {
			return err
		}
		return step(ctx, func(ctx context.Context) error {
			changed, err := r.Store.Relabel(ctx, job.ID, labels...)
			if err != nil {
				return fmt.Errorf("relabel %d items: %w", len(labels), err)
			}
			job.Changed += len(changed)
			if again {
				changed, again = idsOf(labels), false
			}
			if err := subjects.PublishChanged(ctx, r.Out, "relabelled by "+job.ID, changed, true); err != nil {
				return err
			}
			b.Place = to.String()
			job.Done += len(items)
			job.Total = max(job.Total, job.Done)
			*job = b.on(*job)
			return storage.Jobs(r.Store).Put(ctx, *job)
		})
	})
}

// relabelDeciders returns the decider of the version that a relabel applies, and that of the version which it
// replaces, if it has one.
func (r *Runner) relabelDeciders(ctx context.Context, b jobSpec) ([]Decider, error) {
	after, err := r.Decider(ctx, b.Set, b.Version)
	if err != nil || b.Before == nil {
		return []Decider{after}, err
	}
	before, err := r.Decider(ctx, b.Set, *b.Before)
	if err != nil {
		return nil, fmt.Errorf("the version before: %w", err)
	}
	return []Decider{after, before}, nil
}

// decide returns the labels that the first decider gives items without corrections. With a second decider, only items
// that both decide differently get labels: stored labels differ from any decision made now where they depend on the
// history of a feed, and are not changed for that.
func (r *Runner) decide(ctx context.Context, lookup *feedCache, items []storage.Item, by []Decider) ([]storage.Labels, error) {
	open := make([]storage.Item, 0, len(items))
	for _, item := range items {
		if !item.Corrected {
			open = append(open, item)
		}
	}
	decisions, err := decideAll(ctx, lookup, open, by...)
	if err != nil {
		return nil, err
	}
	labels := make([]storage.Labels, 0, len(open))
	for i, item := range open {
		if len(by) == 1 || differs(decisions[i].Decision, decisions[len(open)+i].Decision) {
			labels = append(labels, label.Labels(item.ID, decisions[i].Decision))
		}
	}
	return labels, nil
}

func idsOf(labels []storage.Labels) []string {
	ids := make([]string, len(labels))
	for i, l := range labels {
		ids[i] = l.ItemID
	}
	return ids
}

// undo restores the labels that a relabel changed. If the runner exits between a step and its publication to
// the index, the index misses a few items until it is compared with the store.
func (r *Runner) undo(ctx context.Context, job *storage.Job, b jobSpec) error {
	for {
		ended := false
		err := step(ctx, func(ctx context.Context) error {
			restored, err := r.Store.UndoRelabel(ctx, b.Of, jobBatch)
			if err != nil {
				return fmt.Errorf("undo job %s: %w", b.Of, err)
			}
			ended = len(restored) == 0
			if err := subjects.PublishChanged(ctx, r.Out, "restored by "+job.ID, restored, true); err != nil {
				return err
			}
			job.Done, job.Changed = job.Done+len(restored), job.Changed+len(restored)
			job.Total = max(job.Total, job.Done)
			return storage.Jobs(r.Store).Put(ctx, *job)
		})
		if err != nil {
			return err
		}
		if ended {
			return r.markUndone(ctx, b.Of)
		}
	}
}

// markUndone sets the state of an undone relabel, unless that job was deleted.
func (r *Runner) markUndone(ctx context.Context, id string) error {
	of, err := storage.Jobs(r.Store).Read(ctx, id)
	if errors.Is(err, storage.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	of.State = Undone
	return storage.Jobs(r.Store).Put(ctx, of)
}

package work

import (
	"context"
	"errors"

	"feedmesh/subjects"
)

// MaxEntries bounds the bytes of entries in a message. Their growth in later roles and in JSON still fits,
// except for hostile content; see [PublishParts].
const MaxEntries = 2 << 20

// PublishObservation reports the result of one feed to the schedule.
func PublishObservation(ctx context.Context, to subjects.Publisher, from string, o subjects.Observation) error {
	return subjects.Publish(ctx, to, subjects.ObserveQueue, subjects.Observe{
		Source:       from + "/" + o.ID(),
		Observations: []subjects.Observation{o},
	})
}

// PublishEntries publishes the entries of a document to the role prepare, as [PublishParts] does.
func PublishEntries(ctx context.Context, to subjects.Publisher, d subjects.Document, entries []subjects.Entry) error {
	return PublishParts(ctx, to, subjects.PrepareQueue, d, entries, func(d subjects.Document, e []subjects.Entry) subjects.Prepare {
		return subjects.Prepare{Document: d, Entries: e}
	})
}

// PublishParts publishes a task with as many parts of a document (entries or items) as one message can carry,
// from the first on. If parts are left out, the document's validators are cleared, so that the next poll
// fetches it again for the rest.
func PublishParts[T subjects.Task, P any](
	ctx context.Context, to subjects.Publisher, queue subjects.Queue[T],
	d subjects.Document, parts []P, task func(subjects.Document, []P) T,
) error {
	for {
		err := subjects.Publish(ctx, to, queue, task(d, parts))
		if len(parts) < 2 || !errors.Is(err, subjects.ErrTooLarge) {
			return err
		}
		parts = parts[:len(parts)/2]
		d.ETag, d.LastModified, d.BodyHash = "", "", ""
	}
}

package members

import (
	"context"
	"encoding/json"
	"time"

	"feedmesh/storage"
	"feedmesh/subjects"
)

const (
	progressInterval = 30 * time.Second // of notes of the progress
	progressMargin   = 5 * time.Minute  // items stored so long before the last progress are evaluated again

	// viewSchema is the first schema version of agents that publish tasks of views for the items that they store.
	viewSchema = 4

	// progressNote is the name of the note that stores the progress, see [storage.Notes].
	progressNote = "views progress"
)

// A progress is the state up to which items were evaluated. Tasks are lost when their stream is deleted, and missing while
// agents of older versions are in the mesh; members are lost when the store goes back to an older state, such as that of a
// backup. The progress shows all three.
type progress struct {
	Stream time.Time `json:"stream"` // creation time of the stream of tasks
	At     time.Time `json:"at"`
}

// heal evaluates items again whose tasks or members were lost, and stores the progress.
func (e *evaluator) heal(ctx context.Context) error {
	if time.Since(e.healed) < progressInterval || !e.hasViews() {
		return nil
	}
	stream, err := e.stream(ctx)
	if err != nil {
		return err
	}
	text, err := storage.Notes(e.store).Read(ctx, progressNote)
	if err != nil {
		return err
	}
	now := e.clock.Now()
	var last progress
	isStored := json.Unmarshal(text, &last) == nil && !last.At.IsZero()
	if isStored && e.schema(ctx) < viewSchema {
		e.progress, e.healed = "", time.Now() // evaluates what they stored when the last of them has left
		return nil
	}
	if isStored {
		isLost := !last.Stream.Equal(stream)
		if isLost || string(text) != e.progress { // as after a takeover
			if err := e.evaluateSince(ctx, earlier(last.At, now).Add(-progressMargin), false); err != nil {
				return err
			}
		}
		if isLost {
			e.log.Warn("tasks of views were lost, evaluating all views again")
			for _, v := range e.views.views {
				e.unfilled[v.stored.Number] = true
			}
			if err := e.fillAll(ctx); err != nil {
				return err
			}
		}
	}
	if text, err = json.Marshal(progress{stream, now}); err != nil {
		return err
	}
	if err := storage.Notes(e.store).Put(ctx, e.fence, progressNote, text); err != nil {
		return err
	}
	e.progress, e.healed = string(text), time.Now()
	return nil
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// stream returns the creation time of the stream of tasks.
func (e *evaluator) stream(ctx context.Context) (created time.Time, err error) {
	depths, err := e.depths(ctx)
	for _, d := range depths {
		if d.Queue == subjects.ViewQueue.Name {
			created = d.Created
		}
	}
	return created, err
}

// evaluateSince evaluates the items that were stored since a time, in batches, but spam. past is that of [subjects.View].
func (e *evaluator) evaluateSince(ctx context.Context, since time.Time, past bool) error {
	until := e.clock.Now().Add(recentItems)
	for after := (storage.Sighting{}); ; {
		page, err := e.store.Sightings(ctx, since, until, after, fillPage)
		if err != nil || len(page) == 0 {
			return err
		}
		ids := make([]string, len(page))
		for i, s := range page {
			ids[i] = s.ItemID
		}
		if err := e.evaluate(ctx, ids, past); err != nil {
			return err
		}
		after = page[len(page)-1]
	}
}

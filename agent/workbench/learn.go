package workbench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/tools/txtar"

	"feedmesh/classify"
	"feedmesh/classify/model"
	"feedmesh/classify/spam"
)

// LearnModel returns a model, as [model.Decode] reads it, that learns from the
// examples, a note of how good it is, and its figures. rules are those in force.
// What came before it does not count. It returns [model.ErrFew] if there are too
// few examples.
func LearnModel(ctx context.Context, rules *classify.Rules, examples Examples) (next []byte, note string, figures json.RawMessage, err error) {
	trainer := model.NewTrainer()
	said := 0
	for e, err := range examples {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, "", nil, err
		}
		lesson := classify.OwnExample(e.ID, e.Document, e.Categories)
		if e.Corrected {
			lesson = rules.Example(e.ID, e.Document, e.Categories, true)
		}
		if e.Corrected && len(e.Categories) > 0 {
			said++
		}
		if !trainer.Add(lesson) {
			break
		}
	}
	m, err := trainer.Train(fmt.Sprintf("what is stored: %d corrected by people, the others as rules said", said))
	if err != nil {
		return nil, "", nil, err
	}
	if next, err = m.Encode(); err != nil {
		return nil, "", nil, err
	}
	f := m.Figures()
	figures, err = json.Marshal(f)
	return next, fmt.Sprintf("%d examples, %d of them people's; %.1f %% of %d others right", f.Examples, said, 100*f.Top1, f.Held), figures, err
}

// ownLists returns an archive of lists without those that ship, and without what
// was learned.
func ownLists(newest []byte) []byte {
	archive, shipped := txtar.Parse(newest), txtar.Parse(spam.Shipped())
	archive.Files = slices.DeleteFunc(archive.Files, func(f txtar.File) bool {
		return f.Name == learnedFile || slices.ContainsFunc(shipped.Files, func(own txtar.File) bool {
			return own.Name == f.Name && bytes.Equal(own.Data, f.Data)
		})
	})
	return txtar.Format(archive)
}

// spamLessons is how many examples are in memory at once.
const spamLessons = 500

// learnedFile is the list that [spam.Teach] writes.
const learnedFile = "learned.txt"

// LearnSpam returns the lists of spam as they become by what people reported and
// released, with a note and figures of that. What the lists learned before is
// learned anew, so that no word counts twice. Of the others only those are in it
// that differ from the ones that ship, so that a newer program's are not held
// back. It returns an error if there is nothing to learn from, or the lists are
// wrong.
func LearnSpam(_ context.Context, newest []byte, examples Examples) (next []byte, note string, figures json.RawMessage, err error) {
	next = ownLists(newest)
	var count struct {
		Reported int `json:"reported"`
		Released int `json:"released"`
	}
	var lessons []spam.Example
	teach := func() error {
		next, err = spam.Teach(next, lessons)
		lessons = lessons[:0]
		return err
	}
	for e, err := range examples {
		if err != nil {
			return nil, "", nil, err
		}
		if !e.Corrected {
			break // people's words come first
		}
		if e.Spam == nil {
			continue
		}
		if *e.Spam {
			count.Reported++
		} else {
			count.Released++
		}
		lessons = append(lessons, spam.Example{Document: e.Document.ForSpam(), Spam: *e.Spam})
		if len(lessons) == spamLessons {
			if err := teach(); err != nil {
				return nil, "", nil, err
			}
		}
	}
	if count.Reported+count.Released == 0 {
		return nil, "", nil, errors.New("nobody reported or released anything yet")
	}
	if err := teach(); err != nil {
		return nil, "", nil, err
	}
	figures, err = json.Marshal(count)
	return next, fmt.Sprintf("learned from %d items that people reported and %d that they released", count.Reported, count.Released), figures, err
}

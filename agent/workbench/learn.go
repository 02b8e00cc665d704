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

// LearnModel trains a model, in the format of [model.Decode], on examples. It returns a note on its quality,
// and its figures. rules are those in force; an earlier model is not used. It returns [model.ErrTooFewExamples] if too
// few examples exist.
func LearnModel(ctx context.Context, rules *classify.Rules, examples Examples) (next []byte, note string, figures json.RawMessage, err error) {
	trainer := model.NewTrainer()
	corrected := 0
	for e, err := range examples {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, "", nil, err
		}
		lesson := classify.RuleLabelledExample(e.ID, e.Document, e.Categories)
		if e.Corrected {
			lesson = rules.Example(e.ID, e.Document, e.Categories, true)
		}
		if e.Corrected && len(e.Categories) > 0 {
			corrected++
		}
		if !trainer.Add(lesson) {
			break
		}
	}
	m, err := trainer.Train(fmt.Sprintf("stored items: %d corrected manually, the others labelled by rules", corrected))
	if err != nil {
		return nil, "", nil, err
	}
	if next, err = m.Encode(); err != nil {
		return nil, "", nil, err
	}
	f := m.Metrics()
	figures, err = json.Marshal(f)
	return next, fmt.Sprintf("%d examples, %d of them people's; %.1f %% of %d others right", f.Examples, corrected, 100*f.Top1, f.HeldOut), figures, err
}

// ownLists returns an archive of lists without those that are shipped unchanged and without the learned list.
func ownLists(newest []byte) []byte {
	archive, shipped := txtar.Parse(newest), txtar.Parse(spam.Shipped())
	archive.Files = slices.DeleteFunc(archive.Files, func(f txtar.File) bool {
		return f.Name == learnedFile || slices.ContainsFunc(shipped.Files, func(own txtar.File) bool {
			return own.Name == f.Name && bytes.Equal(own.Data, f.Data)
		})
	})
	return txtar.Format(archive)
}

// spamBatchSize is the number of examples in memory.
const spamBatchSize = 500

// learnedFile is the list that [spam.AddExamples] writes.
const learnedFile = "learned.txt"

// LearnSpam returns the spam lists trained on reported and released items, with a note and figures. The
// learned list is built anew, so that no word counts twice. Lists equal to the shipped ones are left out, so
// that those of a newer version take effect. It returns an error if no examples exist or the lists are
// invalid.
func LearnSpam(_ context.Context, newest []byte, examples Examples) (next []byte, note string, figures json.RawMessage, err error) {
	next = ownLists(newest)
	var count struct {
		Reported int `json:"reported"`
		Released int `json:"released"`
	}
	var lessons []spam.Example
	teach := func() error {
		next, err = spam.AddExamples(next, lessons)
		lessons = lessons[:0]
		return err
	}
	for e, err := range examples {
		if err != nil {
			return nil, "", nil, err
		}
		if !e.Corrected {
			break // corrections come first
		}
		if e.Spam == nil {
			continue
		}
		if *e.Spam {
			count.Reported++
		} else {
			count.Released++
		}
		lessons = append(lessons, spam.Example{Document: e.Document.SpamDocument(), Spam: *e.Spam})
		if len(lessons) == spamBatchSize {
			if err := teach(); err != nil {
				return nil, "", nil, err
			}
		}
	}
	if count.Reported+count.Released == 0 {
		return nil, "", nil, errors.New("no item was reported or released yet")
	}
	if err := teach(); err != nil {
		return nil, "", nil, err
	}
	figures, err = json.Marshal(count)
	return next, fmt.Sprintf("learned from %d items that people reported and %d that they released", count.Reported, count.Released), figures, err
}

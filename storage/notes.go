package storage

import (
	"context"
	"errors"
)

// A note is the state of a single actor for its successor, or a value that all agents of a mesh share.
type note struct {
	name string
	text []byte
}

var noteTable = tableOf(Table{Name: "notes", Keys: 1, Order: "name"}, func(n *note) []Column {
	return []Column{{Name: "name", Field: &n.name}, {Name: "note", Field: &n.text}}
})

// Notes returns the notes of a [Store]. [Stories.Rearrange] writes them too.
func Notes(of Records) NoteRecords { return NoteRecords{of} }

// NoteRecords are the states of single actors for their successors, in a [Store].
type NoteRecords struct{ records Records }

// Read returns the note stored under the name, nil if it does not exist.
func (n NoteRecords) Read(ctx context.Context, name string) ([]byte, error) {
	stored, err := readRecord[note](ctx, n.records, noteTable, name)
	if errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	return stored.text, err
}

// Put stores a note, replacing an earlier note of the same name. It returns [ErrFenced] under an outdated
// fence; then nothing is changed.
func (n NoteRecords) Put(ctx context.Context, fence Fence, name string, text []byte) error {
	return n.records.ChangeRecord(ctx, noteTable, RecordChange{Key: []any{name}, Fence: fence, Apply: func(any) (any, error) {
		return &note{name, text}, nil
	}})
}

// First stores a note unless there is one of the name, and returns the stored note.
func (n NoteRecords) First(ctx context.Context, name string, text []byte) ([]byte, error) {
	err := changeRecord(ctx, n.records, noteTable, func(stored *note) (*note, error) {
		if stored == nil {
			stored = &note{name, text}
		}
		text = stored.text
		return stored, nil
	}, name)
	return text, err
}

package storage

import (
	"context"
	"time"
)

// MaxViews is the maximum number of views.
const MaxViews = 100_000

// A View is a definition in the language of package classify/view, under a name.
type View struct {
	Name       string
	Number     int64     // identifies the view in its members; another view of the same name has another one
	Owner      string    // client that made it, see package agent/access; empty: a client without a login
	Definition string    // text form
	Changed    time.Time // when the definition was last stored
	Filled     time.Time // Changed of the definition whose members among older items are complete; zero: of none
}

// IsFilled reports whether the members among older items are complete.
func (v View) IsFilled() bool { return v.Filled.Equal(v.Changed) }

var viewTable = tableOf(Table{Name: "views", Keys: 1, Order: "name", Max: MaxViews}, func(v *View) []Column {
	return []Column{
		{Name: "name", Field: &v.Name}, {Name: "number", Field: &v.Number}, {Name: "owner", Field: &v.Owner},
		{Name: "definition", Field: &v.Definition}, {Name: "changed", Field: &v.Changed}, {Name: "filled", Field: &v.Filled, Nullable: true},
	}
})

// Views returns the views of a [Store].
func Views(of Records) ViewRecords { return ViewRecords{of} }

// ViewRecords are the views of a [Store].
type ViewRecords struct{ records Records }

// List returns all views, ordered by name.
func (v ViewRecords) List(ctx context.Context) ([]View, error) {
	return listRecords[View](ctx, v.records, viewTable, allRecords)
}

// Get returns the view with the name, or [ErrNotFound].
func (v ViewRecords) Get(ctx context.Context, name string) (View, error) {
	return readRecord[View](ctx, v.records, viewTable, name)
}

// Any reports whether there is a view.
func (v ViewRecords) Any(ctx context.Context) (bool, error) {
	found, err := listRecords[View](ctx, v.records, viewTable, 1)
	return len(found) > 0, err
}

// Change stores what apply returns for the view of the name, nil if there is none. It returns the error of apply, and
// [ErrTooMany] if [MaxViews] others are stored.
func (v ViewRecords) Change(ctx context.Context, name string, apply func(stored *View) (*View, error)) error {
	return changeRecord(ctx, v.records, viewTable, apply, name)
}

// Remove deletes the view with the name, or returns [ErrNotFound].
func (v ViewRecords) Remove(ctx context.Context, name string) error {
	return removeRecord[View](ctx, v.records, viewTable, name)
}

// SetFilled stores Filled of a view, unless the stored view was changed or removed since it was read. It returns
// [ErrFenced] under an outdated fence.
func (v ViewRecords) SetFilled(ctx context.Context, fence Fence, view View) error {
	return v.records.ChangeRecord(ctx, viewTable, RecordChange{Key: []any{view.Name}, Fence: fence, Apply: func(stored any) (any, error) {
		old, _ := stored.(*View)
		if old == nil {
			return nil, nil
		}
		next := *old
		if next.Number == view.Number && next.Changed.Equal(view.Changed) {
			next.Filled = view.Filled
		}
		return &next, nil
	}})
}

// ViewsChanged is the name of the note that changes whenever a view does, see [Notes].
const ViewsChanged = "views"

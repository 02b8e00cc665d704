package service

import (
	"context"
	"fmt"

	"github.com/nats-io/nuid"

	"feedmesh/agent/wire"
	"feedmesh/classify/rule"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// Corrections answers requests to correct the labels of items.
type Corrections struct{ *core }

// Label stores a person's correction of an item's labels and returns the item. Rules do not change corrected
// labels, and training uses them. An empty correction confirms the current labels.
func (c *Corrections) Label(ctx context.Context, in wire.LabelItemRequest) (wire.ItemView, error) {
	correction := storage.Correction{ItemID: in.ID, Spam: in.Body.Spam}
	var problems []FieldError
	if names := in.Body.Categories; names != nil {
		problems = append(problems, checkLabels("categories", *names, maxCategories)...)
		correction.Categories = append([]string{}, *names...)
	}
	if names := in.Body.Topics; names != nil {
		problems = append(problems, checkLabels("topics", *names, maxTopics)...)
		correction.Topics = append([]string{}, *names...)
	}
	if len(problems) > 0 {
		return wire.ItemView{}, &Error{KindInvalid, "the labels are invalid, nothing was changed", problems}
	}
	return c.store(ctx, correction)
}

// Unlabel deletes the corrections of an item. Its labels stay until rules are applied to it again.
func (c *Corrections) Unlabel(ctx context.Context, in wire.ByID) (wire.ItemView, error) {
	item, err := c.Store.RemoveCorrection(ctx, in.ID)
	return c.corrected(ctx, item, in.ID, err)
}

const (
	maxLabel      = 64 // bytes of the name of a category or topic
	maxCategories = 3
	maxTopics     = 5
)

// checkLabels returns the errors in names of categories or topics.
func checkLabels(of string, names []string, most int) (problems []FieldError) {
	is := func(format string, args ...any) { problems = append(problems, fieldf("body."+of, format, args...)) }
	if len(names) > most {
		is("more than %d %s are given", most, of)
	}
	seen := map[string]bool{}
	for _, name := range names {
		switch {
		case !rule.IsLabel(name) || len(name) > maxLabel:
			is("%.70q in %s is not a name: use lower-case letters, digits and hyphens, at most %d", name, of, maxLabel)
		case seen[name]:
			is("%s is listed twice in %s", name, of)
		}
		seen[name] = true
	}
	return problems
}

// store stores a correction and queues the item for the index.
func (c *Corrections) store(ctx context.Context, correction storage.Correction) (wire.ItemView, error) {
	correction.At = c.Now()
	item, err := c.Store.Correct(ctx, correction)
	return c.corrected(ctx, item, correction.ItemID, err)
}

// corrected queues a corrected item for the index and returns it. If that fails, the whole request can be
// retried.
func (c *Corrections) corrected(ctx context.Context, item storage.Item, id string, err error) (wire.ItemView, error) {
	if err != nil {
		return wire.ItemView{}, fmt.Errorf("item %s: %w", id, err)
	}
	if err := subjects.PublishIndex(ctx, c.Mesh, "corrected "+nuid.Next(), []string{id}); err != nil {
		return wire.ItemView{}, err
	}
	return c.viewOf(ctx, item), nil
}

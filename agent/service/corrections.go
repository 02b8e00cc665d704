package service

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/nats-io/nuid"

	"feedmesh/agent/wire"
	"feedmesh/classify/rule"
	"feedmesh/storage"
	"feedmesh/subjects"
)

func (s *Server) correctionRoutes(api huma.API) {
	set := op("PUT", "/api/items/{id}/labels", "label-item", "Correct the labels of an item", 400, 404, 422, 503)
	set.Description = "Rules do not change corrected labels, and training uses them. An empty object confirms the current labels."
	huma.Register(api, set, s.labelItem)
	forget := op("DELETE", "/api/items/{id}/labels", "unlabel-item", "Delete the corrections of an item", 404, 503)
	forget.Description = "The labels stay until rules are applied to it again."
	huma.Register(api, forget, func(ctx context.Context, in *byID) (*body[wire.ItemView], error) {
		item, err := s.Store.RemoveCorrection(ctx, in.ID)
		return s.labelled(s.relabelled(ctx, item, in.ID, err))
	})
}

func (s *Server) labelItem(ctx context.Context, in *struct {
	ID   string `path:"id" maxLength:"64"`
	Body wire.Correction
}) (*body[wire.ItemView], error) {
	if problems := correctionProblems(in.Body); len(problems) > 0 {
		return nil, huma.Error422UnprocessableEntity("the labels are invalid, nothing was changed", problems...)
	}
	return s.labelled(s.LabelItem(ctx, in.ID, in.Body))
}

// problems returns the errors in the label names.
func correctionProblems(c wire.Correction) (problems []error) {
	if c.Categories != nil {
		problems = append(problems, checkLabels("categories", *c.Categories, maxCategories)...)
	}
	if c.Topics != nil {
		problems = append(problems, checkLabels("topics", *c.Topics, maxTopics)...)
	}
	return problems
}

// LabelItem stores a person's correction of an item and returns the item. Invalid or too many names are a
// [*ConflictError]. It returns [storage.ErrNotFound] if the item does not exist.
func (s *Server) LabelItem(ctx context.Context, id string, c wire.Correction) (wire.ItemView, error) {
	if problems := correctionProblems(c); len(problems) > 0 {
		return wire.ItemView{}, conflictf("%s", strings.ReplaceAll(errors.Join(problems...).Error(), "\n", "; "))
	}
	correction := storage.Correction{ItemID: id, Spam: c.Spam}
	if c.Categories != nil {
		correction.Categories = append([]string{}, *c.Categories...)
	}
	if c.Topics != nil {
		correction.Topics = append([]string{}, *c.Topics...)
	}
	return s.correct(ctx, correction)
}

const (
	maxLabel      = 64 // bytes of the name of a category or topic
	maxCategories = 3
	maxTopics     = 5
)

// checkLabels returns the errors in names of categories or topics.
func checkLabels(of string, names []string, most int) (problems []error) {
	is := func(format string, args ...any) { problems = append(problems, fieldError("body."+of, format, args...)) }
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

// correct stores a correction and queues the item for the index.
func (s *Server) correct(ctx context.Context, correction storage.Correction) (wire.ItemView, error) {
	correction.At = s.Now()
	item, err := s.Store.Correct(ctx, correction)
	return s.relabelled(ctx, item, correction.ItemID, err)
}

// relabelled queues a corrected item for the index and returns it. If that fails, the whole request can be
// retried.
func (s *Server) relabelled(ctx context.Context, item storage.Item, id string, err error) (wire.ItemView, error) {
	if err != nil {
		return wire.ItemView{}, fmt.Errorf("item %s: %w", id, err)
	}
	if err := subjects.PublishIndex(ctx, s.Mesh, "corrected "+nuid.Next(), []string{id}); err != nil {
		return wire.ItemView{}, err
	}
	return wire.ItemView{Item: item, FeedTitle: s.titles(ctx)(item.FeedID)}, nil
}

// labelled converts a corrected item or an error to a response.
func (s *Server) labelled(item wire.ItemView, err error) (*body[wire.ItemView], error) {
	if err != nil {
		return nil, s.problem(err)
	}
	return &body[wire.ItemView]{Body: item}, nil
}

package api

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/nats-io/nuid"

	"feedmesh/classify/rule"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// A Correction is what a person says of an item. What is absent stays as it is.
type Correction struct {
	Spam       *bool     `json:"spam,omitempty"`
	Categories *[]string `json:"categories,omitempty" maxItems:"3" doc:"Best first; none: it is about nothing we have a name for."`
	Topics     *[]string `json:"topics,omitempty" maxItems:"5" doc:"Best first."`
}

func (s *Server) correctionRoutes(api huma.API) {
	set := op("PUT", "/api/items/{id}/labels", "label-item", "Say what an item is", 400, 404, 422, 503)
	set.Description = "It stays so whatever rules say, and they can learn from it. An empty object says that its labels are right."
	huma.Register(api, set, s.labelItem)
	forget := op("DELETE", "/api/items/{id}/labels", "unlabel-item", "Forget what people said of an item", 404, 503)
	forget.Description = "It keeps the labels it has until rules are applied to it again."
	huma.Register(api, forget, func(ctx context.Context, in *byID) (*body[ItemView], error) {
		item, err := s.Store.Uncorrect(ctx, in.ID)
		return s.labelled(s.relabelled(ctx, item, in.ID, err))
	})
}

func (s *Server) labelItem(ctx context.Context, in *struct {
	ID   string `path:"id" maxLength:"64"`
	Body Correction
}) (*body[ItemView], error) {
	if faults := in.Body.faults(); len(faults) > 0 {
		return nil, huma.Error422UnprocessableEntity("the labels are wrong, nothing was changed", faults...)
	}
	return s.labelled(s.LabelItem(ctx, in.ID, in.Body))
}

// faults returns what is wrong with the names in it.
func (c Correction) faults() (faults []error) {
	if c.Categories != nil {
		faults = append(faults, checkLabels("categories", *c.Categories, maxCategories)...)
	}
	if c.Topics != nil {
		faults = append(faults, checkLabels("topics", *c.Topics, maxTopics)...)
	}
	return faults
}

// LabelItem has an item be what a person says, and returns it. Names that are none,
// or too many of them, are a [*Refusal]. It returns [storage.ErrNotFound] if there is
// no such item.
func (s *Server) LabelItem(ctx context.Context, id string, c Correction) (ItemView, error) {
	if faults := c.faults(); len(faults) > 0 {
		return ItemView{}, refuse("%s", strings.ReplaceAll(errors.Join(faults...).Error(), "\n", "; "))
	}
	said := storage.Correction{ItemID: id, Spam: c.Spam}
	if c.Categories != nil {
		said.Categories = append([]string{}, *c.Categories...)
	}
	if c.Topics != nil {
		said.Topics = append([]string{}, *c.Topics...)
	}
	return s.correct(ctx, said)
}

const (
	maxLabel      = 64 // bytes of the name of a category or topic
	maxCategories = 3
	maxTopics     = 5
)

// checkLabels returns what is wrong with names of categories or topics.
func checkLabels(of string, names []string, most int) (faults []error) {
	is := func(format string, args ...any) { faults = append(faults, fault("body."+of, format, args...)) }
	if len(names) > most {
		is("there are more than %d %s", most, of)
	}
	seen := map[string]bool{}
	for _, name := range names {
		switch {
		case !rule.IsLabel(name) || len(name) > maxLabel:
			is("%.70q among %s is no name: small letters, digits and hyphens, at most %d", name, of, maxLabel)
		case seen[name]:
			is("%s comes twice among %s", name, of)
		}
		seen[name] = true
	}
	return faults
}

// correct stores what a person says and has the index follow.
func (s *Server) correct(ctx context.Context, said storage.Correction) (ItemView, error) {
	said.At = s.Now()
	item, err := s.Store.Correct(ctx, said)
	return s.relabelled(ctx, item, said.ItemID, err)
}

// relabelled has the index follow what a person changed, and returns the item.
// Should that fail, all of it can be done again.
func (s *Server) relabelled(ctx context.Context, item storage.Item, id string, err error) (ItemView, error) {
	if err != nil {
		return ItemView{}, fmt.Errorf("item %s: %w", id, err)
	}
	if err := subjects.PublishIndex(ctx, s.Mesh, "corrected "+nuid.Next(), []string{id}); err != nil {
		return ItemView{}, err
	}
	return ItemView{Item: item, FeedTitle: s.titles(ctx)(item.FeedID)}, nil
}

// labelled answers with an item that was labelled, or says why it was not.
func (s *Server) labelled(item ItemView, err error) (*body[ItemView], error) {
	if err != nil {
		return nil, s.problem(err)
	}
	return &body[ItemView]{Body: item}, nil
}

package service

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"feedmesh/agent/access"
	"feedmesh/classify/expression"
	"feedmesh/classify/query"
	"feedmesh/classify/view"
	"feedmesh/storage"
)

// ViewOfSearch returns the view of the items that a search finds. values are the parameters of GET /api/search. Its condition may be invalid, as
// one by marks of a person is. It is for its owner only.
func ViewOfSearch(name, title string, values url.Values) view.View {
	v := view.View{Name: name, Title: title}
	var where []string
	if q := strings.TrimSpace(values.Get("q")); q != "" {
		where = append(where, q)
	}
	for _, field := range []struct {
		parameter string
		field     query.Field
	}{{"feed", query.Feed}, {"category", query.Category}, {"topic", query.Topic}, {"flag", query.Flag}, {"language", query.Language}} {
		if value := values.Get(field.parameter); value != "" {
			where = append(where, query.FieldEquals{Field: field.field, Value: value}.String())
		}
	}
	for _, bound := range []string{"after", "before"} {
		if t, err := time.Parse(time.RFC3339, values.Get(bound)); err == nil {
			where = append(where, bound+":"+t.UTC().Format(time.RFC3339))
		}
	}
	if values.Get("spam") == "true" {
		where = append(where, "is:spam")
	}
	for _, of := range []struct{ parameter, flag string }{{"duplicates", "duplicate"}, {"muted", "muted"}} {
		if values.Get(of.parameter) == "true" { // a view leaves these items out unless its condition has the flag
			where = append(where, fmt.Sprintf("(is:%s OR -is:%[1]s)", of.flag))
		}
	}
	if len(where) > 1 && values.Get("q") != "" {
		where[0] = "(" + where[0] + " )" // the space keeps the last word from including the parenthesis
	}
	v.Where = strings.Join(where, " ")
	if values.Get("once") == "true" {
		v.Once = view.PerStory
	}
	if n, err := strconv.Atoi(values.Get("unique")); err == nil {
		v.Unique = n
	}
	return v
}

// ViewsOfSaved returns the names that the view of a saved search may have: its own, or another one if there was a view of that name.
func ViewsOfSaved(name string) []string {
	other := "search-" + name
	return []string{other[:min(len(other), view.MaxName)], name}
}

// ConvertSearches turns the searches that earlier versions saved into views, at each start until none is left. It returns when ctx ends or all
// are views. What can't be a view becomes one without items, whose page shows the reason and the editor.
func (s *Views) ConvertSearches(ctx context.Context) error {
	for {
		saved, err := storage.SavedSearches(s.Store).List(ctx)
		for _, one := range saved {
			err = errors.Join(err, s.convertSearch(ctx, one))
		}
		if err == nil && len(saved) > 0 {
			err = s.announce(ctx)
		}
		if err == nil {
			return nil
		}
		if ctx.Err() == nil && !errors.Is(err, storage.ErrUnavailable) {
			s.Log.Warn("saved searches not converted to views, trying again in a minute", "err", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Minute):
		}
	}
}

// errOther is the error of a name that another view has.
var errOther = errors.New("another view has this name")

// convertSearch stores the view of a saved search, then removes the search. Repeated after a crash it finds the same view.
func (s *Views) convertSearch(ctx context.Context, saved storage.SavedSearch) error {
	values, err := url.ParseQuery(saved.Query)
	if err != nil {
		return fmt.Errorf("saved search %s: %w", saved.Name, err)
	}
	if err := s.nameFeeds(ctx, values); err != nil {
		return err
	}
	number, err := newNumber()
	if err != nil {
		return err
	}
	names := ViewsOfSaved(saved.Name)
	for _, name := range []string{names[1], names[0]} {
		v := ViewOfSearch(name, saved.Title, values)
		v.Readers = view.Everyone // as the search was
		definition := v.String()
		err = storage.Views(s.Store).Change(ctx, name, func(stored *storage.View) (*storage.View, error) {
			if stored == nil {
				return &storage.View{Name: name, Number: number, Owner: access.LocalID, Definition: definition, Changed: s.Now()}, nil
			}
			if stored.Definition != definition {
				return nil, errOther
			}
			return stored, nil
		})
		if !errors.Is(err, errOther) {
			break
		}
	}
	if err == nil {
		if err = storage.SavedSearches(s.Store).Remove(ctx, saved.Name); errors.Is(err, storage.ErrNotFound) {
			return nil // another agent was faster
		}
	}
	if err != nil {
		return fmt.Errorf("saved search %s: %w", saved.Name, err)
	}
	return nil
}

// nameFeeds replaces the names of feeds in the query of a search by their IDs, which views need.
func (s *Views) nameFeeds(ctx context.Context, values url.Values) error {
	parsed, err := query.Parse(values.Get("q"), s.Now())
	if err != nil {
		return nil // the view shows the error
	}
	for n := range expression.Walk(parsed) {
		feed, is := n.(query.FieldEquals)
		if !is || feed.Field != query.Feed {
			continue
		}
		byID, err := s.named(ctx, feed)
		if err != nil {
			return err
		}
		if _, is := byID.(query.Or); is {
			values.Set("q", strings.ReplaceAll(values.Get("q"), feed.String(), "("+byID.String()+" )"))
		}
	}
	return nil
}

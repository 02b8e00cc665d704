package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"feedmesh/classify/query"
	"feedmesh/storage"
)

// A Search is what to look for.
type Search struct {
	Query      string    `query:"q" maxLength:"1000" doc:"Words that must all occur, in any form, and conditions: \"a phrase\", -not, OR, brackets, begin*, title: author: feed: cat: topic: lang: host: story: is: after: before: age:. None: the newest items."`
	Typing     bool      `query:"typing" doc:"The query is still being typed: its last word may go on, unless a space follows, and what is open is no fault."`
	Feed       string    `query:"feed" maxLength:"64" doc:"ID of a feed."`
	Category   string    `query:"category" maxLength:"64"`
	Topic      string    `query:"topic" maxLength:"64"`
	Flag       string    `query:"flag" enum:"adult,affiliate,muted,sponsored,starred" doc:"Only items that a rule or a list gave this flag."`
	Language   string    `query:"language" maxLength:"8" doc:"ISO 639-1, as en or ru."`
	After      time.Time `query:"after" doc:"Published at or after."`
	Before     time.Time `query:"before" doc:"Published before."`
	Spam       bool      `query:"spam" doc:"Spam only; otherwise there is none among the items."`
	Duplicates bool      `query:"duplicates" doc:"Duplicates too; otherwise only the first of their kind."`
	Muted      bool      `query:"muted" doc:"Items that a rule muted, too."`
	Once       bool      `query:"once" doc:"Of the items of one story only the one that comes first."`
	Sort       string    `query:"sort" enum:"best,newest" default:"best"`
	Facets     bool      `query:"facets" doc:"Count what there is by category, topic, feed, language, day and sentiment."`
	Limit      int       `query:"limit" minimum:"1" maximum:"100" default:"20"`
	Cursor     string    `query:"cursor" maxLength:"4096" doc:"Next of the page before."`
}

// Found is a page of what a search found.
type Found struct {
	Items    []FoundItem        `json:"items"`
	Total    int64              `json:"total" doc:"How many match, over all pages; where each story comes once, it may be how many stories. Of what the store found, how many at least."`
	Next     string             `json:"next,omitempty" doc:"Cursor of the next page; absent on the last."`
	Facets   map[string][]Facet `json:"facets,omitempty"`
	Forgiven bool               `json:"forgiven,omitempty" doc:"No item has all the words; these have words that are nearly those."`
	By       string             `json:"by,omitempty" enum:"store" doc:"Who found this, if not the index: the store, newest first, by title and excerpt."`
	Why      string             `json:"why,omitempty" doc:"Why it was not the index, in words."`
}

// ByStore is By of what the store found, since the index did not answer.
const ByStore = "store"

// A Facet says how many matches have a value.
type Facet struct {
	Value string `json:"value"`
	Label string `json:"label" doc:"The value for people: a feed's title for its ID."`
	Count int64  `json:"count"`
}

func (s *Server) searchRoutes(api huma.API) {
	huma.Register(api, op("GET", "/api/search", "search", "Find items", 400, 503),
		func(ctx context.Context, in *Search) (*body[Found], error) {
			found, err := s.Search(ctx, *in)
			if err != nil {
				return nil, s.problem(err)
			}
			return &body[Found]{Body: found}, nil
		})
	faulty := api.OpenAPI().Components.Schemas.Map()["ErrorModel"]
	faulty.Properties["pos"] = &huma.Schema{Type: "integer", Description: "Of a query that can't be understood: the bytes before the character at fault."}
}

// Search finds items. The index says which, the store what they are: an item
// that is no longer stored is left out. If the index does not answer, the store
// finds what it can. The error may be a [query.Fault].
func (s *Server) Search(ctx context.Context, q Search) (Found, error) {
	c, err := readCursor(q.Cursor, s.Now())
	if err != nil {
		return Found{}, fmt.Errorf("search: %w", err)
	}
	asked, err := q.asked(c)
	if err != nil {
		return Found{}, err
	}
	if asked.Where, err = s.namedFeeds(ctx, asked.Where); err != nil {
		return Found{}, fmt.Errorf("search: %w", err)
	}
	found, results, err := s.find(ctx, asked, c)
	if err != nil {
		return Found{}, fmt.Errorf("search: %w", err)
	}
	titles := s.titles(ctx)
	found.Items, err = s.foundItems(ctx, results.Hits, titles, newMarker(asked.Where, results.Forgiven))
	if err != nil {
		return Found{}, err
	}
	if results.Facets != nil {
		found.Facets = map[string][]Facet{}
		for name, counts := range results.Facets {
			found.Facets[name] = facets(name, counts, titles)
		}
	}
	return found, nil
}

// asked returns what the search asks of an index.
func (q Search) asked(c cursor) (storage.Query, error) {
	parse := query.Parse
	if q.Typing {
		parse = query.ParseTyping
	}
	typed, err := parse(q.Query, c.at)
	var fault *query.Fault
	if errors.As(err, &fault) {
		return storage.Query{}, fmt.Errorf("the query can't be understood at character %d: %w", utf8.RuneCountInString(q.Query[:fault.Pos])+1, err)
	}
	var where query.And
	for _, is := range []query.Is{ // in one order, or cursors would not fit
		{Field: query.Feed, Value: q.Feed}, {Field: query.Category, Value: q.Category}, {Field: query.Topic, Value: q.Topic},
		{Field: query.Flag, Value: q.Flag}, {Field: query.Language, Value: q.Language},
	} {
		if is.Value != "" {
			where = append(where, is)
		}
	}
	if !q.After.IsZero() || !q.Before.IsZero() {
		where = append(where, query.Time{From: q.After, Until: q.Before})
	}
	return storage.Query{
		Where: query.All(typed, where...), Spam: q.Spam, Duplicates: q.Duplicates, Muted: q.Muted, Once: q.Once,
		Newest: q.Sort == "newest", Now: c.at, Limit: q.Limit, Cursor: c.engine, Facets: q.Facets,
	}, nil
}

func facets(name string, counts []storage.FacetCount, titles func(string) string) []Facet {
	list := make([]Facet, len(counts))
	for i, c := range counts {
		list[i] = Facet{Value: c.Value, Label: c.Value, Count: c.Count}
		if name == "feed" {
			list[i].Label = titles(c.Value)
		}
	}
	return list
}

// A queryProblem is the answer to a query that can't be understood.
type queryProblem struct {
	huma.ErrorModel
	Pos int `json:"pos"`
}

func faultProblem(err error, fault *query.Fault) error {
	return &queryProblem{
		ErrorModel: huma.ErrorModel{Title: http.StatusText(http.StatusBadRequest), Status: http.StatusBadRequest, Detail: err.Error()},
		Pos:        fault.Pos,
	}
}

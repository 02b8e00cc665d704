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

// A Search is a search for items.
type Search struct {
	Query      string    `query:"q" maxLength:"1000" doc:"Words that must all occur, in any form, and conditions: \"a phrase\", -not, OR, brackets, begin*, title: author: feed: cat: topic: lang: host: story: is: after: before: age:. None: the newest items."`
	Typing     bool      `query:"typing" doc:"The query is still being typed: its last word is a prefix unless a space follows, and open quotes and brackets are no error."`
	Feed       string    `query:"feed" maxLength:"64" doc:"ID of a feed."`
	Category   string    `query:"category" maxLength:"64"`
	Topic      string    `query:"topic" maxLength:"64"`
	Flag       string    `query:"flag" enum:"adult,affiliate,muted,sponsored,starred" doc:"Only items that a rule or a list gave this flag."`
	Language   string    `query:"language" maxLength:"8" doc:"ISO 639-1 code, such as en or ru."`
	After      time.Time `query:"after" doc:"Published at or after."`
	Before     time.Time `query:"before" doc:"Published before."`
	Spam       bool      `query:"spam" doc:"Spam only; by default spam is excluded."`
	Duplicates bool      `query:"duplicates" doc:"Include duplicates; by default only originals are returned."`
	Muted      bool      `query:"muted" doc:"Include items that a rule muted."`
	Once       bool      `query:"once" doc:"Return only the first item of each story."`
	Sort       string    `query:"sort" enum:"best,newest" default:"best"`
	Facets     bool      `query:"facets" doc:"Count the matching items by category, topic, feed, language, day and sentiment."`
	Limit      int       `query:"limit" minimum:"1" maximum:"100" default:"20"`
	Cursor     string    `query:"cursor" maxLength:"4096" doc:"The value of next of the previous page."`
}

// SearchResults is a page of search results.
type SearchResults struct {
	Items  []FoundItem        `json:"items"`
	Total  int64              `json:"total" doc:"Number of matching items on all pages, or of stories if each is returned once; a lower bound if the store was searched."`
	Next   string             `json:"next,omitempty" doc:"Cursor of the next page; absent on the last."`
	Facets map[string][]Facet `json:"facets,omitempty"`
	Fuzzy  bool               `json:"forgiven,omitempty" doc:"No item contains all words; these contain similar words."`
	By     string             `json:"by,omitempty" enum:"store" doc:"Set to store if the index was unavailable and the store was searched, newest first, by title and excerpt."`
	Why    string             `json:"why,omitempty" doc:"Why the index was not used."`
}

// ByStore is the value of By if the store answered in place of an unavailable index.
const ByStore = "store"

// A Facet is the number of matches with a value.
type Facet struct {
	Value string `json:"value"`
	Label string `json:"label" doc:"Display name of the value, such as a feed's title for its ID."`
	Count int64  `json:"count"`
}

func (s *Server) searchRoutes(api huma.API) {
	huma.Register(api, op("GET", "/api/search", "search", "Find items", 400, 503),
		func(ctx context.Context, in *Search) (*body[SearchResults], error) {
			found, err := s.Search(ctx, *in)
			if err != nil {
				return nil, s.problem(err)
			}
			return &body[SearchResults]{Body: found}, nil
		})
	errorSchema := api.OpenAPI().Components.Schemas.Map()["ErrorModel"]
	errorSchema.Properties["pos"] = &huma.Schema{Type: "integer", Description: "Of a query that can't be understood: the bytes before the character at fault."}
}

// Search returns a page of matching items. The index finds them and the store returns them, so items removed
// since are skipped. If the index does not answer in time, the store searches its newest items. The error may
// be a query syntax error.
func (s *Server) Search(ctx context.Context, q Search) (SearchResults, error) {
	c, err := readCursor(q.Cursor, s.Now())
	if err != nil {
		return SearchResults{}, fmt.Errorf("search: %w", err)
	}
	parsed, err := q.indexQuery(c)
	if err != nil {
		return SearchResults{}, err
	}
	if parsed.Where, err = s.namedFeeds(ctx, parsed.Where); err != nil {
		return SearchResults{}, fmt.Errorf("search: %w", err)
	}
	found, results, err := s.find(ctx, parsed, c)
	if err != nil {
		return SearchResults{}, fmt.Errorf("search: %w", err)
	}
	titles := s.titles(ctx)
	found.Items, err = s.foundItems(ctx, results.Hits, titles, newHighlighter(parsed.Where, results.Fuzzy))
	if err != nil {
		return SearchResults{}, err
	}
	if results.Facets != nil {
		found.Facets = map[string][]Facet{}
		for name, counts := range results.Facets {
			found.Facets[name] = facets(name, counts, titles)
		}
	}
	return found, nil
}

// indexQuery converts the search to a query of the index.
func (q Search) indexQuery(c cursor) (storage.Query, error) {
	parse := query.Parse
	if q.Typing {
		parse = query.ParsePartial
	}
	typed, err := parse(q.Query, c.at)
	var syntaxErr *query.SyntaxError
	if errors.As(err, &syntaxErr) {
		return storage.Query{}, fmt.Errorf("the query can't be understood at character %d: %w", utf8.RuneCountInString(q.Query[:syntaxErr.Offset])+1, err)
	}
	var where query.And
	for _, is := range []query.FieldEquals{ // in a fixed order, since cursors contain a hash of the query
		{Field: query.Feed, Value: q.Feed}, {Field: query.Category, Value: q.Category}, {Field: query.Topic, Value: q.Topic},
		{Field: query.Flag, Value: q.Flag}, {Field: query.Language, Value: q.Language},
	} {
		if is.Value != "" {
			where = append(where, is)
		}
	}
	if !q.After.IsZero() || !q.Before.IsZero() {
		where = append(where, query.TimeRange{From: q.After, Until: q.Before})
	}
	return storage.Query{
		Where: query.All(typed, where...), Spam: q.Spam, Duplicates: q.Duplicates, Muted: q.Muted, OnePerStory: q.Once,
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

// A queryProblem is the response to a query with a syntax error.
type queryProblem struct {
	huma.ErrorModel
	Pos int `json:"pos"`
}

func queryError(err error, syntaxErr *query.SyntaxError) error {
	return &queryProblem{
		ErrorModel: huma.ErrorModel{Title: http.StatusText(http.StatusBadRequest), Status: http.StatusBadRequest, Detail: err.Error()},
		Pos:        syntaxErr.Offset,
	}
}

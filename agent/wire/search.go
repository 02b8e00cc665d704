package wire

import (
	"time"

	"feedmesh/agent/access"
	"feedmesh/storage"
)

// A FoundItem is an item with the passages that match a search.
type FoundItem struct {
	storage.Item
	FeedTitle  string         `json:"feed_title"`
	Score      float64        `json:"score,omitempty"`
	TitleSpans []Span         `json:"title_spans" doc:"The title, in pieces that match and pieces that do not."`
	TextSpans  []Span         `json:"text_spans" doc:"A passage of the text, likewise."`
	Coverage   *StoryCoverage `json:"told,omitempty" doc:"Coverage of its story; absent if a single publisher carries it."`
}

// A Span is a piece of a text.
type Span struct {
	Text string `json:"text"`
	Hit  bool   `json:"hit,omitempty"` // the piece is a matching word
}

// A StoryCoverage is how many items and publishers carry a story.
type StoryCoverage struct {
	Items   int `json:"items"`
	Sources int `json:"sources" doc:"Different publishers."`
}

// A Search is a search for items.
type Search struct {
	Query      string    `query:"q" maxLength:"1000" doc:"Words that must all occur, in any form, and conditions: \"a phrase\", -not, OR, brackets, begin*, title: author: feed: cat: topic: lang: host: story: is: after: before: age:. None: the newest items."`
	Typing     bool      `query:"typing" doc:"The query is still being typed: its last word is a prefix unless a space follows, and open quotes and brackets are no error."`
	Feed       string    `query:"feed" maxLength:"64" doc:"ID of a feed."`
	Category   string    `query:"category" maxLength:"64" doc:"Only items of this category."`
	Topic      string    `query:"topic" maxLength:"64" doc:"Only items with this topic."`
	Flag       string    `query:"flag" enum:"adult,affiliate,muted,sponsored,starred" doc:"Only items that a rule or a list gave this flag."`
	Language   string    `query:"language" maxLength:"8" doc:"ISO 639-1 code, such as en or ru."`
	After      time.Time `query:"after" doc:"Published at or after."`
	Before     time.Time `query:"before" doc:"Published before."`
	Spam       bool      `query:"spam" doc:"Spam only; by default spam is excluded."`
	Duplicates bool      `query:"duplicates" doc:"Include duplicates; by default only originals are returned."`
	Muted      bool      `query:"muted" doc:"Include items that a rule muted."`
	Once       bool      `query:"once" doc:"Return only the first item of each story."`
	Unique     int       `query:"unique" minimum:"0" maximum:"100" doc:"Hide results that agree with one above them on the page in at least this percentage of word shingles, which is then filled with others. 0: the setting of the node, none with duplicates."`
	Semantic   int       `query:"semantic" minimum:"0" maximum:"100" doc:"Weight of similarity in meaning for the best matches, in percent: 0 finds items by their words, 100 by meaning only. At most 200 results; facets count items by their words. It needs Meilisearch with an embedder."`
	Digest     bool      `query:"digest" doc:"Summarize the first results: sentences of different publishers with the words of the query."`
	Sort       string    `query:"sort" enum:"best,newest" default:"best" doc:"best: best match first; newest: newest item first."`
	Facets     bool      `query:"facets" doc:"Count the matching items by category, topic, feed, language, day and sentiment."`
	Limit      int       `query:"limit" minimum:"1" maximum:"100" default:"20" doc:"Maximum length of the page."`
	Cursor     string    `query:"cursor" maxLength:"4096" doc:"The value of next of the previous page."`
}

// SearchResults is a page of search results.
type SearchResults struct {
	Items    []FoundItem        `json:"items"`
	Total    int64              `json:"total" doc:"Number of matching items on all pages, or of stories if each is returned once; a lower bound if the store was searched."`
	Next     string             `json:"next,omitempty" doc:"Cursor of the next page; absent on the last."`
	Facets   map[string][]Facet `json:"facets,omitempty"`
	Fuzzy    bool               `json:"forgiven,omitempty" doc:"No item contains all words; these contain similar words."`
	Hidden   []HiddenItem       `json:"hidden,omitempty" doc:"Results that were hidden because they are not unique enough."`
	Semantic bool               `json:"semantic,omitempty" doc:"Semantic searches are possible: the index has an embedder."`
	Digest   []Quote            `json:"digest,omitempty" doc:"Sentences of the results that summarize them, if requested."`
	By       string             `json:"by,omitempty" enum:"store" doc:"Set to store if the index was unavailable and the store was searched, newest first, by title and excerpt."`
	Why      string             `json:"why,omitempty" doc:"Why the index was not used."`
}

// A HiddenItem is a result that was hidden because it is not unique enough.
type HiddenItem struct {
	ID      string  `json:"id"`
	Title   string  `json:"title"`
	URL     string  `json:"url,omitempty"`
	Of      string  `json:"of" doc:"ID of the result that it repeats."`
	Percent float64 `json:"percent" doc:"Share of word shingles that both have in common."`
	Why     string  `json:"why" doc:"The same in words."`
}

// ByStore is the value of By if the store answered in place of an unavailable index.
const ByStore = "store"

// A Facet is the number of matches with a value.
type Facet struct {
	Value string `json:"value"`
	Label string `json:"label" doc:"Display name of the value, such as a feed's title for its ID."`
	Count int64  `json:"count"`
}

// Suggestions are words that complete a query.
type Suggestions struct {
	Words []storage.FacetCount `json:"words" doc:"Words of titles, the most frequent first, with about how many items have each."`
}

// A SuggestRequest is a request for words that complete a query.
type SuggestRequest struct {
	Prefix string `query:"prefix" maxLength:"64" doc:"Prefix: the start of the last word of a query. Empty: no suggestions."`
	Limit  int    `query:"limit" minimum:"1" maximum:"20" default:"8" doc:"Maximum number of words."`
}

// A ListSimilarRequest is a request for items similar to one item.
type ListSimilarRequest struct {
	ID    string `path:"id" maxLength:"64" doc:"ID of an item."`
	Limit int    `query:"limit" minimum:"1" maximum:"20" default:"10" doc:"Maximum number of items."`
}

// The operations that find items.
var (
	SearchItems = Operation[Search, SearchResults]{ID: "search", Method: "GET", Path: "/api/search", Tag: "search", Scope: access.Search,
		Summary: "Find items", Errors: []int{400, 503}}
	SuggestWords = Operation[SuggestRequest, Suggestions]{ID: "suggest", Method: "GET", Path: "/api/suggest", Tag: "search", Scope: access.Search,
		Summary: "Complete a word from titles", Errors: []int{503}}
	ListSimilar = Operation[ListSimilarRequest, Similar]{ID: "list-similar", Method: "GET", Path: "/api/items/{id}/similar", Tag: "search", Scope: access.Search,
		Summary: "Items with similar content", Errors: []int{404, 503}}
)

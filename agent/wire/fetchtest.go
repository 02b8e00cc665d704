package wire

import (
	"time"

	"feedmesh/agent/access"
	"feedmesh/subjects"
)

// A Comparison is the second opinion of gofeed on a tested document.
type Comparison struct {
	Parser  string      `json:"parser" doc:"Name and version of the other parser."`
	Error   string      `json:"error,omitempty" doc:"Why the other parser returned no entries."`
	Title   string      `json:"title,omitempty"`
	Format  string      `json:"format,omitempty"`
	Entries int         `json:"entries" doc:"Number of entries that it found."`
	Same    int         `json:"same" doc:"Entries that both parsers read alike."`
	Differ  int         `json:"differ" doc:"Entries that only one of the parsers found, or that differ in title, link or date."`
	Pairs   []EntryPair `json:"pairs" doc:"The first of those that differ, at most 20."`
}

// A FetchTestRequest selects what a test fetches: a stored feed, or an address.
type FetchTestRequest struct {
	Feed    string `json:"feed,omitempty" maxLength:"64" doc:"ID of a stored feed, which is fetched with its settings."`
	URL     string `json:"url,omitempty" maxLength:"4096" doc:"An address, in place of a feed."`
	Compare bool   `json:"compare,omitempty" doc:"Also parse the document with gofeed, and list the entries that differ."`
}

// A TestFetchRequest tests the fetch of a feed or an address.
type TestFetchRequest struct {
	Body FetchTestRequest
}

// A FetchTest is the result of a test fetch. Nothing of it is stored.
type FetchTest struct {
	URL      string        `json:"url"`
	Hops     []FetchHop    `json:"hops" doc:"Each request and its answer: the last is that of the document, those before it redirected."`
	Proxy    string        `json:"proxy,omitempty" doc:"ID of the proxy used."`
	Took     int64         `json:"took_ms" doc:"For all of it."`
	Size     int64         `json:"size" doc:"Bytes of the document, unpacked."`
	Problem  *FeedProblem  `json:"problem,omitempty" doc:"Why no feed was read."`
	Error    string        `json:"error,omitempty" doc:"The original error text."`
	Title    string        `json:"title,omitempty"`
	Format   string        `json:"format,omitempty" doc:"RSS, Atom, RDF or JSON Feed."`
	Entries  int           `json:"entries" doc:"Number of entries."`
	First    []TestedEntry `json:"first" doc:"The first of them, at most ten."`
	Repaired string        `json:"mended,omitempty" doc:"Entries of the document that were left out, and damage that the parser repaired."`

	Comparison *Comparison `json:"comparison,omitempty" doc:"The result of another parser, if the request has compare."`
}

// LeftOut returns which entries were left out, as text.
func (t FetchTest) LeftOut() string {
	leftOut, _ := subjects.SplitMalformed(t.Repaired)
	return leftOut
}

// Defects returns the damage that the parser repaired, as text.
func (t FetchTest) Defects() string {
	_, repaired := subjects.SplitMalformed(t.Repaired)
	return repaired
}

// A FetchHop is one request of a test, with its answer.
type FetchHop struct {
	URL      string        `json:"url"`
	Sent     []FetchHeader `json:"sent" doc:"By name; secrets are redacted."`
	Status   int           `json:"status"`
	Received []FetchHeader `json:"received" doc:"By name, likewise."`
	After    int64         `json:"after_ms" doc:"When the answer began, from the start of the test."`
}

// A FetchHeader is one line of a header.
type FetchHeader struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// A TestedEntry is an entry of a feed before any processing.
type TestedEntry struct {
	Title     string    `json:"title,omitempty"`
	Link      string    `json:"link,omitempty"`
	Published time.Time `json:"published,omitzero"`
}

// TestFetch fetches a feed and returns each request and answer.
var TestFetch = Operation[TestFetchRequest, FetchTest]{ID: "test-fetch", Method: "POST", Path: "/api/feeds/test-fetch", Tag: "feeds", Scope: access.Write,
	Summary:     "Fetch a feed like a crawl and return every detail",
	Description: "Changes nothing, and requests the whole document. One test at a time for each client.", Errors: []int{400, 404, 409, 422, 429, 503}}

// A ParsedEntry holds the fields of an entry that are compared.
type ParsedEntry struct {
	Title     string    `json:"title,omitempty"`
	Link      string    `json:"link,omitempty"`
	Published time.Time `json:"published,omitzero"`
}

// An EntryPair is one entry as two parsers read it. Ours or Theirs is nil where that
// parser did not find the entry.
type EntryPair struct {
	Ours    *ParsedEntry `json:"ours,omitempty"`
	Theirs  *ParsedEntry `json:"theirs,omitempty"`
	Differs []string     `json:"differs,omitempty"` // only where both found it
}

// Same reports whether both parsers read the entry alike.
func (r EntryPair) Same() bool { return r.Ours != nil && r.Theirs != nil && len(r.Differs) == 0 }

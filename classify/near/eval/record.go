// Package eval measures how well near-duplicates are found, by our method and by
// those of our sources, on labelled items.
package eval

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"net/url"
	"strings"

	"feedmesh/classify/near"
	"feedmesh/classify/text"
)

// An Item is a labelled item.
type Item struct {
	ID       string
	Title    string
	Text     string // plain
	Language string
	Feed     string // a feed, or the host where only that is known
	Group    string // items of one group repeat one another
	Relation string // how this one was made of the original; "" if nobody says
	Story    string // items of one story tell of one event
	Test     bool   // it belongs to the half that nothing was tuned on
	Watch    bool   // its address tells it from others by the query alone
}

// A line is an item as it stands in a file.
type line struct {
	ID, Title, Body, Lang, URL, Host, Feed, Relation, Story string
	Group                                                   string `json:"dup_group"`
}

// maxItems bounds what is read of a file.
const maxItems = 2_000_000

// Read reads labelled items, one JSON object a line, packed by gzip or not:
//
//	{"id": "1", "title": "Helm 4", "body": "<p>...</p>", "url": "https://helm.sh/4",
//	 "dup_group": "a", "relation": "original"}
//
// or with a story in place of a dup_group. Errors name the line.
func Read(r io.Reader) ([]Item, error) {
	in := bufio.NewReader(r)
	if magic, _ := in.Peek(2); string(magic) == "\x1f\x8b" {
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, err
		}
		in = bufio.NewReader(z)
	}
	var items []Item
	for lines := json.NewDecoder(in); len(items) < maxItems; {
		var l line
		if err := lines.Decode(&l); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("line %d: %w", len(items)+1, err)
		}
		items = append(items, l.item())
	}
	return items, nil
}

func (l line) item() Item {
	item := Item{
		ID: l.ID, Title: l.Title, Text: text.Plain(l.Body), Language: l.Lang, Feed: l.Feed,
		Group: l.Group, Relation: l.Relation, Story: l.Story, Test: inTest(l.Group + l.Story),
	}
	if item.Feed == "" {
		item.Feed = l.Host
	}
	if l.Group+l.Story == "" {
		item.Group = l.ID // like no other
	}
	if u, err := url.Parse(l.URL); err == nil {
		item.Feed = cmp.Or(item.Feed, strings.ToLower(u.Host))
		item.Watch = u.Path == "/watch"
	}
	return item
}

// inTest reports whether the items of a group or story are of the test half. The
// rule is FNV-32a(label)>>4&1: 0 is train and 1 is test.
func inTest(label string) bool {
	h := fnv.New32a()
	io.WriteString(h, label)
	return h.Sum32()>>4&1 == 1
}

// mark returns what an index is told of an item: words and feed, no address, as
// that would give the answer away.
func (i Item) mark(s *near.Settings) near.Mark {
	return near.Mark{ItemID: i.ID, FeedID: i.Feed, TextHash: near.TextHash(i.Title, i.Text), Sketch: s.Sketch(i.Title, i.Text)}
}

// Package eval measures the detection of near-duplicates on labelled items: our method ([PlaceCopies],
// [Costs]) and those of the sources ([CompareCopies], [CompareTitles]).
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
	Feed     string // a feed or site that lists items, or the host of the address if that is not labelled
	Group    string // items of one group are duplicates
	Relation string // kind of copy; "" if not labelled
	Story    string // items of one story report one event
	Test     bool   // in the half that no threshold was tuned on
	Reposted bool   // its source lists posts of others, so that a story is an address
	Watch    bool   // only the query of its address identifies it
}

// A line is the JSON form of an item.
type line struct {
	ID, Title, Body, Lang, URL, Host, Feed, Source, Relation, Story string
	Group                                                           string `json:"dup_group"`
}

// maxItems bounds the items read from a file.
const maxItems = 2_000_000

// Read reads labelled items, one JSON object a line, optionally compressed by gzip:
//
//	{"id": "1", "title": "Helm 4", "body": "<p>...</p>", "url": "https://helm.sh/4",
//	 "dup_group": "a", "relation": "original"}
//
// or with a story in place of a dup_group. Errors contain the line number.
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
		ID: l.ID, Title: l.Title, Text: text.PlainText(l.Body), Language: l.Lang, Feed: cmp.Or(l.Feed, l.Source),
		Group: l.Group, Relation: l.Relation, Story: l.Story, Test: inTest(l.Group + l.Story),
	}
	item.Reposted = l.Source != ""
	if item.Feed == "" {
		item.Feed = l.Host
	}
	if l.Group+l.Story == "" {
		item.Group = l.ID // unique
	}
	if u, err := url.Parse(l.URL); err == nil {
		item.Feed = cmp.Or(item.Feed, strings.ToLower(u.Host))
		item.Watch = u.Path == "/watch"
	}
	return item
}

// inTest reports whether the items of a group or story are in the test half. The rule is FNV-32a(label)>>4&1:
// 0 is train and 1 is test.
func inTest(label string) bool {
	h := fnv.New32a()
	io.WriteString(h, label)
	return h.Sum32()>>4&1 == 1
}

// mark returns the signature of an item: words and feed, without the address, which would reveal the label.
func (i Item) mark(s *near.Settings) near.Signature {
	return near.Signature{ItemID: i.ID, FeedID: i.Feed, TextHash: near.TextHash(i.Title, i.Text), Sketch: s.Sketch(i.Title, i.Text)}
}

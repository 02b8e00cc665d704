package eval

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"iter"
	"net/url"
	"slices"
	"strings"
)

// A Record is a labeled item.
type Record struct {
	ID         string
	Title      string
	Body       string
	Language   string
	URL        string // the root of the host if only the host is known
	Author     string
	FeedTitle  string
	Labels     []string // by the publisher or a site; their meaning depends on the set
	Categories []string
	Spam       *bool // nil: unknown
}

// Categories of news in public sets.
var (
	generalCategories = []string{"economy", "entertainment", "health", "not_news", "politics", "society", "sports"}
	mixedCategories   = []string{"other", "science-technology", "technology"} // items may belong to any category or to none
)

// IsGeneral reports whether all categories of the record are those of general news, which no category of IT fits.
func (r Record) IsGeneral() bool {
	return len(r.Categories) > 0 && !slices.ContainsFunc(r.Categories, func(c string) bool { return !slices.Contains(generalCategories, c) })
}

// A Part is a part of a set. A hash of the record's ID determines the part, so that every split of a set is
// the same.
type Part string

// The parts of a set.
const (
	All   Part = "all"
	Train Part = "train"
	Test  Part = "test"
)

// Contains reports whether the record with an ID is in the part. If FNV-32a(id)>>4&3 is 3, as for a quarter
// of the records, the part is test, otherwise train.
func (h Part) Contains(id string) bool {
	if h == All {
		return true
	}
	sum := fnv.New32a()
	io.WriteString(sum, id)
	return (sum.Sum32()>>4&3 != 3) == (h == Train)
}

const (
	maxLine    = 4 << 20 // bytes of a record
	maxRecords = 2_000_000
)

// Records reads labeled items, one JSON object a line, optionally compressed by gzip:
//
//	{"id": "1", "title": "Helm 4", "body": "", "lang": "en", "url": "https://helm.sh/",
//	 "category": ["devops"], "label": "ham"}
//
// category is a name or a list of names; host replaces a missing url; label is "spam" or "ham". Reading stops
// at the first error, which is yielded with its line.
func Records(r io.Reader) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		in := bufio.NewReader(r)
		if head, _ := in.Peek(2); string(head) == "\x1f\x8b" {
			z, err := gzip.NewReader(in)
			if err != nil {
				yield(Record{}, err)
				return
			}
			in = bufio.NewReader(z)
		}
		lines := bufio.NewScanner(in)
		lines.Buffer(nil, maxLine)
		n := 0
		for lines.Scan() {
			n++
			if len(strings.TrimSpace(lines.Text())) == 0 {
				continue
			}
			record, err := parse(lines.Bytes())
			if err == nil && n > maxRecords {
				err = errors.New("too many records")
			}
			if err != nil {
				yield(Record{}, fmt.Errorf("line %d: %w", n, err))
				return
			}
			if !yield(record, nil) {
				return
			}
		}
		if err := lines.Err(); err != nil {
			yield(Record{}, fmt.Errorf("line %d: %w", n+1, err))
		}
	}
}

// names is a name or a list of names.
type names []string

// UnmarshalJSON implements [json.Unmarshaler].
func (l *names) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) == nil {
		if *l = nil; one != "" {
			*l = names{one}
		}
		return nil
	}
	var list []string
	if err := json.Unmarshal(text, &list); err != nil {
		return errors.New("want a name or a list of names")
	}
	*l = slices.DeleteFunc(list, func(s string) bool { return s == "" })
	return nil
}

func parse(line []byte) (Record, error) {
	var v struct {
		ID, Title, Body, Lang, URL, Host, Author, Feed, Label string
		Tags, Category                                        names
	}
	if err := json.Unmarshal(line, &v); err != nil {
		return Record{}, err
	}
	r := Record{
		ID: v.ID, Title: v.Title, Body: v.Body, Language: v.Lang, URL: v.URL,
		Author: v.Author, FeedTitle: v.Feed, Labels: v.Tags, Categories: v.Category,
	}
	if r.URL == "" && v.Host != "" {
		r.URL = (&url.URL{Scheme: "https", Host: v.Host, Path: "/"}).String()
	}
	if v.Label != "" {
		spam := v.Label == "spam"
		r.Spam = &spam
	}
	return r, nil
}

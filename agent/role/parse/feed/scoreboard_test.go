package feed

import (
	"cmp"
	"fmt"
	"html"
	"maps"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/text/encoding/charmap"

	"feedmesh/tests/corpus"
)

// A reading is the result of the reference, Python's feedparser, for a document: a second opinion, not the
// truth.
type reading struct {
	File     string `json:"file"`
	Encoding string `json:"encoding"`
	Feed     struct {
		Title string `json:"title"`
	} `json:"feed"`
	Entries []readEntry `json:"entries"`
}

type readEntry struct {
	ID        string `json:"id"`
	Title     string `json:"title"`
	Link      string `json:"link"`
	Published *int64 `json:"published"`
	Updated   *int64 `json:"updated"`
	Summary   int    `json:"summary_chars"`
	Content   int    `json:"content_chars"`
}

// Minimum figures of the scoreboard, of 399 documents and of 79 twins.
const (
	wantAgree = 399
	wantTwins = 75
)

// verdicts state which parser is right in each kind of disagreement: ours, the reference, or either.
var verdicts = map[string]string{
	"entries: it read nothing":           "ours is right: it stumbles over an encoding label, gzip or UTF-16 and reads no entry, or takes JSON for none",
	"entries: the same one twice":        "ours is right: entries that agree in everything are one",
	"entries: empty ones":                "ours is right: an item with nothing in it is none",
	"entries: old versions within items": "ours is right: Simple Sharing keeps superseded versions in an item's history",
	"title: encoded twice":               "ours is right: we undo it for the whole document, it only where every character of a string is below U+0100",
	"title: looks encoded twice":         "either: it undoes one string of a document that is sound elsewhere; one of these titles is about just that",
	"title: wrong character set":         "ours is right: bytes that are UTF-8 are, whatever the label",
	"link: original behind FeedBurner":   "ours is right: origLink is what FeedBurner's redirect leads to",
	"link: absolute":                     "ours is right: it leaves links relative, because it did not get the document's address",
	"link: no web address":               "ours is right: a tag or a GUID cannot be opened",
	"link: from elsewhere in the entry":  "ours is right: a permalink GUID, or rdf:about",
	"link: same address":                 "either: spaces, letters or a fragment are escaped or not",
	"link: one of two pages":             "either: the entry has two alternates without any order",
	"link: base of the item before":      "ours is right: xml:base ends with its element",
	"published: it read none":            "ours is right: Dublin Core's date, or a form it does not know",
	"published: the year 1":              "ours is right: programs write the zero of their calendar for no date",
	"published: nobody's zone":           "ours is right: +3000 is no offset, and no date is better than a wrong one",
	"published: zone or half of the day": "ours is right: it ignores names of zones and pm",
	"updated: seconds":                   "ours is right: a number is seconds since 1970",
	"title: it read none":                "ours is right: it has lost the title in a document of two documents",
	"updated: copied from published":     "ours is right: it fills updated with the published date",
	"charset: superset":                  "either: windows-1252 is what the web means by ISO 8859-1",
	"charset: it is UTF-8":               "ours is right: bytes that are UTF-8 are, whatever the label",
	"charset: of no feed":                "either: one of us read nothing",
}

// A board counts agreements by the compared property.
type board struct {
	agree, differ map[string]int      // by property
	reasons       map[string][]string // files by kind of disagreement
}

// TestCorpusScoreboard compares the result for each document with the reference. It fails for a disagreement
// without an explanation or with a verdict against this package. With -v it logs each kind with its
// documents.
func TestCorpusScoreboard(t *testing.T) {
	root := corpus.Folder(t, "feeds")
	references := make(map[string]reading)
	for _, r := range corpus.Lines[reading](t, filepath.Join(root, "reference.jsonl.gz")) {
		references[r.File] = r
	}
	b := board{map[string]int{}, map[string]int{}, map[string][]string{}}
	samples := corpus.Lines[sample](t, filepath.Join(root, "manifest.jsonl"))
	good, read, malformed := 0, 0, 0
	for _, s := range samples {
		raw := body(t, root, s)
		doc, err := Parse(raw, "", s.URL)
		checkInvariants(t, s.File, doc, err)
		reasons := b.compare(raw, doc, err, references[s.File])
		if len(doc.Entries) > 0 {
			read++
		}
		if doc.Malformed != "" {
			malformed++
		}
		// A sound document may contain two roots or have a character set applied twice.
		if s.WellFormed && doc.Malformed != "" && doc.Malformed != doubleEncoded.String() && doc.Malformed != (junkBefore|junkAfter).String() {
			t.Errorf("%s is sound, but reported as: %s", s.File, doc.Malformed)
		}
		unexplained := false
		for _, reason := range reasons {
			b.reasons[reason] = append(b.reasons[reason], strings.TrimPrefix(s.File, "files/"))
			unexplained = unexplained || verdicts[reason] == ""
		}
		if !unexplained {
			good++
		}
	}
	t.Logf("%d documents: %d with entries, %d malformed; in %d we agree or explain why not", len(samples), read, malformed, good)
	for _, what := range slices.Sorted(maps.Keys(b.agree)) {
		t.Logf("%-10s %6d agree %5d differ", what, b.agree[what], b.differ[what])
	}
	for _, reason := range slices.Sorted(maps.Keys(b.reasons)) {
		files := b.reasons[reason]
		t.Logf("%4d documents  %s\n    %s\n    %s", len(files), reason, cmp.Or(verdicts[reason], "UNEXPLAINED"), strings.Join(files[:min(len(files), 6)], " "))
	}
	for reason := range verdicts {
		if len(b.reasons[reason]) == 0 {
			t.Errorf("nothing differs any more because of %q", reason)
		}
	}
	if good < wantAgree {
		t.Errorf("%d documents agree or are explained, want %d", good, wantAgree)
	}
}

// compare returns the differences between our result for a document and the reference.
func (b *board) compare(raw []byte, doc Document, err error, ref reading) []string {
	found := make(map[string]bool)
	note := func(what, reason string) {
		if reason == "" {
			b.agree[what]++
			return
		}
		b.differ[what]++
		found[what+": "+reason] = true
	}
	note("charset", charsetReason(doc, err, ref))
	entries := entriesReason(raw, doc, ref)
	note("entries", entries)
	if entries == "" {
		note("title", titleReason(doc, doc.Title, ref.Feed.Title))
		for i, e := range doc.Entries {
			r := ref.Entries[i]
			note("title", titleReason(doc, e.Title, r.Title))
			note("link", linkReason(raw, e, r))
			note("published", publishedReason(e, r))
			note("updated", updatedReason(raw, e, r))
		}
	}
	return slices.Collect(maps.Keys(found))
}

func charsetReason(doc Document, err error, ref reading) string {
	want := strings.ToLower(ref.Encoding)
	switch {
	case doc.Charset == want || strings.TrimRight(doc.Charset, "bel") == want:
		return ""
	case err != nil, len(ref.Entries) == 0:
		return "of no feed"
	case doc.Charset == "windows-1252" && want == "iso-8859-1":
		return "superset"
	case doc.Charset == "utf-8":
		return "it is UTF-8"
	}
	return fmt.Sprintf("%s, not %s", doc.Charset, want)
}

func entriesReason(raw []byte, doc Document, ref reading) string {
	distinct := make(map[string]bool)
	full := 0
	for _, e := range ref.Entries {
		said := fmt.Sprint(e.ID, "|", e.Title, "|", e.Link, "|", e.Summary, "|", e.Content)
		if said != "||||0|0" && said != "| | |0|0" && said != "|||0|0" {
			full++
		}
		if e.Published != nil {
			said += time.Unix(*e.Published, 0).String()
		}
		distinct[said] = true
	}
	switch got := len(doc.Entries); {
	case got == len(ref.Entries):
		return ""
	case len(ref.Entries) == 0:
		return "it read nothing"
	case strings.Contains(string(raw), "<sx:history"):
		return "old versions within items"
	case got == full:
		return "empty ones"
	case len(distinct) <= got && got < len(ref.Entries):
		return "the same one twice"
	default:
		return fmt.Sprintf("%d, not %d", got, len(ref.Entries))
	}
}

var markup = regexp.MustCompile(`<[^<>]*>|[^\p{L}\p{N}]+`)

// words returns the words of a title, which feedparser sanitizes.
func titleWords(s string) string {
	s = html.UnescapeString(html.UnescapeString(s))
	return strings.TrimSpace(markup.ReplaceAllString(s, " "))
}

func titleReason(doc Document, got, want string) string {
	twice, err := charmap.ISO8859_1.NewEncoder().String(html.UnescapeString(got))
	switch {
	case titleWords(got) == titleWords(want):
		return ""
	case strings.Contains(doc.Malformed, "applied twice"):
		return "encoded twice"
	case err == nil && titleWords(twice) == titleWords(want):
		return "looks encoded twice"
	case want == "" && got != "":
		return "it read none"
	case doc.Charset == "utf-8" && strings.Contains(want, "â"):
		return "wrong character set"
	}
	return fmt.Sprintf("%q, not %q", got, want)
}

func linkReason(raw []byte, e Entry, r readEntry) string {
	got, want := e.Link, r.Link
	unescaped, _ := url.PathUnescape(got)
	isWebAddress := strings.HasPrefix(want, "http")
	switch {
	case got == want:
		return ""
	case unescaped == want || unescaped+"/" == want || got == strings.ReplaceAll(want, " ", "%20"):
		return "same address"
	case want == "" && got != "":
		return "from elsewhere in the entry"
	case strings.Contains(want, ":") && !isWebAddress, got == "" && !isWebAddress:
		return "no web address"
	case !isWebAddress && (strings.HasSuffix(got, strings.TrimLeft(want, "./")) || !strings.HasPrefix(got, "http")):
		return "absolute"
	case strings.Contains(string(raw), "origLink>"+strings.ReplaceAll(got, "&", "&amp;")+"<"):
		return "original behind FeedBurner"
	case strings.Contains(string(raw), "xml:base") && strings.HasSuffix(want, strings.TrimPrefix(got, "https://example.com")):
		return "base of the item before"
	case strings.Contains(string(raw), `"`+got+`"`) && strings.Contains(string(raw), `"`+want+`"`):
		return "one of two pages"
	}
	return fmt.Sprintf("%q, not %q", got, want)
}

func publishedReason(e Entry, r readEntry) string {
	switch {
	case r.Published == nil && e.Published.IsZero(), r.Published != nil && e.Published.Unix() == *r.Published:
		if e.Published.IsZero() && r.Published != nil {
			return "the year 1"
		}
		return ""
	case r.Published == nil:
		return "it read none"
	case time.Unix(*r.Published, 0).UTC().Year() < 2:
		return "the year 1"
	case e.Published.IsZero() && strings.HasSuffix(e.Dated, "+3000"):
		return "nobody's zone"
	case regexp.MustCompile(`(?i)\d [ap]m|[A-Z]{3,4}$`).MatchString(e.Dated):
		return "zone or half of the day"
	}
	return fmt.Sprintf("%s of %q, not %s", e.Published, e.Dated, time.Unix(*r.Published, 0).UTC())
}

func updatedReason(raw []byte, e Entry, r readEntry) string {
	switch {
	case r.Updated == nil && e.Updated.IsZero(), r.Updated != nil && e.Updated.Unix() == *r.Updated:
		return ""
	case r.Updated != nil && r.Published != nil && *r.Updated == *r.Published:
		return "copied from published"
	case r.Updated == nil:
		return "it read none"
	}
	if !e.Updated.IsZero() && strings.Contains(string(raw), fmt.Sprint(e.Updated.Unix())) {
		return "seconds"
	}
	return fmt.Sprintf("%s, not %s", e.Updated, time.Unix(*r.Updated, 0).UTC())
}

// TestCorpus_Encodings parses one document in many encodings. All except those listed as beyond repair must
// yield entries, and the same entries if the encoding is declared.
func TestCorpus_Encodings(t *testing.T) {
	root := corpus.Folder(t, "feeds")
	samples := corpus.Lines[sample](t, filepath.Join(root, "encodings.jsonl"))
	equal := 0
	for _, s := range samples {
		doc, err := Parse(body(t, root, s), s.ContentType, s.URL)
		checkInvariants(t, s.File, doc, err)
		if len(doc.Entries) == 0 {
			t.Errorf("%s: no entries: %v", s.File, err)
		}
		if s.Base == "" {
			equal++
			continue
		}
		base, err := Parse(body(t, root, sample{File: s.Base}), "", s.URL)
		if err != nil {
			t.Fatalf("%s: %v", s.Base, err)
		}
		switch {
		case same(doc, base):
			equal++
		case s.Expect == "same":
			t.Errorf("%s: entries differ from those of %s", s.File, s.Base)
		default:
			t.Logf("%s: entries differ from those of %s (%s); read as %s, malformed: %s", s.File, s.Base, s.Expect, doc.Charset, doc.Malformed)
		}
	}
	t.Logf("%d twins: %d equal", len(samples), equal)
	if equal < wantTwins {
		t.Errorf("%d twins are equal, want %d", equal, wantTwins)
	}
}

func same(a, b Document) bool {
	if len(a.Entries) != len(b.Entries) || a.Title != b.Title {
		return false
	}
	for i := range a.Entries {
		if a.Entries[i].Hash != b.Entries[i].Hash || a.Entries[i].Key != b.Entries[i].Key {
			return false
		}
	}
	return true
}

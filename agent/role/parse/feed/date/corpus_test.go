package date

import (
	"bytes"
	"html"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html/charset"

	"feedmesh/tests/corpus"
)

// A sample is a line of the corpus's manifest.
type sample struct {
	File     string `json:"file"`
	BodyGzip bool   `json:"body_gzip"`
}

// A second is the reference's result for a document, in Unix seconds.
type second struct {
	File    string `json:"file"`
	Entries []struct {
		Published *int64 `json:"published"`
		Updated   *int64 `json:"updated"`
	} `json:"entries"`
}

// verdicts explain, by document, differences from the reference.
var verdicts = map[string]string{
	"Rss20ItunesSample.xml":            "no place is 30 hours east: refused rather than guessed",
	"InvalidDateFormat.xml":            "1518478934 are seconds, the reference reads the 478th day of 1518: ours is right",
	"feed-test-xsl.xml":                "the reference takes BST for UTC: ours is right",
	"rome-modules__xml__sunnyvale.xml": "the reference leaves out am and PST: ours is right",
	"rome-modules__xml__yweather.xml":  "the reference leaves out pm and CEST: ours is right",
}

// TestCorpus_Dates parses all dates of real feeds. Every date that the reference found in a document must be
// among ours, except those with a verdict, which -v logs, and the year 1, the null value of some programs.
func TestCorpus_Dates(t *testing.T) {
	root := corpus.Folder(t, "feeds")
	references := make(map[string]second)
	for _, r := range corpus.Lines[second](t, filepath.Join(root, "reference.jsonl.gz")) {
		references[r.File] = r
	}
	distinct := make(map[string]bool) // true if parsed
	agreed, absent, differing := 0, 0, make(map[string]int)
	for _, s := range corpus.Lines[sample](t, filepath.Join(root, "manifest.jsonl")) {
		ours := make(map[int64]bool)
		for _, text := range dates(t, root, s) {
			moment, ok := Parse(text, "")
			ours[moment.Unix()] = ok
			if _, seen := distinct[text]; !seen && !ok {
				t.Logf("refused: %q", text)
			}
			distinct[text] = ok
		}
		for _, e := range references[s.File].Entries {
			for _, theirs := range []*int64{e.Published, e.Updated} {
				switch {
				case theirs == nil:
				case time.Unix(*theirs, 0).UTC().Year() == 1:
					absent++
				case ours[*theirs]:
					agreed++
				default:
					differing[s.File]++
				}
			}
		}
	}
	for file, n := range differing {
		if verdict := verdicts[filepath.Base(file)]; verdict != "" {
			t.Logf("%s: %d dates differ: %s", file, n, verdict)
		} else {
			t.Errorf("%s: %d dates differ from the reference's", file, n)
		}
	}
	read := 0
	for _, ok := range distinct {
		if ok {
			read++
		}
	}
	t.Logf("%d of %d distinct texts read; %d dates of the reference read alike, %d are of the year 1", read, len(distinct), agreed, absent)
	if len(distinct)-read > len(distinct)/200 {
		t.Errorf("%d of %d texts are refused, more than one of 200", len(distinct)-read, len(distinct))
	}
}

// inElement and inJSON match dates by their position.
var (
	inElement = regexp.MustCompile(`(?is)<((?:[a-z0-9]+:)?(?:pubdate|published|updated|date|created|modified|issued|lastbuilddate|available|valid|datesubmitted))(?:\s[^>]*)?>([^<]*|\s*<!\[CDATA\[.*?\]\]>\s*)</`)
	inJSON    = regexp.MustCompile(`"(?:date_published|date_modified)"\s*:\s*"([^"]*)"`)
)

// dates returns the texts of a document's dates, without their markup.
func dates(t *testing.T, root string, s sample) []string {
	b := corpus.Bytes(t, filepath.Join(root, filepath.FromSlash(s.File)))
	if s.BodyGzip {
		b = corpus.Gunzip(t, b)
	}
	if r, err := charset.NewReader(bytes.NewReader(b), ""); err == nil {
		if decoded, err := io.ReadAll(r); err == nil && !bytes.Contains(b, []byte("pubDate")) && !bytes.Contains(b, []byte("updated")) {
			b = decoded
		}
	}
	var found []string
	for _, m := range inElement.FindAllSubmatch(b, -1) {
		text := strings.TrimSpace(string(m[2]))
		text = strings.TrimSuffix(strings.TrimPrefix(text, "<![CDATA["), "]]>")
		found = append(found, html.UnescapeString(text))
	}
	for _, m := range inJSON.FindAllSubmatch(b, -1) {
		found = append(found, string(m[1]))
	}
	slices.Sort(found)
	return slices.Compact(found)
}

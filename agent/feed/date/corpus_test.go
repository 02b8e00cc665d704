package date

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"html"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html/charset"
)

// A sample is a line of the corpus's manifest.
type sample struct {
	File     string `json:"file"`
	BodyGzip bool   `json:"body_gzip"`
}

// A second is what another parser read from a document, in Unix seconds.
type second struct {
	File    string `json:"file"`
	Entries []struct {
		Published *int64 `json:"published"`
		Updated   *int64 `json:"updated"`
	} `json:"entries"`
}

// verdicts say why we read other dates than the reference, by the document.
var verdicts = map[string]string{
	"Rss20ItunesSample.xml":            "no place is 30 hours east: refused rather than guessed",
	"InvalidDateFormat.xml":            "1518478934 are seconds, the reference reads the 478th day of 1518: ours is right",
	"feed-test-xsl.xml":                "the reference takes BST for UTC: ours is right",
	"rome-modules__xml__sunnyvale.xml": "the reference leaves out am and PST: ours is right",
	"rome-modules__xml__yweather.xml":  "the reference leaves out pm and CEST: ours is right",
}

// TestCorpusDates reads all dates of feeds as they are. Every date that another
// parser read from a document must be among those that we read from it, but
// for those with a verdict, listed with -v, and for the year 1, which stands for
// no date in programs that have no other word for it.
func TestCorpusDates(t *testing.T) {
	root := corpus(t)
	references := make(map[string]second)
	for _, r := range lines[second](t, filepath.Join(root, "reference.jsonl.gz")) {
		references[r.File] = r
	}
	distinct := make(map[string]bool) // and whether it is read
	agreed, absent, differing := 0, 0, make(map[string]int)
	for _, s := range lines[sample](t, filepath.Join(root, "manifest.jsonl")) {
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

// inElement and inJSON find what stands where dates do.
var (
	inElement = regexp.MustCompile(`(?is)<((?:[a-z0-9]+:)?(?:pubdate|published|updated|date|created|modified|issued|lastbuilddate|available|valid|datesubmitted))(?:\s[^>]*)?>([^<]*|\s*<!\[CDATA\[.*?\]\]>\s*)</`)
	inJSON    = regexp.MustCompile(`"(?:date_published|date_modified)"\s*:\s*"([^"]*)"`)
)

// dates returns the texts of a document's dates, without their markup.
func dates(t *testing.T, root string, s sample) []string {
	b, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(s.File)))
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(s.File, ".gz") {
		b = gunzip(t, b)
	}
	if s.BodyGzip {
		b = gunzip(t, b)
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

// corpus returns the folder of the shared corpus, which lies next to the
// module's root where there is one.
func corpus(t testing.TB) string {
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
	}
	root := filepath.Join(filepath.Dir(dir), "shared", "data", "feeds")
	if _, err := os.Stat(root); err != nil {
		t.Skipf("no corpus of feeds here: %v", err)
	}
	return root
}

func gunzip(t testing.TB, b []byte) []byte {
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	b, err = io.ReadAll(r)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatal(err)
	}
	return b
}

// lines reads a file of JSON objects, one a line.
func lines[T any](t testing.TB, path string) []T {
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(path, ".gz") {
		b = gunzip(t, b)
	}
	var all []T
	for d := json.NewDecoder(bytes.NewReader(b)); ; {
		var v T
		if err := d.Decode(&v); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		all = append(all, v)
	}
}

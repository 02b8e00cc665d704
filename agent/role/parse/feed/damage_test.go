package feed

import (
	"bytes"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"feedmesh/tests/corpus"
)

var (
	tagNames           = regexp.MustCompile(`</?[A-Za-z][A-Za-z:]*`)
	prefixDeclarations = regexp.MustCompile(`\sxmlns:(dc|content|media|itunes|atom|sy|feedburner|slash|thr)=("[^"]*"|'[^']*')`)
	itemEnds           = regexp.MustCompile(`</(item|entry)>`)
	feedEnds           = regexp.MustCompile(`</(channel|rss|feed|rdf:RDF)>`)
	quotedWords        = regexp.MustCompile(`=(?:"([A-Za-z0-9/:.-]+)"|'([A-Za-z0-9/:.-]+)')(\s|>)`)
	parameters         = regexp.MustCompile(`&amp;([a-z_]+=)`)
	cdataEnds          = regexp.MustCompile(`\]\]>(\s*</)`)
)

// damages are typical damages of whole documents in transit. None of them may affect the entries.
var damages = []struct {
	name string
	do   func(doc []byte) []byte
}{
	{"items never end", func(d []byte) []byte { return itemEnds.ReplaceAll(d, nil) }},
	{"titles never end", func(d []byte) []byte { return bytes.ReplaceAll(d, []byte("</title>"), nil) }},
	{"links never end", func(d []byte) []byte { return bytes.ReplaceAll(d, []byte("</link>"), nil) }},
	{"descriptions never end", func(d []byte) []byte { return bytes.ReplaceAll(d, []byte("</description>"), nil) }},
	{"channel and root never end", func(d []byte) []byte { return feedEnds.ReplaceAll(d, nil) }},
	{"tags in capitals", func(d []byte) []byte { return tagNames.ReplaceAllFunc(d, bytes.ToUpper) }},
	{"no namespaces", func(d []byte) []byte { return prefixDeclarations.ReplaceAll(d, nil) }},
	{"no quotes", func(d []byte) []byte { return quotedWords.ReplaceAll(d, []byte("=$1$2$3")) }},
	{"CDATA never ends", func(d []byte) []byte { return cdataEnds.ReplaceAll(d, []byte("$1")) }},
	{"bare ampersands in addresses", func(d []byte) []byte { return parameters.ReplaceAll(d, []byte("&$1")) }},
	{"warnings around it", func(d []byte) []byte {
		return append([]byte("<br />\n<b>Warning</b>: x() in /y.php on line <b>3</b>\n"), append(d, "\n<script>z</script>"...)...)
	}},
	{"control characters", func(d []byte) []byte { return bytes.ReplaceAll(d, []byte("\n"), []byte("\n\x0b")) }},
	{"comments never closed", func(d []byte) []byte { return bytes.ReplaceAll(d, []byte("<title>"), []byte("<!-- x\n<title>")) }},
}

// TestCorpus_DamageKeepsTitlesAndLinks applies each damage to each sound document of the corpus. Titles and
// links must be unchanged in nearly all of them.
func TestCorpus_DamageKeepsTitlesAndLinks(t *testing.T) {
	root := corpus.Folder(t, "feeds")
	tried, same := make(map[string]int), make(map[string]int)
	for _, s := range corpus.Lines[sample](t, filepath.Join(root, "manifest.jsonl")) {
		whole := body(t, root, s)
		doc, _ := Parse(whole, "", s.URL)
		if len(doc.Entries) == 0 || !s.WellFormed || doc.Malformed != "" || doc.Charset != "utf-8" || bytes.Contains(whole, []byte("<!--")) {
			continue
		}
		for _, damage := range damages {
			damaged := damage.do(bytes.Clone(whole))
			if bytes.Equal(damaged, whole) {
				continue
			}
			tried[damage.name]++
			got, err := Parse(damaged, "", s.URL)
			checkInvariants(t, s.File, got, err)
			if want := outline(doc); err == nil && outline(got) == want {
				same[damage.name]++
			} else {
				t.Logf("%s: %s: %d entries, not %d: %v", damage.name, s.File, len(got.Entries), len(doc.Entries), err)
			}
		}
	}
	for _, damage := range damages {
		n, of := same[damage.name], tried[damage.name]
		t.Logf("%3d of %3d read as before: %s", n, of, damage.name)
		if of < 20 || n < of*97/100 {
			t.Errorf("%s: %d of %d documents are read as before", damage.name, n, of)
		}
	}
}

// outline returns titles and links of a document.
func outline(d Document) string {
	var b strings.Builder
	for _, e := range d.Entries {
		b.WriteString(e.Title + "|" + e.Link + "\n")
	}
	return b.String()
}

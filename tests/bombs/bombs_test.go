// Package bombs has tests of documents that cost far more than their size suggests, through every stage that
// computes on untrusted texts.
package bombs

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"feedmesh/agent/role/classify/label"
	"feedmesh/agent/role/cluster/placement"
	"feedmesh/agent/role/parse/feed"
	"feedmesh/classify"
	"feedmesh/classify/language"
	"feedmesh/classify/model"
	"feedmesh/classify/near"
	"feedmesh/classify/query"
	"feedmesh/classify/spam"
	"feedmesh/classify/story"
	"feedmesh/classify/text"
	"feedmesh/storage"
	"feedmesh/tests/cputime"
)

const mega = 1 << 20

// fill repeats a text up to 1 MB.
func fill(s string) string { return strings.Repeat(s, mega/len(s)) }

// numbered repeats a format with increasing numbers up to 1 MB.
func numbered(format string) string {
	var b strings.Builder
	for i := 0; b.Len() < mega-100; i++ {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// doubled returns tables of which each contains two, to a depth.
func doubled(depth int) string {
	if depth == 0 {
		return "x"
	}
	inner := "<table><tr><td>" + doubled(depth-1) + "</td></tr></table>"
	return inner + inner
}

// random returns n letters from a fixed sequence.
func random(n int) string {
	b, x := make([]byte, n), uint32(1)
	for i := range b {
		x = x*1664525 + 1013904223
		b[i] = 'a' + byte(x>>24)%26
	}
	return string(b)
}

// contents are HTML texts of one item.
var contents = []struct {
	name string
	make func() string
}{
	{"doubled tables", func() string { return doubled(10) }},
	{"100,000 nested tables", func() string { return strings.Repeat("<table><tr><td>", 100_000) }},
	{"nested divs", func() string { return fill("<div>") }},
	{"nested formatting", func() string { return fill("<b><i>") }},
	{"misnested formatting", func() string { return fill("<b><p></b></p>") }},
	{"nested lists", func() string { return fill("<ul><li>") }},
	{"nested quotes", func() string { return fill("<blockquote>a ") }},
	{"end tags", func() string { return strings.Repeat("<div>", 90) + fill("</b>") }},
	{"one word", func() string { return fill("a") }},
	{"one random word", func() string { return random(mega) }},
	{"one Cyrillic word", func() string { return fill("ж") }},
	{"one accented word", func() string { return fill("é") }},
	{"words of one letter", func() string { return fill("a ") }},
	{"distinct words", func() string { return numbered("w%d ") }},
	{"distinct letters", func() string {
		s := []byte(random(mega))
		for i := 7; i < len(s); i += 8 {
			s[i] = ' '
		}
		return string(s)
	}},
	{"Chinese without spaces", func() string { return fill("新華社北京電記者從國務院") }},
	{"Thai without spaces", func() string {
		return fill("ภาษาไทยเป็นภาษาที่มีระดับเสียง")
	}},
	{"Korean without spaces", func() string { return fill("대한민국의수도는서울이다") }},
	{"entities", func() string { return fill("&amp;") }},
	{"numeric entities", func() string { return fill("&#x41;") }},
	{"links", func() string { return strings.Repeat(`<a href="a">b</a>`, 100_000)[:mega] }},
	{"distinct links", func() string { return numbered(`<a href="https://h%d.example/">b</a>`) }},
	{"bare links", func() string { return numbered(`https://h%d.example/ `) }},
	{"images", func() string { return strings.Repeat(`<img src=a>`, 100_000)[:mega] }},
	{"distinct images", func() string { return numbered(`<img src="https://h.example/%d">`) }},
	{"srcset", func() string { return `<img srcset="` + numbered("https://h.example/%d 2x, ") + `">` }},
	{"long attribute", func() string { return `<p title="` + fill("a") + `">b` }},
	{"long link", func() string { return `<a href="https://a.example/?` + fill("utm_a=b&") + `">b</a>` }},
	{"attributes", func() string { return "<p " + numbered("a%d=b ") + ">b" }},
	{"unclosed tags", func() string { return numbered("<x%d>") }},
	{"unclosed scripts", func() string { return fill("<script>") }},
	{"unclosed frames", func() string { return fill("<iframe><svg><math>") }},
	{"less-than signs", func() string { return fill("<") }},
	{"unclosed comments", func() string { return fill("<!--") }},
	{"CDATA", func() string { return fill("<![CDATA[") }},
	{"combining marks", func() string { return "a" + fill("\u0301") }},
	{"mixed combining marks", func() string { return "a" + fill("\u0316\u0301") }},
	{"ideograph with marks", func() string { return "漢" + fill("\u0301") }},
	{"hidden characters", func() string { return fill("\u200b") }},
	{"soft hyphens", func() string { return "a" + fill("\u00ad") }},
	{"repeated n-gram", func() string { return fill("the quick brown fox ") }},
	{"dots", func() string { return fill("a.") }},
	{"apostrophes", func() string { return fill("l'") }},
	{"digits", func() string { return fill("1") }},
	{"digit groups", func() string { return fill("+1 555 0100 ") }},
	{"signs", func() string { return fill("c++#") }},
	{"mail addresses", func() string { return fill("a@b.") }},
	{"at signs", func() string { return fill("@") }},
	{"slashes", func() string { return fill("http://") }},
	{"exclamation marks", func() string { return fill("BUY!!! ") }},
	{"lines", func() string { return fill("a<br>") }},
	{"spaces", func() string { return fill(" ") }},
	{"emoji", func() string { return fill("👩‍👩‍👧‍👦") }},
	{"casino", func() string { return fill("online casino bonus viagra ") }},
	{"kubernetes", func() string { return fill("kubernetes linux go rust docker ") }},
	{"control characters", func() string { return fill("\x01\xff") }},
}

// Limits of a stage on a machine that does nothing else: most take a tenth of the time. The tests allow five times the
// time, since even CPU time grows on a busy machine, and count garbage as memory.
const (
	maxTime   = 200 * time.Millisecond
	maxMemory = 64 * mega
)

// run executes a stage and checks its cost.
func run(t *testing.T, stage string, f func()) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := cputime.Used(t)
	f()
	took := cputime.Used(t) - began
	runtime.ReadMemStats(&after)
	spent := after.TotalAlloc - before.TotalAlloc
	t.Logf("%-10s %5d ms %5d MB", stage, took.Milliseconds(), spent/mega)
	if took > 5*maxTime || spent > 2*maxMemory {
		t.Errorf("%s: took %v of CPU and %d MB", stage, took, spent/mega)
	}
}

// TestItem_StagesCostLittle runs the stages of the pipeline on items with a hostile text of 1 MB.
func TestItem_StagesCostLittle(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped by -short: computes for half a minute")
	}
	compiled, err := classify.Compile(classify.Shipped())
	if err != nil {
		t.Fatal(err)
	}
	c := &classify.Classifier{Rules: compiled, Spam: spam.Default(), Model: model.Default()}
	settings := near.Default()
	language.Detect("warm up the model", "")
	c.Decide(classify.Document{Title: "warm up", Text: "warm up"})
	for _, b := range contents {
		t.Run(b.name, func(t *testing.T) {
			markup := b.make()
			var cleaned text.Cleaned
			item := storage.Item{ID: "i", FeedID: "f", Title: markup, URL: "https://a.example/", FirstSeen: time.Unix(1e9, 0)}
			run(t, "title", func() { item.Title = text.Default().Title(markup[:min(len(markup), 4096)], "Blog", 300) })
			run(t, "clean", func() { cleaned = text.Default().Clean(markup, nil, "https://a.example/feed") })
			item.HTML = cleaned.HTML
			run(t, "excerpt", func() { item.Excerpt = text.Excerpt(cleaned.Text, 300) })
			run(t, "language", func() { item.Language, _ = language.Detect(item.Title+"\n"+cleaned.Text, "en") })
			run(t, "hash", func() { item.TextHash = near.TextHash(item.Title, cleaned.Text) })
			plain := ""
			run(t, "plain", func() { plain = text.PlainText(item.HTML) })
			run(t, "history", func() { spam.NewHistoryCache(mega).Record("f", "h", item.Title, plain, item.FirstSeen) })
			run(t, "classify", func() { c.Decide(label.Document(item, storage.Feed{ID: "f"}, plain)) })
			run(t, "signature", func() { near.NewIndex(settings).Place(placement.Signature(item, plain, &settings)) })
			run(t, "story", func() {
				weights := story.Default()
				weights.Extract(placement.StoryItem(item, plain))
			})
			run(t, "words", func() { query.Words(plain) })
			doc := `<rss version="2.0"><channel><title>t</title><item><title>t</title><description><![CDATA[` + strings.ReplaceAll(markup, "]]>", "") + `]]></description></item></channel></rss>`
			run(t, "parse", func() { feed.Parse([]byte(doc), "", "https://a.example/feed") })
		})
	}
}

package feed

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"feedmesh/tests/cputime"
)

// maxSpent bounds the bytes that a hostile document may allocate in total, garbage included.
const maxSpent = 64 << 20

// A bomb is a small or large document that would cost a careless parser minutes or gigabytes.
type bomb struct {
	name    string
	make    func() string
	kind    Kind // of the error, or "" if the document is accepted
	entries int
}

var bombs = []bomb{
	{"namespaces within one another", func() string { return nested("<m:x%d xmlns:n%[1]d='urn:%[1]d'>", 20_000) }, TooDeep, 0},
	{"unknown elements within one another", func() string { return nested("<x:tag%06d>", 1_000_000) }, TooDeep, 0},
	{"many namespaces over many elements", func() string {
		return rssWith(declarations(200), strings.Repeat("<item><title>t</title><x:a/></item>", 60_000))
	}, "", 1},
	{"namespaces beyond counting", func() string { return rssWith(declarations(250), nestedDeclarations()) }, TooLarge, 0},
	{"attributes", func() string {
		return rssWith("", "<item><x"+strings.Repeat(" a='1'", 1_000_000)+"/></item>")
	}, TooLarge, 0},
	{"items", func() string { return rssWith("", strings.Repeat("<item><title>t</title></item>", 1_000_000)) }, "", 1},
	{"different items", func() string { return rssWith("", manyItems(300_000)) }, "", maxItems},
	{"elements in one item", func() string {
		return rssWith("", "<item><title>t</title>"+strings.Repeat("<x:a/>", 1_500_000)+"</item>")
	}, TooLarge, 0},
	{"elements in the second item", func() string {
		return rssWith("", "<item><title>t</title></item><item>"+strings.Repeat("<x:a/>", 1_500_000)+"</item>")
	}, "", 1},
	{"as many elements as allowed", func() string {
		return rssWith("", "<item><title>t</title>"+strings.Repeat("<x:a b='1'><x:c/></x:a>", (maxElements-10)/2)+"</item>")
	}, "", 1},
	{"unreadable dates", func() string {
		return rssWith("", strings.Repeat("<item><title>t</title><pubDate>the day after tomorrow, at tea</pubDate></item>", maxItems))
	}, "", 1},
	{"a long date", func() string {
		return rssWith("", "<item><title>t</title><pubDate>"+strings.Repeat("Monday, ", 1_000_000)+"</pubDate></item>")
	}, "", 1},
	{"a long author", func() string {
		return rssWith("", "<item><title>t</title><author>"+strings.Repeat("somebody ( ", 800_000)+"</author></item>")
	}, "", 1},
	{"references", func() string {
		return rssWith("", "<item><title>t</title><description>"+strings.Repeat("&#0;", 2_500_000)+"</description></item>")
	}, "", 1},
	{"less-than signs", func() string {
		return rssWith("", "<item><title>t</title><description>"+strings.Repeat("<", 10_000_000)+"</description></item>")
	}, "", 1},
	{"stray end tags", func() string {
		return rssWith("", "<item><title>t</title><description>"+strings.Repeat("<a>", 200)+strings.Repeat("</b>", 2_500_000)+"</description></item>")
	}, Broken, 0},
	{"long names in JSON", func() string {
		long := strings.Repeat("somebody ( ", 400_000)
		return `{"items":[{"id":1,"authors":[{"name":"` + long + `"}],"date_published":"` + long + `"}]}`
	}, "", 1},
	{"text in pieces", func() string {
		return rssWith("", "<item><title>t</title><x:a>"+strings.Repeat("a<!---->", 1_000_000)+"</x:a></item>")
	}, TooLarge, 0},
	{"elements with different names", func() string {
		return rssWith("", "<item><title>t</title>"+numbered("<x%d/>", 90_000)+"</item>")
	}, "", 1},
	{"words that look like tags", func() string {
		return rssWith("", "<item><title>t</title><description>"+numbered("<x%d ", 1_000_000)+"</description></item>")
	}, "", 1},
	{"end tags without end", func() string {
		return rssWith("", "<item><title>t</title><description>"+strings.Repeat("</b", 3_000_000)+"></description></item>")
	}, Broken, 0},
	{"instructions without end", func() string {
		return rssWith("", "<item><title>t</title><description>"+strings.Repeat("<?", 4_000_000)+"></description></item>")
	}, "", 1},
	{"declarations without end", func() string { return strings.Repeat("<!", 32_000) + rssWith("", "<item><title>t</title></item>") }, "", 1},
	{"channels without root", func() string { return strings.Repeat("<channel>", 1_000_000) }, OtherXML, 0},
	{"sections in sections", func() string {
		return rssWith("", "<item><title>t</title><description>"+strings.Repeat("<![CDATA[<![CDATA[]]>", 400_000))
	}, TooLarge, 0},
	{"sections without end", func() string {
		return rssWith("", "<item><title>t</title><description>"+strings.Repeat("<![CDATA[", 1_000_000)+"]]></description></item>")
	}, "", 1},
	{"sections over end tags", func() string {
		return rssWith("", "<item><title>t</title>"+strings.Repeat("<d><![CDATA[</d>", 80_000)+"]]></item>")
	}, "", 1},
	{"comments without end", func() string {
		return rssWith("", "<item><title>t</title><description>"+strings.Repeat("<!--</item>", 800_000)+"--></description></item>")
	}, "", 1},
	{"quotes without end", func() string {
		return rssWith("", "<item><title>t</title>"+strings.Repeat(`<x a="b><y c='d>`, 40_000)+"</item>")
	}, TooDeep, 0},
	{"fields in fields", func() string {
		return rssWith("", "<item><title>t</title>"+strings.Repeat("<link><guid>", 45_000)+"</item>")
	}, "", 1},
	{"large entities", func() string {
		return "<!DOCTYPE rss [<!ENTITY a '" + strings.Repeat("b", 200) + "'>]>" + rssWith("", "<item><title>t</title><description>"+strings.Repeat("&a;", 3_000_000)+"</description></item>")
	}, "", 1},
	{"addresses in HTML", func() string {
		return rssWith("xml:base='https://a.test/'", "<item><title>t</title><description><![CDATA["+strings.Repeat("<a href=b>", 900_000)+"]]></description></item>")
	}, "", 1},
	{"files", func() string {
		return rssWith("xml:base='https://a.test/'", "<item><title>t</title>"+strings.Repeat("<enclosure url='x:'/>", 90_000)+"</item>")
	}, "", 1},
	{"billion laughs", func() string {
		return "<!DOCTYPE rss [<!ENTITY a 'lol'>" + entities(9) + "]>" + rssWith("", "<item><title>&j;</title></item>")
	}, "", 1},
	{"external entity", func() string {
		return "<!DOCTYPE rss [<!ENTITY a SYSTEM 'file:///etc/passwd'>]>" + rssWith("", "<item><title>&a;</title></item>")
	}, "", 1},
	{"JSON within itself", func() string { return `{"items":` + strings.Repeat("[", 1_000_000) }, TooDeep, 0},
	{"JSON items", func() string {
		return `{"version":"https://jsonfeed.org/version/1","items":[{"id":1}` + strings.Repeat(`,{}`, 90_000) + `]}`
	}, "", 1},
	{"JSON values", func() string { return `{"items":[{"id":1}` + strings.Repeat(`,{}`, 2_000_000) + `]}` }, TooLarge, 0},
	{"JSON tags", func() string { return `{"items":[{"id":1,"tags":[""` + strings.Repeat(`,""`, 3_000_000) + `]}]}` }, "", 1},
}

// TestParse_BombsCostLittle parses each bomb at a bounded cost: 200 ms, or five times that on a busy machine.
func TestParse_BombsCostLittle(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped by -short: parses megabytes for seconds")
	}
	for _, b := range bombs {
		t.Run(b.name, func(t *testing.T) {
			body := []byte(b.make())
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := cputime.Used(t)
			doc, err := Parse(body, "", "")
			took := cputime.Used(t) - start
			runtime.ReadMemStats(&after)
			checkInvariants(t, b.name, doc, err)
			var got *Error
			if errors.As(err, &got); err != nil && got.Kind != b.kind || err == nil && b.kind != "" {
				t.Errorf("error %v, want kind %q", err, b.kind)
			}
			if len(doc.Entries) != b.entries {
				t.Errorf("%d entries, want %d", len(doc.Entries), b.entries)
			}
			t.Logf("%d KB of input, %d KB allocated, %s of CPU", len(body)>>10, (after.TotalAlloc-before.TotalAlloc)>>10, took)
			if took > time.Second {
				t.Errorf("it took %s", took)
			}
			if spent := after.TotalAlloc - before.TotalAlloc; spent > maxSpent {
				t.Errorf("%d MB allocated for %d KB of input", spent>>20, len(body)>>10)
			}
		})
	}
}

// BenchmarkBombs measures the cost of each bomb.
func BenchmarkBombs(b *testing.B) {
	for _, bomb := range bombs {
		b.Run(bomb.name, func(b *testing.B) {
			body := []byte(bomb.make())
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				Parse(body, "", "")
			}
		})
	}
}

// TestScan_TextsAliasTheDocument: the texts of a tree alias the document, and its nodes are allocated in
// batches.
func TestScan_TextsAliasTheDocument(t *testing.T) {
	doc := []byte(rssWith("", manyItems(100)))
	if allocs := testing.AllocsPerRun(10, func() { scan(doc, rss) }); allocs > 60 {
		t.Errorf("%v allocations for 400 nodes", allocs)
	}
}

func rssWith(attributes, items string) string {
	return "<rss version='2.0' " + attributes + "><channel><title>T</title>" + items + "</channel></rss>"
}

func nested(tag string, levels int) string {
	return rssWith("", "<item><title>t</title>"+numbered(tag, levels))
}

func numbered(tag string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, tag, i)
	}
	return b.String()
}

func declarations(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, " xmlns:n%d='urn:%[1]d'", i)
	}
	return b.String()
}

func nestedDeclarations() string {
	return "<x" + declarations(200) + "><x" + declarations(200) + ">"
}

func entities(n int) string {
	var b strings.Builder
	for i := range n {
		name := string(rune('a' + i))
		fmt.Fprintf(&b, "<!ENTITY %c '%s'>", 'b'+i, strings.Repeat("&"+name+";", 10))
	}
	return b.String()
}

func manyItems(n int) string {
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, "<item><guid>%d</guid><title>Item %[1]d</title></item>", i)
	}
	return b.String()
}

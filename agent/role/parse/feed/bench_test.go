package feed

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/mmcdole/gofeed"
)

// BenchmarkParse compares sound feeds of 20 and of 100 items in this package, in gofeed alone, and in the
// tokenizer of encoding/xml. This package replaced gofeed; it may take 1.3 times as long.
func BenchmarkParse(b *testing.B) {
	for _, items := range []int{20, 100} {
		for name, body := range map[string][]byte{"rss": typical(items), "atom": typicalAtom(items), "json": typicalJSON(items)} {
			for _, by := range []struct {
				name string
				read func() error
			}{
				{"ours", func() error { _, err := Parse(body, "", "https://a.test/feed"); return err }},
				{"gofeed", func() error { _, err := gofeed.NewParser().Parse(bytes.NewReader(body)); return err }},
				{"tokens", func() error { return tokens(body) }},
			} {
				if name == "json" && by.name == "tokens" {
					continue
				}
				b.Run(fmt.Sprintf("%s/%d/%s", name, items, by.name), func(b *testing.B) {
					b.SetBytes(int64(len(body)))
					b.ReportAllocs()
					for b.Loop() {
						if err := by.read(); err != nil {
							b.Fatal(err)
						}
					}
					b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "docs/s")
				})
			}
		}
	}
}

// tokens reads all tokens of a document.
func tokens(body []byte) error {
	for d := xml.NewDecoder(bytes.NewReader(body)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// typicalText is the content of an item, 4 KB.
var typicalText = strings.Repeat(`<p>Some words — and a <a href="https://a.test/">link</a> &amp; more.</p>`, 56)

func typical(items int) []byte {
	var b bytes.Buffer
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?><rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:dc="http://purl.org/dc/elements/1.1/"><channel><title>T</title>`)
	for i := range items {
		fmt.Fprintf(&b, `<item><title>Item %d</title><link>https://a.test/%[1]d</link><guid isPermaLink="false">https://a.test/?p=%[1]d</guid>
<pubDate>Tue, 03 Mar 2026 09:%02[2]d:00 +0000</pubDate><dc:creator><![CDATA[Ada]]></dc:creator><category>one</category><category>two</category>
<description>A summary &amp; more.</description><content:encoded><![CDATA[%[3]s]]></content:encoded></item>`, i, i%60, typicalText)
	}
	b.WriteString("</channel></rss>")
	return b.Bytes()
}

func typicalAtom(items int) []byte {
	var b, text bytes.Buffer
	if err := xml.EscapeText(&text, []byte(typicalText)); err != nil {
		panic(err)
	}
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?><feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en"><title>T</title><link href="https://a.test/"/><author><name>Ada</name></author>`)
	for i := range items {
		fmt.Fprintf(&b, `<entry><title type="html">Item %d</title><link rel="alternate" type="text/html" href="https://a.test/%[1]d"/><id>tag:a.test,2026:%[1]d</id>
<published>2026-03-03T09:%02[2]d:00Z</published><updated>2026-03-03T10:%02[2]d:00Z</updated><category term="one"/><category term="two"/>
<summary type="html">A summary.</summary><content type="html">%[3]s</content></entry>`, i, i%60, text.String())
	}
	b.WriteString("</feed>")
	return b.Bytes()
}

func typicalJSON(items int) []byte {
	var b bytes.Buffer
	b.WriteString(`{"version":"https://jsonfeed.org/version/1.1","title":"T","home_page_url":"https://a.test/","items":[`)
	for i := range items {
		fmt.Fprintf(&b, `{"id":"%d","title":"Item %[1]d","url":"https://a.test/%[1]d","authors":[{"name":"Ada"}],"tags":["one","two"],
"date_published":"2026-03-03T09:%02[2]d:00Z","summary":"A summary.","content_html":%[3]q},`, i, i%60, typicalText)
	}
	return append(bytes.TrimSuffix(b.Bytes(), []byte(",")), "]}"...)
}

package fetch

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"testing"
)

// BenchmarkBody reads the gzip body of a feed of 40 KB and decompresses it as parse does.
func BenchmarkBody(b *testing.B) {
	var document bytes.Buffer
	for i := 0; document.Len() < 40<<10; i++ {
		fmt.Fprintf(&document, "<item><title>What happened on day %d</title><link>https://example.org/%d</link></item>\n", i, i*i)
	}
	body, _ := Compress(document.Bytes())
	c := New(Options{MaxBody: 1 << 20, MaxCompressed: 1 << 20})
	b.ReportAllocs()
	for b.Loop() {
		p, err := c.readBody(&http.Response{Header: http.Header{"Content-Encoding": {"gzip"}}, Body: io.NopCloser(bytes.NewReader(body))}, newBodyWriter(nil))
		if err != nil {
			b.Fatal(err)
		}
		if _, err := Decompress(p.gzip, 1<<20); err != nil {
			b.Fatal(err)
		}
	}
}

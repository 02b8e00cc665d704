package fetch

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"testing"
)

// BenchmarkBody reads the body of a feed of 40 KB, as it comes in gzip, and unpacks
// it as parse does.
func BenchmarkBody(b *testing.B) {
	var document bytes.Buffer
	for i := 0; document.Len() < 40<<10; i++ {
		fmt.Fprintf(&document, "<item><title>What happened on day %d</title><link>https://example.org/%d</link></item>\n", i, i*i)
	}
	body, _ := Pack(document.Bytes())
	c := New(Options{MaxBody: 1 << 20, MaxPacked: 1 << 20})
	b.ReportAllocs()
	for b.Loop() {
		p, err := c.pack(&http.Response{Header: http.Header{"Content-Encoding": {"gzip"}}, Body: io.NopCloser(bytes.NewReader(body))}, newInside(nil))
		if err != nil {
			b.Fatal(err)
		}
		if _, err := Unpack(p.gzip, 1<<20); err != nil {
			b.Fatal(err)
		}
	}
}

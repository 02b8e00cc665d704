package subjects

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// BenchmarkDocuments encodes and decodes 18 compressed documents of 20 KB, the
// maximum of a bundle, as sent from crawl to parse.
func BenchmarkDocuments(b *testing.B) {
	body := make([]byte, 20<<10)
	for i := range body {
		body[i] = byte(rand.Uint32())
	}
	var tasks []Parse
	for i := range 18 {
		tasks = append(tasks, Parse{
			Receipt:     Receipt{FeedID: fmt.Sprint("01ARZ3NDEKTSV4RRFFQ69G5F", i), Crawl: "4bf92f3577b34da6a3ce929d", Fetched: time.Now().UTC(), Status: 200, BodyHash: "4bf92f3577b34da6a3ce929d0e0e4736", Size: 60 << 10},
			URL:         fmt.Sprint("https://example.org/feed/", i),
			ContentType: "application/rss+xml; charset=utf-8", Body: body,
		})
	}
	write := func() []Message {
		messages := make([]Message, len(tasks))
		for i, task := range tasks {
			var err error
			if messages[i], err = ParseQueue.Message(task).Encoded(); err != nil {
				b.Fatal(err)
			}
		}
		return messages
	}
	b.Run("write", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if len(Bundle(write())) != 1 {
				b.Fatal("not one bundle")
			}
		}
	})
	bundle := Bundle(write())[0].Data
	b.Run("read", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			parts, err := Unbundle(bundle)
			if err != nil || len(parts) != len(tasks) {
				b.Fatal(len(parts), err)
			}
			for _, p := range parts {
				if _, err := ParseQueue.Decode(p.Data); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}

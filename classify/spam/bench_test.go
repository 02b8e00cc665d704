package spam

import (
	"strings"
	"testing"

	"feedmesh/classify/stem"
)

// BenchmarkJudge scores an item of 2 KB of text with ten links, with and without given stems.
func BenchmarkJudge(b *testing.B) {
	text := strings.Repeat("The scheduler of the Linux kernel decides which task runs next, and for how long. "+
		"In version 6.6 it became fairer: see https://lwn.net/Articles/925371/ for the details of the new algorithm. ", 11)[:2048]
	d := Document{
		Title: "How the scheduler of Linux became fairer", Text: text, Language: "en",
		HTML: "<p>" + strings.Repeat(`The <a href="https://kernel.org/doc/html/latest/scheduler" rel="nofollow">scheduler</a> of the kernel`, 10) + "</p>",
		URL:  "https://blog.example/2024/scheduler",
	}
	f := Default()
	for _, test := range []struct {
		name  string
		stems []stem.Word
	}{{"text", nil}, {"stems", stem.Words(text, "en")}} {
		b.Run(test.name, func(b *testing.B) {
			d.Stems = test.stems
			f.Classify(d, History{})
			b.ReportAllocs()
			for b.Loop() {
				f.Classify(d, History{})
			}
		})
	}
}

func BenchmarkParse(b *testing.B) {
	for b.Loop() {
		if _, err := Parse(nil); err != nil {
			b.Fatal(err)
		}
	}
}

package near

import (
	"strings"
	"testing"
)

func BenchmarkSketch(b *testing.B) {
	const title = "The Orchestrator closes a vulnerability - Example News"
	plain := strings.Repeat("The new version of the container orchestrator closes a vulnerability. ", 35)
	s := Default()
	for name, read := range map[string]func(){
		"Sketch":   func() { s.Sketch(title, plain) },
		"TextHash": func() { TextHash(title, plain) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				read()
			}
		})
	}
}

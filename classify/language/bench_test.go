package language

import (
	"strings"
	"testing"
)

func BenchmarkDetect(b *testing.B) {
	const sentence = "The new version of the container orchestrator closes a vulnerability and speeds up the scheduler. "
	for name, text := range map[string]string{
		"title":   "How we moved our database to the new servers without downtime",
		"300":     strings.Repeat(sentence, 4)[:300],
		"2K":      strings.Repeat(sentence, 30),
		"Russian": strings.Repeat("Новая версия оркестратора закрывает уязвимость и ускоряет планировщик. ", 5),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Detect(text, "en")
			}
		})
	}
}

package date

import "testing"

// BenchmarkParse parses dates in the two most frequent forms, and in others.
func BenchmarkParse(b *testing.B) {
	for _, c := range []struct{ name, text, lang string }{
		{"RFC1123Z", "Wed, 04 Mar 2026 05:06:07 +0000", ""},
		{"RFC3339", "2026-03-04T05:06:07.089+01:00", ""},
		{"zone", "Wed, 04 Mar 2026 05:06:07 EST", ""},
		{"long", "Wednesday, March 04, 2026 - 17:06", ""},
		{"browser", "Wed Mar 04 2026 06:06:07 GMT+0100 (Central European Standard Time)", ""},
		{"epoch", "1772600767", ""},
		{"numbers", "04.03.2026 05:06:07", ""},
		{"Russian", "Среда, 4 марта 2026 г. 17:06", "ru"},
		{"Greek", "Κυρ, 11 Ιούλ 2004 12:00:00 EST", "el"},
		{"Japanese", "2026年03月04日（水） 17時06分07秒", "ja"},
		{"refused", "2026-03-04T05:06:07Z/2026-03-05T05:06:07Z", ""},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Parse(c.text, c.lang)
			}
		})
	}
}

// TestParse_FastPathDoesNotAllocate covers nine of ten dates.
func TestParse_FastPathDoesNotAllocate(t *testing.T) {
	for _, text := range []string{"Wed, 04 Mar 2026 05:06:07 +0000", "Wed, 4 Mar 2026 05:06:07 GMT", "2026-03-04T05:06:07Z", "2026-03-04T05:06:07.089+01:00"} {
		if n := testing.AllocsPerRun(100, func() { Parse(text, "") }); n != 0 {
			t.Errorf("%q allocates %v times", text, n)
		}
	}
}

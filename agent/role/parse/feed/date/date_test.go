package date

import (
	"testing"
	"time"
)

// A form is a written date with the expected time; want is "" if Parse must reject it.
type form struct{ text, lang, want string }

const moment = "2026-03-04T05:06:07Z" // a Wednesday

// TestParse_Forms covers each form found in feeds or defined by a standard.
func TestParse_Forms(t *testing.T) {
	for name, forms := range map[string][]form{
		"RFC 822": rfc822Forms, "ISO 8601": isoForms, "zones": zoneForms, "epoch": epochForms,
		"numbers": numericForms, "English": englishForms, "languages": languageForms, "abuses": abuses,
	} {
		t.Run(name, func(t *testing.T) {
			for _, f := range forms {
				check(t, f)
			}
		})
	}
}

// TestParse_AmbiguousDatesAreRejected covers invalid and ambiguous dates.
func TestParse_AmbiguousDatesAreRejected(t *testing.T) {
	for _, text := range refused {
		check(t, form{text: text})
	}
}

func check(t *testing.T, f form) {
	t.Helper()
	got, ok := Parse(f.text, f.lang)
	if !ok {
		if f.want != "" {
			t.Errorf("%q (%s) is refused, want %s", f.text, f.lang, f.want)
		}
		if !got.IsZero() {
			t.Errorf("%q is refused with %v", f.text, got)
		}
		return
	}
	if text := got.Format(time.RFC3339Nano); text != f.want {
		t.Errorf("%q (%s) is %s, want %q", f.text, f.lang, text, f.want)
	}
	if got.Location() != time.UTC {
		t.Errorf("%q is in %v", f.text, got.Location())
	}
}

func TestParseSeconds_SecondsOrMilliseconds(t *testing.T) {
	for n, want := range map[float64]string{
		1772600767:       moment,
		1772600767.25:    "2026-03-04T05:06:07.25Z",
		1772600767000:    moment,
		1772600767089:    "2026-03-04T05:06:07.089Z",
		631152000:        "1990-01-01T00:00:00Z",
		4133980799:       "2100-12-31T23:59:59Z",
		631151999:        "",
		0:                "",
		-1772600767:      "",
		2026:             "",
		20260304:         "",
		2026030405:       "", // an hour
		202603040506:     "",
		20260304050607:   "",
		4133980800:       "",
		1772600767000000: "",
		1e300:            "",
	} {
		got, ok := ParseSeconds(n)
		if text := got.Format(time.RFC3339Nano); ok && text != want || !ok && want != "" {
			t.Errorf("%f is %s, %v, want %q", n, text, ok, want)
		}
	}
	for _, n := range []float64{nan(), 1 / zero, -1 / zero} {
		if got, ok := ParseSeconds(n); ok {
			t.Errorf("%f is %v", n, got)
		}
	}
}

var zero float64

func nan() float64 { return zero / zero }

// TestParse_FastPathAgreesWithTokens parses the same dates on the fast path and by tokens.
func TestParse_FastPathAgreesWithTokens(t *testing.T) {
	for _, text := range []string{
		"Wed, 04 Mar 2026 05:06:07 +0000", "Wed, 4 Mar 2026 05:06:07 GMT", "Wed, 04 Mar 2026 05:06:07 -0330",
		"2026-03-04T05:06:07Z", "2026-03-04T05:06:07+05:30", "2026-03-04T05:06:07.0891-08:00",
		"2024-02-29T23:59:59+14:00", "2026-12-31T23:59:59-12:00",
	} {
		fast, ok := parseRFC3339(text)
		if !ok {
			fast, ok = parseRFC1123(text)
		}
		r := parser{}
		if !ok || !r.tokens.split(text) || !r.read() {
			t.Fatalf("%q is not parsed in both ways", text)
		}
		if slow, ok := r.resolve(); !ok || !slow.Equal(fast) {
			t.Errorf("%q is %v and %v", text, fast, slow)
		}
	}
}

// TestNames_OfMonths parses every name of every month, and counts the names whose meaning depends on the
// language.
func TestNames_OfMonths(t *testing.T) {
	differing := make(map[string]bool)
	forEachName(months, 12, func(lang, word string, month int) {
		want := time.Date(2026, time.Month(month), 14, 5, 6, 7, 0, time.UTC)
		if got, ok := Parse("14 "+word+" 2026 05:06:07", lang); !ok || !got.Equal(want) {
			t.Errorf("%s %s is %v, %v, want %v", lang, word, got, ok, want)
		}
		got, ok := Parse("14 "+word+" 2026 05:06:07", "")
		if ok && !got.Equal(want) {
			t.Errorf("%s without a language is %v, want %v", word, got, want)
		}
		if !ok {
			differing[lang+" "+word] = true
		}
	})
	if !differing["hr listopada"] || !differing["cs srp"] {
		t.Errorf("names of two months are read without a language: refused are %v", differing)
	}
	if len(differing) > 20 {
		t.Errorf("%d names need a language: %v", len(differing), differing)
	}
	t.Logf("names that need a language: %v", differing)
}

func TestNames_OfWeekdays(t *testing.T) {
	forEachName(weekdays, 7, func(lang, word string, day int) {
		if m := meaningOf(word); m.weekday != day && m.weekday != languagesDiffer {
			t.Errorf("%s %s is weekday %d, want %d", lang, word, m.weekday, day)
		}
		if got, ok := Parse(word+", 04 Mar 2026 05:06:07 GMT", lang); !ok || got.Format(time.RFC3339) != moment {
			t.Errorf("%s %s is %v, %v", lang, word, got, ok)
		}
	})
}

package date

import (
	"testing"
	"time"
)

// FuzzParse: no text causes a panic, and a parsed moment, formatted, parses to the same moment.
func FuzzParse(f *testing.F) {
	for _, forms := range [][]form{rfc822Forms, isoForms, zoneForms, epochForms, numericForms, englishForms, languageForms, abuses} {
		for _, form := range forms {
			f.Add(form.text, form.lang)
		}
	}
	for _, text := range refused {
		f.Add(text, "en")
	}
	f.Fuzz(func(t *testing.T, text, lang string) {
		got, ok := Parse(text, lang)
		if !ok {
			if !got.IsZero() {
				t.Fatalf("%q is refused with %v", text, got)
			}
			return
		}
		if got.IsZero() || got.Location() != time.UTC || got.Year() < 1 || got.Year() > 9999 {
			t.Fatalf("%q is %v", text, got)
		}
		written := got.Format(time.RFC3339Nano)
		if again, ok := Parse(written, ""); !ok || !again.Equal(got) {
			t.Fatalf("%q is %s, which is %v, %v", text, written, again, ok)
		}
	})
}

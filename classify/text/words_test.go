package text

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"
)

func TestWords(t *testing.T) {
	for _, test := range []struct {
		in   string
		want []string
	}{
		{"", nil},
		{" -- … !", nil},
		{"Hello, World!", []string{"hello", "world"}},
		{"C++, C# and Node.js.", []string{"c++", "c#", "and", "node.js"}},
		{"issue #5 of F#", []string{"issue", "5", "of", "f#"}},
		{"Don't, don’t 'quote'", []string{"don't", "don't", "quote"}},
		{"Go 1.26 x86-64", []string{"go", "1.26", "x86", "64"}},
		{"Ещё Ёлка", []string{"еще", "елка"}},
		{"е\u0308лка и\u0306", []string{"елка", "й"}},
		{"👍🏽ok🎉", []string{"ok"}},
		{"東京タワー2024", []string{"東", "京", "タ", "ワ", "ー", "2024"}},
		{"한국어 단어", []string{"한국어", "단어"}},
		{"naïve cafe\u0301", []string{"naïve", "café"}},
		{"Unter\u00ADnehmen", []string{"unternehmen"}},
		{"a\xffb", []string{"a", "b"}},
		{"ÄÖÜ ИЙ", []string{"äöü", "ий"}},
	} {
		var got []string
		for _, w := range Words(test.in) {
			got = append(got, w.Text)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("Words(%q) = %q, want %q", test.in, got, test.want)
		}
	}
}

func TestWords_ByteRanges(t *testing.T) {
	const s = "Ещё раз: C++ und Straße"
	for _, w := range Words(s) {
		if got := string(appendFolded(nil, s[w.Start:w.End])); got != w.Text {
			t.Errorf("[%d,%d): got %q, want %q", w.Start, w.End, got, w.Text)
		}
	}
}

func TestEachFolded_YieldsWords(t *testing.T) {
	const s = "The C++ of Ещё Straße, don’t Unter\u00ADnehmen: 東京 ЁЖ ok"
	var got, want []string
	for word := range EachFolded(s) {
		got = append(got, string(word))
	}
	for _, w := range Words(s) {
		want = append(want, w.Text)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func FuzzWords(f *testing.F) {
	f.Add("C++ don't Ёж 東京 e\u0301 \u00AD x\u00AD \xff#+.")
	f.Fuzz(func(t *testing.T, s string) {
		end := 0
		for _, w := range Words(s) {
			if w.Start < end || w.End <= w.Start || w.End > len(s) || w.Text == "" {
				t.Fatalf("got word %+v after byte %d of %q", w, end, s)
			}
			end = w.End
		}
	})
}

func BenchmarkWords(b *testing.B) {
	s := strings.Repeat("The new version of the container orchestrator closes a vulnerability. ", 45)
	b.ReportAllocs()
	for b.Loop() {
		Words(s)
	}
}

func TestAppendFolded_EveryLetter(t *testing.T) {
	for r := rune(1); r < 0x600; r++ {
		word := "Я" + string(r) + "Z"
		want := folded.Replace(strings.ToLower(norm.NFC.String(word)))
		if got := string(appendFolded(nil, word)); got != want {
			t.Errorf("%q (%U): got %q, want %q", word, r, got, want)
		}
	}
	if got, want := string(appendFolded([]byte("x"), "A\xd0")), "xa\uFFFD"; got != want {
		t.Errorf("got %q of half a letter, want %q", got, want)
	}
}

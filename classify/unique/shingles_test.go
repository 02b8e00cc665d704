package unique

import (
	"slices"
	"strings"
	"testing"
)

func TestChecksum_ExamplesOfSource2(t *testing.T) {
	for in, want := range map[string]int32{"My war is over.": 1759088479, "My war is over!": -127495474} {
		if got := Checksum(in); got != want {
			t.Errorf("Checksum(%q) = %d, want %d", in, got, want)
		}
	}
}

func TestCanonicalWords_DropsPunctuationAndStopWords(t *testing.T) {
	for _, test := range []struct{ in, language, want string }{
		{"The War, at last, IS over!", "en", "war last over"},
		{"Вчера в Москве, и не только: прошёл дождь.", "ru", "вчера москве прошел дождь"},
		{"", "en", ""},
	} {
		got := CanonicalWords(test.in, test.language)
		for _, w := range strings.Fields(test.want) {
			if !slices.Contains(got, w) {
				t.Errorf("Canonical(%q) = %q, want %q in it", test.in, got, w)
			}
		}
		for _, w := range []string{"the", "at", "is", "в", "и"} {
			if slices.Contains(got, w) {
				t.Errorf("Canonical(%q) = %q, want no %q", test.in, got, w)
			}
		}
	}
}

func TestChecksums_CountOfShingles(t *testing.T) {
	words := strings.Fields("a b c d e f g h i j k l")
	if got := len(Checksums(words, 10)); got != 3 {
		t.Errorf("got %d, want 3", got)
	}
	if got := Checksums(words[:9], 10); got != nil {
		t.Errorf("got %v of nine words, want none", got)
	}
}

func TestDice(t *testing.T) {
	for _, test := range []struct {
		a, b []int32
		want float64
	}{
		{[]int32{1, 2, 3}, []int32{1, 2, 3}, 100},
		{[]int32{1, 2, 3}, []int32{2, 3, 4}, 200. / 3},
		{[]int32{1, 1, 1}, []int32{1}, 50},
		{[]int32{1}, []int32{2}, 0},
		{nil, nil, 0},
	} {
		if got := Dice(test.a, test.b); got != test.want {
			t.Errorf("Dice(%v, %v) = %v, want %v", test.a, test.b, got, test.want)
		}
	}
}

func TestShingleFilter_UsesThePercentage(t *testing.T) {
	const a = "one two three four five six seven eight nine ten eleven twelve"
	const b = "one two three four five six seven eight nine ten eleven thirteen"
	for percent, want := range map[float64]bool{60: true, 70: false} {
		p, repeats := ShingleFilter{Words: 10, Percent: percent}.Compare(a, b, "none")
		if p < 66 || p > 67 || repeats != want {
			t.Errorf("at %v %%: got %v %%, %v; want two shingles of three, %v", percent, p, repeats, want)
		}
	}
}

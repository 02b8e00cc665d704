package near

import (
	"strings"
	"testing"
)

func TestTextHash_IgnoresSpacingPunctuationAndCase(t *testing.T) {
	const plain = "One two three four five six seven eight nine ten eleven, twelve: ещё слово."
	want := TextHash("A title", plain)
	if len(want) != 32 {
		t.Fatalf("got hash %q, want 32 characters", want)
	}
	for _, same := range []string{strings.ToUpper(plain), strings.ReplaceAll(plain, " ", "\n\t "), "«" + plain + "» !!", strings.ReplaceAll(plain, "ё", "е")} {
		if got := TextHash("a TITLE", same); got != want {
			t.Errorf("TextHash(%q) = %s, want %s", same, got, want)
		}
	}
	for _, other := range []string{plain + " more", strings.Replace(plain, "two", "too", 1), strings.Replace(plain, "One two", "Two one", 1)} {
		if got := TextHash("A title", other); got == want {
			t.Errorf("%q hashes like another text", other)
		}
	}
}

func TestTextHash_IsStable(t *testing.T) {
	const want = "9db88d6bbb55cedbd832ea3eb6d6c9de"
	if got := TextHash("Title", "one two three four five six seven eight nine ten eleven"); got != want {
		t.Errorf("got %q, want %q, as in stores that exist", got, want)
	}
}

func TestTextHash_NeedsTwelveWords(t *testing.T) {
	if got := TextHash("one two", "three four five six seven eight nine ten eleven"); got != "" {
		t.Errorf("eleven words: got %q, want none", got)
	}
	if got := TextHash("one two three four five six seven eight nine ten eleven twelve", ""); got == "" {
		t.Error("twelve words in the title: got no hash")
	}
}

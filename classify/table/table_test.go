package table

import (
	"fmt"
	"strings"
	"testing"
)

func TestTable_NumbersWordsInOrderOfInsertion(t *testing.T) {
	var table Table
	words := []string{"", "a", "ab", "ба", "a\x00", "\xff", strings.Repeat("long", 1000)}
	for i := range 5_000 {
		words = append(words, fmt.Sprint("word", i))
	}
	for i, w := range words {
		if n := table.Find(w); n != -1 {
			t.Fatalf("%.20q: got %d before it was added", w, n)
		}
		if n, isNew := table.Add(w); n != int32(i) || !isNew {
			t.Fatalf("%.20q: got %d, new %v; want %d", w, n, isNew, i)
		}
	}
	table.Fit()
	for i, w := range words {
		repeated, isNew := table.Add(w[:len(w)/2], w[len(w)/2:])
		if table.Find(w) != int32(i) || table.FindBytes([]byte(w)) != int32(i) || repeated != int32(i) || isNew || string(table.Word(int32(i))) != w {
			t.Fatalf("%.20q: got %d, %d, %d and %.20q; want %d", w, table.Find(w), table.FindBytes([]byte(w)), repeated, table.Word(int32(i)), i)
		}
	}
	if n := table.Len(); n != len(words) {
		t.Errorf("got %d words, want %d", n, len(words))
	}
	table.Clear()
	for _, w := range words {
		if table.Find(w) != -1 {
			t.Fatalf("%.20q is there after all was cleared", w)
		}
	}
	if n, isNew := table.Add("ab"); n != 0 || !isNew {
		t.Errorf("got %d, new %v, want the first number again", n, isNew)
	}
}

func TestTable_EmptyFindsNothing(t *testing.T) {
	var table Table
	if table.Find("") != -1 || table.FindBytes([]byte("a")) != -1 || table.Len() != 0 {
		t.Error("the empty table contains a word")
	}
}

func FuzzTable(f *testing.F) {
	f.Add("a b a ab ba ä")
	f.Fuzz(func(t *testing.T, text string) {
		var table Table
		numbers := make(map[string]int32)
		for _, w := range strings.Split(text, " ") {
			n, isNew := table.Add(w)
			if before, was := numbers[w]; isNew == was || was && n != before {
				t.Fatalf("%q: got %d, new %v; want the earlier number %d", w, n, isNew, before)
			}
			numbers[w] = n
		}
		for w, n := range numbers {
			if table.Find(w) != n {
				t.Errorf("%q: got %d, want %d", w, table.Find(w), n)
			}
		}
	})
}

func BenchmarkFind(b *testing.B) {
	var table Table
	for i := range 5_000 {
		table.Add("word", fmt.Sprint(i))
	}
	for _, word := range []string{"word42", "absent"} {
		b.Run(word, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				table.Find(word)
			}
		})
	}
}

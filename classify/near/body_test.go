package near

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// prose returns n random words of a vocabulary of 3000.
func prose(random *rand.Rand, n int) []string {
	words := make([]string, n)
	for i := range words {
		words[i] = fmt.Sprintf("w%c%c", 'a'+random.IntN(26), 'a'+random.IntN(26)) + fmt.Sprint(random.IntN(5))
	}
	return words
}

// jaccardOfShingles returns the Jaccard coefficient of the shingles of two lists of words.
func jaccardOfShingles(a, b []string) float64 {
	in := make(map[string]int) // 1: of a, 2: of b, 3: of both
	for which, words := range [][]string{a, b} {
		for i := range len(words) - shingleWords + 1 {
			in[strings.Join(words[i:i+shingleWords], " ")] |= 1 << which
		}
	}
	common := 0
	for _, which := range in {
		if which == 3 {
			common++
		}
	}
	return float64(common) / float64(len(in))
}

func TestBody_ResemblanceIsCloseToJaccard(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	s := Default()
	sum, worst, n := 0.0, 0.0, 0
	for range 200 {
		a := prose(random, 150+random.IntN(400))
		cut := random.IntN(len(a))
		b := append(append([]string{}, a[:cut]...), prose(random, len(a)-cut)...)
		x, y := s.Sketch("", strings.Join(a, " ")), s.Sketch("", strings.Join(b, " "))
		want := jaccardOfShingles(a, b)
		off := x.resemblance(&y.Body) - want
		sum, worst, n = sum+off*off, max(worst, math.Abs(off)), n+1
	}
	if e := math.Sqrt(sum / float64(n)); e > 0.05 || worst > 0.2 {
		t.Errorf("standard error %.3f, worst %.3f; want at most 0.05 and 0.2", e, worst)
	}
}

func TestCompare_TeasersAndWireCopiesMatchByContainment(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	s := Default()
	for _, test := range []struct {
		name       string
		from, upto int
		wrapped    int // foreign words around the copied part
		want       bool
	}{
		{"a teaser", 0, 50, 0, true},
		{"a teaser with a foreword and Read more", 0, 60, 8, true},
		{"a third from the middle", 300, 640, 0, true},
		{"half copied, half new", 0, 100, 100, false},
		{"no common words", 0, 0, 80, false},
	} {
		whole := prose(random, 1000)
		part := append(append(prose(random, test.wrapped/2), whole[test.from:test.upto]...), prose(random, test.wrapped/2)...)
		a, b := s.Sketch("A title of some length", strings.Join(whole, " ")), s.Sketch("What others wrote on it", strings.Join(part, " "))
		for _, pair := range [][2]*Sketch{{a, b}, {b, a}} {
			l := s.Compare(pair[0], pair[1], false)
			if got := l.By == "body"; got != test.want || got && !pair[0].SharesKey(pair[1]) {
				t.Errorf("%s: got %+v, met %v; want found %v", test.name, l, pair[0].SharesKey(pair[1]), test.want)
			}
		}
	}
}

func TestSketch_ShortTextHasNoBody(t *testing.T) {
	s := Default()
	if got := s.Sketch("Title", strings.Repeat("word ", 39)); got.Shingles != 0 || got.IndexKeys != nil {
		t.Errorf("39 words: got a body of %d shingles", got.Shingles)
	}
	if got := s.Sketch("Title", strings.Repeat("one two three four five ", 8)); got.Shingles != 5 {
		t.Errorf("40 words in a circle of five: got %d shingles, want 5", got.Shingles)
	}
}

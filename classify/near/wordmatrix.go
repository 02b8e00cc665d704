package near

import (
	"slices"
	"strings"
)

// An editor compares words. Its buffer is reused.
type editor struct{ row []int }

// similarity returns 1 - the edit distance of a and b / the length of the longer word, in characters, or 0 if that
// is below cut. O(len(a)*len(b)).
func (e *editor) similarity(a, b []rune, cut float64) float64 {
	longer := float64(max(len(a), len(b)))
	if longer == 0 || slices.Equal(a, b) {
		return 1
	}
	if float64(min(len(a), len(b)))/longer < cut {
		return 0 // the length difference alone exceeds the cut
	}
	if s := 1 - float64(e.distance(a, b))/longer; s >= cut {
		return s
	}
	return 0
}

// distance returns the least number of characters to insert, delete or replace to turn a into b.
//
// Source: V. Levenshtein, Binary codes capable of correcting deletions, insertions and reversals, 1966.
func (e *editor) distance(a, b []rune) int {
	row := e.row[:0]
	for j := range len(b) + 1 {
		row = append(row, j)
	}
	e.row = row
	for i, x := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j, y := range b {
			cost := diagonal
			if x != y {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// maxMatrix bounds the words of a text that enter a matrix.
const maxMatrix = 64

// MatrixSimilarity returns the similarity of two lists of words by source 3's method B: the maximum sum of
// word similarities over all assignments of words to words, divided by the number of words of the longer
// list. Similarities below cut count as 0. The result is 0 if either list is empty. Only the first 64 words
// of each list are compared. O(m^2*n) plus the edit distances of all pairs.
func MatrixSimilarity(a, b []string, cut float64) float64 {
	a, b = a[:min(len(a), maxMatrix)], b[:min(len(b), maxMatrix)]
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(a) == 0 {
		return 0
	}
	var e editor
	rows, columns := runes(a), runes(b)
	matrix := make([][]float64, len(a))
	for i := range matrix {
		matrix[i] = make([]float64, len(b))
		for j := range matrix[i] {
			matrix[i][j] = e.similarity(rows[i], columns[j], cut)
		}
	}
	return assign(matrix) / float64(len(b))
}

func runes(words []string) [][]rune {
	list := make([][]rune, len(words))
	for i, w := range words {
		list[i] = []rune(w)
	}
	return list
}

// matrixBound returns an upper bound of the MatrixSimilarity of two folded titles: at best, each word of the
// shorter title equals a word of the longer one.
func matrixBound(a, b string) float64 {
	m, n := 1+strings.Count(a, " "), 1+strings.Count(b, " ")
	return float64(min(m, n)) / float64(max(m, n))
}

package near

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestEditor_WordSimilarity(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want float64
	}{
		{"kitten", "sitting", 1 - 3./7},
		{"роза", "розы", 0.75},
		{"same", "same", 1},
		{"", "", 1},
		{"ab", "", 0},
	} {
		var e editor
		if got := e.similarity([]rune(test.a), []rune(test.b), 0); math.Abs(got-test.want) > 1e-9 {
			t.Errorf("similarity of %q and %q = %v, want %v", test.a, test.b, got, test.want)
		}
	}
}

func TestMatrixSimilarity(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want float64
	}{
		{"one two three", "three one two", 1},
		{"one two", "one two three four", 0.5},
		{"аккумулятор", "аккумуляторы", 11. / 12},
		{"abcde", "vwxyz", 0},
		{"abcdefgh", "axxxxxxx", 0}, // an eighth is less than the cut
		{"", "one", 0},
	} {
		got := MatrixSimilarity(strings.Fields(test.a), strings.Fields(test.b), 0.2)
		back := MatrixSimilarity(strings.Fields(test.b), strings.Fields(test.a), 0.2)
		if math.Abs(got-test.want) > 1e-9 || math.Abs(got-back) > 1e-9 {
			t.Errorf("%q, %q: got %v and %v, want %v", test.a, test.b, got, back, test.want)
		}
	}
}

// best returns the maximum sum over all assignments of the rows from row on.
func best(matrix [][]float64, row int, used map[int]bool) float64 {
	if row == len(matrix) {
		return 0
	}
	most := 0.0
	for j, value := range matrix[row] {
		if !used[j] {
			used[j] = true
			most = max(most, value+best(matrix, row+1, used))
			delete(used, j)
		}
	}
	return most
}

func TestAssign_FindsMaximumSum(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for range 500 {
		m := 1 + random.IntN(5)
		n := m + random.IntN(3)
		matrix := make([][]float64, m)
		for i := range matrix {
			for range n {
				matrix[i] = append(matrix[i], float64(random.IntN(6))/5)
			}
		}
		if got, want := assign(matrix), best(matrix, 0, map[int]bool{}); math.Abs(got-want) > 1e-9 {
			t.Fatalf("assign(%v) = %v, want %v", matrix, got, want)
		}
	}
}

package near

import "math"

// assign returns the maximum sum of an assignment of the rows of a matrix to its columns: one element of each
// of m rows, at most one of each of n >= m columns. O(m^2*n).
//
// Source: H. Kuhn, The Hungarian method for the assignment problem, 1955, in the form with potentials and
// shortest augmenting paths.
func assign(matrix [][]float64) float64 {
	m, n := len(matrix), len(matrix[0])
	// Row 0 and column 0 are sentinels: not assigned.
	u, v := make([]float64, m+1), make([]float64, n+1)
	rowOf, previous := make([]int, n+1), make([]int, n+1)
	for i := 1; i <= m; i++ {
		least, used := make([]float64, n+1), make([]bool, n+1)
		for j := range least {
			least[j] = math.Inf(1)
		}
		rowOf[0] = i
		column := 0
		for rowOf[column] != 0 {
			used[column] = true
			row, next, delta := rowOf[column], 0, math.Inf(1)
			for j := 1; j <= n; j++ {
				if used[j] {
					continue
				}
				if cost := -matrix[row-1][j-1] - u[row] - v[j]; cost < least[j] {
					least[j], previous[j] = cost, column
				}
				if least[j] < delta {
					delta, next = least[j], j
				}
			}
			for j := 0; j <= n; j++ {
				if used[j] {
					u[rowOf[j]] += delta
					v[j] -= delta
				} else {
					least[j] -= delta
				}
			}
			column = next
		}
		for column != 0 {
			rowOf[column] = rowOf[previous[column]]
			column = previous[column]
		}
	}
	sum := 0.0
	for j := 1; j <= n; j++ {
		if rowOf[j] != 0 {
			sum += matrix[rowOf[j]-1][j-1]
		}
	}
	return sum
}

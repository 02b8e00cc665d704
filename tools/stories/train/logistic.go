package train

import "math"

// An example is the evidence of two things and whether they belong together.
type example struct {
	evidence []float64
	together bool
	weight   float64
}

const (
	newtonSteps = 25
	penalty     = 1.0 // of the squared weights; the weight of examples is scaled to their number
)

// fit returns the weights of a logistic regression, found by Newton's method. The evidence of all examples has the
// same length, and its first value, which is not penalized, is 1.
func fit(examples []example) []float64 {
	n := len(examples[0].evidence)
	total := 0.0
	for _, e := range examples {
		total += e.weight
	}
	scale := float64(len(examples)) / total
	weights := make([]float64, n)
	for range newtonSteps {
		gradient, hessian := make([]float64, n), matrix(n)
		for i := 1; i < n; i++ {
			gradient[i], hessian[i][i] = penalty*weights[i], penalty
		}
		hessian[0][0] = 1e-9
		for _, e := range examples {
			log := 0.0
			for i, x := range e.evidence {
				log += x * weights[i]
			}
			p, want := 1/(1+math.Exp(-log)), 0.0
			if e.together {
				want = 1
			}
			error, curve := scale*e.weight*(p-want), scale*e.weight*p*(1-p)
			for i, x := range e.evidence {
				if x == 0 {
					continue
				}
				gradient[i] += error * x
				for j, y := range e.evidence[:i+1] {
					hessian[i][j] += curve * x * y
				}
			}
		}
		step := solve(hessian, gradient)
		length := 0.0
		for i := range weights {
			weights[i] -= step[i]
			length += step[i] * step[i]
		}
		if length < 1e-12 {
			break
		}
	}
	return weights
}

func matrix(n int) [][]float64 {
	m := make([][]float64, n)
	for i := range m {
		m[i] = make([]float64, n)
	}
	return m
}

// solve returns x of a*x = b by Cholesky decomposition. a is symmetric and positive definite, and only its lower half
// is read.
func solve(a [][]float64, b []float64) []float64 {
	n := len(b)
	l, x := matrix(n), make([]float64, n)
	for i := range n {
		for j := range i + 1 {
			sum := a[i][j]
			for k := range j {
				sum -= l[i][k] * l[j][k]
			}
			if i == j {
				l[i][i] = math.Sqrt(max(sum, 1e-12))
			} else {
				l[i][j] = sum / l[j][j]
			}
		}
	}
	for i := range n { // l*y = b
		x[i] = b[i]
		for k := range i {
			x[i] -= l[i][k] * x[k]
		}
		x[i] /= l[i][i]
	}
	for i := n - 1; i >= 0; i-- { // transposed l*x = y
		for k := i + 1; k < n; k++ {
			x[i] -= l[k][i] * x[k]
		}
		x[i] /= l[i][i]
	}
	return x
}

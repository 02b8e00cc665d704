package measure

import (
	"math"
	"slices"
)

// components are the connected components of the items with a similarity of at least the radius.
func components(items []Record) []int {
	all, radius := vectors(items), componentRadius.of(items)
	root := make([]int, len(items))
	find := func(i int) int {
		for root[i] != i {
			root[i] = root[root[i]]
			i = root[i]
		}
		return i
	}
	for i := range all {
		root[i] = i
		for j := range i {
			if find(i) != find(j) && all[i].dot(all[j]) >= radius {
				root[find(i)] = find(j)
			}
		}
	}
	for i := range root {
		root[i] = find(i)
	}
	return root
}

const kmeansRounds = 10

// kmeans starts from the k most distant items. k is the labelled number of stories, which is not available in
// production.
func kmeans(items []Record) []int {
	all := vectors(items)
	stories := make(map[string]bool)
	for _, item := range items {
		stories[item.Story] = true
	}
	centres := farthest(all, len(stories))
	of := make([]int, len(all))
	for round := range kmeansRounds {
		changed := false
		for i, v := range all {
			best, closest := 0, math.Inf(1)
			for j, c := range centres {
				// The square of the Euclidean distance without |v|², which is 1 for all.
				if d := c.dot(c) - 2*v.dot(c); d < closest {
					best, closest = j, d
				}
			}
			changed = changed || of[i] != best
			of[i] = best
		}
		if !changed && round > 0 {
			break
		}
		centres = means(all, of, len(centres))
	}
	return of
}

// farthest returns k vectors: the first, then repeatedly the one farthest from those chosen.
func farthest(all []vector, k int) []vector {
	near := make([]float64, len(all)) // closeness to the nearest
	next := 0
	var list []vector
	for range min(k, len(all)) {
		list = append(list, all[next])
		for i, v := range all {
			near[i] = max(near[i], v.dot(all[next]))
		}
		near[next] = math.Inf(1)
		next = slices.Index(near, slices.Min(near))
	}
	return list
}

// means returns the mean of each cluster's vectors; an empty cluster stays empty.
func means(all []vector, of []int, k int) []vector {
	sums, sizes := make([]vector, k), make([]int, k)
	for i, v := range all {
		sums[of[i]] = sums[of[i]].plus(v)
		sizes[of[i]]++
	}
	for j := range sums {
		for i := range sums[j] {
			sums[j][i].weight /= float64(sizes[j])
		}
	}
	return sums
}

const (
	chainWords = 8  // keywords of an item
	chainLooks = 50 // newest items of a chain that are compared
)

// chains is infostream's method: an item joins the chain in which most items have a similar sequence of
// keywords; of equal chains the freshest.
func chains(items []Record) []int {
	all, radius := vectors(items), chainRadius.of(items)
	keywords := make([][]int, len(all))
	of := make([]int, len(all))
	var chain [][]int // items of each, oldest first
	for i, v := range all {
		keywords[i] = v.heaviest(chainWords)
		best, most, freshest := -1, 0, -1
		for j, c := range chain {
			n := 0
			for _, k := range c[max(0, len(c)-chainLooks):] {
				if common(keywords[i], keywords[k]) >= radius {
					n++
				}
			}
			if newest := c[len(c)-1]; n > most || n == most && n > 0 && newest > freshest {
				best, most, freshest = j, n, newest
			}
		}
		if best < 0 {
			best = len(chain)
			chain = append(chain, nil)
		}
		of[i] = best
		chain[best] = append(chain[best], i)
	}
	return of
}

// common returns the share of keywords that two items share.
func common(a, b []int) float64 {
	n := 0
	for _, w := range a {
		if slices.Contains(b, w) {
			n++
		}
	}
	return float64(n) / float64(max(1, len(a), len(b)))
}

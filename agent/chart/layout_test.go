package chart

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// randomGraph returns nodes of one to three lines and edges, each to a later node.
func randomGraph(seed uint64) (heights []float64, edges []Edge) {
	random := rand.New(rand.NewPCG(seed, 1))
	for i := range 2 + random.IntN(60) {
		heights = append(heights, 18+17*float64(1+random.IntN(3)))
		for range random.IntN(4) {
			if i > 0 {
				edges = append(edges, Edge{random.IntN(i), i, random.IntN(4) == 0})
			}
		}
	}
	random.Shuffle(len(edges), func(i, j int) { edges[i], edges[j] = edges[j], edges[i] })
	return heights, edges
}

func TestArrange_NoNodesOverlapAndAllArrowsGoRight(t *testing.T) {
	for seed := range uint64(200) {
		heights, edges := randomGraph(seed)
		l := arrange(heights, edges)
		if again := arrange(heights, edges); !reflect.DeepEqual(l, again) {
			t.Fatalf("graph %d has two layouts", seed)
		}
		for i, a := range l.nodes {
			if a.x < 0 || a.y < 0 || a.x+nodeWidth > l.width || a.y+a.height > l.height {
				t.Errorf("graph %d: node %d is outside: %+v", seed, i, a)
			}
			for j, b := range l.nodes[:i] {
				if a.x < b.x+nodeWidth && b.x < a.x+nodeWidth && a.y < b.y+b.height && b.y < a.y+a.height {
					t.Errorf("graph %d: nodes %d and %d overlap: %+v, %+v", seed, i, j, a, b)
				}
			}
		}
		for _, e := range edges {
			if l.nodes[e.From].x+nodeWidth >= l.nodes[e.To].x {
				t.Errorf("graph %d: %+v does not go right", seed, e)
			}
		}
		for _, line := range l.lines {
			if line.to.x-line.from.x != columnGap {
				t.Errorf("graph %d: %+v does not lead to the next column", seed, line)
			}
			if line.through == 0 {
				continue
			}
			for i, b := range l.nodes { // the way through a column
				if line.to.x < b.x+nodeWidth && b.x < line.to.x+line.through && line.to.y > b.y && line.to.y < b.y+b.height {
					t.Errorf("graph %d: %+v passes through node %d", seed, line, i)
				}
			}
		}
		if slices.Sort(l.order); len(l.order) != len(heights) || l.order[len(l.order)-1] != len(heights)-1 {
			t.Errorf("graph %d: got the order %v", seed, l.order)
		}
	}
}

// crossings returns the number of lines that cross.
func (l layout) crossings() (n int) {
	for i, a := range l.lines {
		for _, b := range l.lines[:i] {
			if a.from.x == b.from.x && (a.from.y-b.from.y)*(a.to.y-b.to.y) < 0 {
				n++
			}
		}
	}
	return n
}

func TestArrange_FewCrossings(t *testing.T) {
	// Sources in the reverse order of their readers, which a third view reads.
	heights := slices.Repeat([]float64{35}, 9)
	l := arrange(heights, []Edge{{0, 7, false}, {1, 6, false}, {2, 5, false}, {3, 4, false}, {0, 8, false}, {7, 8, false}})
	if n := l.crossings(); n > 0 {
		t.Errorf("got %d crossings, want none", n)
	}
	var before, after int
	for seed := range uint64(50) {
		heights, edges := randomGraph(seed)
		g := &grid{}
		edges = acyclic(len(heights), edges)
		for i, column := range columnsOf(len(heights), edges) {
			g.add(slot{column: column, height: heights[i]})
		}
		g.connect(edges)
		g.stack()
		before, after = before+g.layout(len(heights)).crossings(), after+arrange(heights, edges).crossings()
	}
	if after > before/2 {
		t.Errorf("got %d crossings of %d without sorting, want half at most", after, before)
	}
}

func TestArrange_CyclesAndOddEdges(t *testing.T) {
	l := arrange([]float64{35, 35, 35}, []Edge{{0, 1, false}, {1, 2, false}, {2, 0, false}, {1, 1, false}, {0, 1, false}})
	if len(l.lines) != 2 || l.nodes[0].x >= l.nodes[1].x || l.nodes[1].x >= l.nodes[2].x {
		t.Errorf("got %+v, want the two edges that close no cycle", l)
	}
	if l := arrange(nil, nil); len(l.nodes) != 0 {
		t.Errorf("got %+v", l)
	}
}

func TestFitting_CountsWideCharacters(t *testing.T) {
	for text, want := range map[string]string{
		"short": "short", "twenty-one characters": "twenty-one characters", "twenty-two characters.": "twenty-two character…",
		"語語語語語語語語語語": "語語語語語語語語語語", "語語語語語語語語語語語": "語語語語語語語語語語…",
	} {
		if got := fitting(text); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

package chart

import (
	"cmp"
	"slices"
)

const (
	columnGap = 70.0 // between the columns of a graph, for its arrows
	rowGap    = 14.0
	wayHeight = 6.0 // of an arrow that passes through a column
	margin    = 4.0

	dashedBelow = 8.0 // distance of dashed lines from the middle of a node

	sweeps = 12 // how often the columns are sorted, and their slots moved
)

// A layout has the positions of a graph.
type layout struct {
	width, height float64
	nodes         []box
	order         []int // of the nodes, by column and row
	lines         []line
}

// A box is the place of a node; all are nodeWidth wide.
type box struct{ x, y, height float64 }

type point struct{ x, y float64 }

// A line goes right, from a column to the next. It ends at a node, or passes straight through the column.
type line struct {
	from, to point
	through  float64 // length of its way through the column; 0: it ends at a node
	dashed   bool
}

// A slot is a node, or the way of a node's arrows through a column. Arrows of one node and style share their ways.
type slot struct {
	column int
	height float64
	y      float64 // upper edge
	before []int   // slots of the column before, whose arrows lead here
	after  []link
}

// A link leads to a slot of the next column.
type link struct {
	to     int
	dashed bool
}

func (s slot) middle() float64 { return s.y + s.height/2 }

// A grid arranges slots in columns.
type grid struct {
	slots   []slot // the nodes first
	columns [][]int
}

// arrange places nodes with these heights. It follows K. Sugiyama et al., Methods for visual understanding of hierarchical system
// structures, 1981: columns by longest path, ways for long arrows, fewer crossings by barycentres. The same graph gets the same layout.
func arrange(heights []float64, edges []Edge) layout {
	edges = acyclic(len(heights), edges)
	g := &grid{}
	for i, column := range columnsOf(len(heights), edges) {
		g.add(slot{column: column, height: heights[i]})
	}
	g.connect(edges)
	for i := range sweeps {
		g.sort(i%2 == 0)
	}
	g.stack()
	for i := range sweeps {
		g.move(i%2 == 0)
	}
	return g.layout(len(heights))
}

func (g *grid) add(s slot) int {
	id := len(g.slots)
	g.slots = append(g.slots, s)
	for len(g.columns) <= s.column {
		g.columns = append(g.columns, nil)
	}
	g.columns[s.column] = append(g.columns[s.column], id)
	return id
}

// acyclic returns the edges between two nodes, each once, in the order of the nodes, without those that close a cycle.
func acyclic(nodes int, edges []Edge) []Edge {
	after := make([][]Edge, nodes)
	for _, e := range edges {
		if e.From != e.To && !slices.Contains(after[e.From], e) {
			after[e.From] = append(after[e.From], e)
		}
	}
	const visiting, visited = 1, 2
	state := make([]int, nodes)
	var kept []Edge
	var visit func(node int)
	visit = func(node int) {
		state[node] = visiting
		for _, e := range after[node] {
			if state[e.To] == visiting {
				continue
			}
			kept = append(kept, e)
			if state[e.To] == 0 {
				visit(e.To)
			}
		}
		state[node] = visited
	}
	for node := range nodes {
		if state[node] == 0 {
			visit(node)
		}
	}
	slices.SortStableFunc(kept, func(a, b Edge) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
	return kept
}

// columnsOf returns the column of each node: the length of the longest way to it.
func columnsOf(nodes int, edges []Edge) []int {
	columns, waiting, after := make([]int, nodes), make([]int, nodes), make([][]int, nodes)
	for _, e := range edges {
		waiting[e.To]++
		after[e.From] = append(after[e.From], e.To)
	}
	var ready []int
	for node, n := range waiting {
		if n == 0 {
			ready = append(ready, node)
		}
	}
	for len(ready) > 0 {
		node := ready[0]
		ready = ready[1:]
		for _, to := range after[node] {
			columns[to] = max(columns[to], columns[node]+1)
			if waiting[to]--; waiting[to] == 0 {
				ready = append(ready, to)
			}
		}
	}
	return columns
}

// connect makes neighbours of the slots along the edges, and adds ways through the columns between.
func (g *grid) connect(edges []Edge) {
	type way struct {
		from, column int
		dashed       bool
	}
	ways := map[way]int{}
	join := func(from, to int, dashed bool) {
		g.slots[from].after, g.slots[to].before = append(g.slots[from].after, link{to, dashed}), append(g.slots[to].before, from)
	}
	for _, e := range edges {
		last := e.From
		for column := g.slots[e.From].column + 1; column < g.slots[e.To].column; column++ {
			key := way{e.From, column, e.Dashed}
			id, is := ways[key]
			if !is {
				id = g.add(slot{column: column, height: wayHeight})
				ways[key] = id
				join(last, id, e.Dashed)
			}
			last = id
		}
		join(last, e.To, e.Dashed)
	}
}

// neighbours returns the slots beside a slot: those before it, or those after it.
func (g *grid) neighbours(id int, before bool) []int {
	if before {
		return g.slots[id].before
	}
	after := make([]int, len(g.slots[id].after))
	for i, l := range g.slots[id].after {
		after[i] = l.to
	}
	return after
}

// inTurn returns the columns in the direction of a sweep: from the second to the right, or from the last but one to the left.
func (g *grid) inTurn(right bool) [][]int {
	columns := slices.Clone(g.columns)
	if !right {
		slices.Reverse(columns)
	}
	return columns[min(1, len(columns)):]
}

// mean returns the mean of a value of a slot's neighbours; without neighbours its own.
func (g *grid) mean(id int, before bool, value func(id int) float64) float64 {
	neighbours := g.neighbours(id, before)
	if len(neighbours) == 0 {
		return value(id)
	}
	sum := 0.0
	for _, n := range neighbours {
		sum += value(n)
	}
	return sum / float64(len(neighbours))
}

// sort orders the slots of each column by the mean row of their neighbours in the column that was sorted before.
func (g *grid) sort(right bool) {
	rows := make([]float64, len(g.slots))
	number := func(column []int) {
		for row, id := range column {
			rows[id] = (float64(row) + 0.5) / float64(len(column))
		}
	}
	for _, column := range g.columns {
		number(column)
	}
	for _, column := range g.inTurn(right) {
		means := make(map[int]float64, len(column))
		for _, id := range column {
			means[id] = g.mean(id, right, func(id int) float64 { return rows[id] })
		}
		slices.SortStableFunc(column, func(a, b int) int { return cmp.Compare(means[a], means[b]) })
		number(column)
	}
}

// stack places the slots of each column below each other.
func (g *grid) stack() {
	for _, column := range g.columns {
		y := 0.0
		for _, id := range column {
			g.slots[id].y = y
			y += g.slots[id].height + rowGap
		}
	}
}

// move places the slots of each column as near as possible to the mean height of their neighbours, in their order and without overlap.
func (g *grid) move(right bool) {
	for _, column := range g.inTurn(right) {
		wanted, offset := make([]float64, len(column)), 0.0
		for i, id := range column {
			s := g.slots[id]
			wanted[i] = g.mean(id, right, func(id int) float64 { return g.slots[id].middle() }) - s.height/2 - offset
			offset += s.height + rowGap
		}
		offset = 0
		for i, y := range ascending(wanted) {
			s := &g.slots[column[i]]
			s.y = y + offset
			offset += s.height + rowGap
		}
	}
}

// ascending returns the numbers in ascending order that are nearest to the given ones by the sum of squared distances: numbers that
// are not in order get their mean (pool adjacent violators).
func ascending(values []float64) []float64 {
	type pool struct {
		sum float64
		n   int
	}
	mean := func(p pool) float64 { return p.sum / float64(p.n) }
	var pools []pool
	for _, v := range values {
		pools = append(pools, pool{v, 1})
		for last := len(pools) - 1; last > 0 && mean(pools[last-1]) > mean(pools[last]); last-- {
			pools[last-1] = pool{pools[last-1].sum + pools[last].sum, pools[last-1].n + pools[last].n}
			pools = pools[:last]
		}
	}
	sorted := values[:0]
	for _, p := range pools {
		for range p.n {
			sorted = append(sorted, mean(p))
		}
	}
	return sorted
}

// layout returns the positions of the first slots, which are the nodes, and of the lines between all.
func (g *grid) layout(nodes int) layout {
	l := layout{nodes: make([]box, nodes)}
	highest := 0.0
	for _, s := range g.slots {
		highest = min(highest, s.y)
	}
	x := func(column int) float64 { return margin + float64(column)*(nodeWidth+columnGap) }
	for id := range g.slots {
		s := &g.slots[id]
		s.y += margin - highest
		l.width, l.height = max(l.width, x(s.column)+nodeWidth+margin), max(l.height, s.y+s.height+margin)
		if id < nodes {
			l.nodes[id] = box{x(s.column), s.y, s.height}
		}
	}
	for _, column := range g.columns {
		for _, id := range column {
			if id < nodes {
				l.order = append(l.order, id)
			}
		}
	}
	// Where lines of both styles meet a node, the dashed ones are lower.
	at := func(id int, dashed bool) float64 {
		if dashed && id < nodes {
			return g.slots[id].middle() + dashedBelow
		}
		return g.slots[id].middle()
	}
	for id, s := range g.slots {
		for _, next := range s.after {
			line := line{point{x(s.column) + nodeWidth, at(id, next.dashed)}, point{x(s.column + 1), at(next.to, next.dashed)}, 0, next.dashed}
			if next.to >= nodes {
				line.through = nodeWidth
			}
			l.lines = append(l.lines, line)
		}
	}
	return l
}

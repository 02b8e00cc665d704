package rule

import (
	"fmt"
	"iter"
	"slices"
	"strings"
)

// Order returns the indexes of the rules in an order in which each comes after
// all rules that conclude what it asks for by fact:, category: or topic:. It is the
// same for equal sets. The error, of type [Faults], names the cycles that make it
// impossible; a set that [Parse] returned has none.
func (s *Set) Order() ([]int, error) {
	order, cycles := s.sort()
	if err := cycles.err(); err != nil {
		return nil, err
	}
	return order, nil
}

// A conclusion is what facts are about.
type conclusion struct {
	of   Of
	name string
}

func (c conclusion) String() string { return factNames[c.of] + " " + c.name }

// facts yields all facts that a condition asks for, in order.
func facts(x Expr) iter.Seq[*Fact] {
	return func(yield func(*Fact) bool) {
		walk(x, func(x Expr) bool {
			f, ok := x.(*Fact)
			return !ok || yield(f)
		})
	}
}

// walk calls visit for x and all within it, until it returns false.
func walk(x Expr, visit func(Expr) bool) bool {
	if !visit(x) {
		return false
	}
	for _, inner := range within(x) {
		if !walk(inner, visit) {
			return false
		}
	}
	return true
}

// within returns the conditions that x is made of.
func within(x Expr) []Expr {
	switch x := x.(type) {
	case *Or:
		return x.Of
	case *And:
		return x.Of
	case *AtLeast:
		return x.Of
	case *Not:
		return []Expr{x.X}
	case *Near:
		return []Expr{x.A, x.B}
	}
	return nil
}

// conclusions returns what a rule concludes: at most two.
func (t Then) conclusions() []conclusion {
	var list []conclusion
	switch {
	case t.Do == Know:
		return []conclusion{{Known, t.Name}}
	case t.Do != Conclude:
		return nil
	}
	if t.Name != "" {
		list = append(list, conclusion{Category, t.Name})
	}
	if t.Topic != "" {
		list = append(list, conclusion{Topic, t.Topic})
	}
	return list
}

// A graph has a node for each rule, and behind them one for each conclusion that
// a rule asks for, so that there are not more edges than facts in the rules, and
// conclusions of them, however many rules conclude the same.
type graph struct {
	rules       int
	conclusions []conclusion
	edges       [][]int // of a rule to what it asks for, of that to the rules that conclude it
}

func (s *Set) graph() *graph {
	g := &graph{rules: len(s.Rules), edges: make([][]int, len(s.Rules))}
	nodes := make(map[conclusion]int)
	for i, r := range s.Rules {
		for f := range facts(r.When) {
			c := conclusion{f.Of, f.Name}
			node, ok := nodes[c]
			if !ok {
				node = len(g.edges)
				nodes[c] = node
				g.conclusions = append(g.conclusions, c)
				g.edges = append(g.edges, nil)
			}
			g.edges[i] = append(g.edges[i], node)
		}
	}
	for i, r := range s.Rules {
		for _, c := range r.Then.conclusions() {
			if node, ok := nodes[c]; ok {
				g.edges[node] = append(g.edges[node], i)
			}
		}
	}
	return g
}

// sort returns the order of the rules, and a fault for each group of rules that
// need one another, at most [maxFaults].
//
// Source: R. Tarjan, Depth-first search and linear graph algorithms, 1972.
func (s *Set) sort() ([]int, Faults) {
	g := s.graph()
	order := make([]int, 0, g.rules)
	var groups [][]int
	for group := range g.components() {
		if len(group) > 1 {
			slices.Sort(group) // the rules are before the conclusions
			groups = append(groups, group)
		} else if group[0] < g.rules {
			order = append(order, group[0])
		}
	}
	slices.SortFunc(groups, func(a, b []int) int { return a[0] - b[0] })
	var cycles Faults
	for _, group := range groups[:min(len(groups), maxFaults)] {
		cycles = append(cycles, s.cycle(g, group[0]))
	}
	return order, cycles
}

// components yields the strongly connected parts of the graph, each after those
// that its edges lead to.
func (g *graph) components() iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		found := make([]int, len(g.edges)) // when a node was found, from 1
		low := make([]int, len(g.edges))   // the earliest on the stack that it leads to
		done := make([]bool, len(g.edges))
		var stack []int
		clock := 0
		var visit func(node int) bool
		visit = func(node int) bool {
			clock++
			found[node], low[node] = clock, clock
			stack = append(stack, node)
			for _, next := range g.edges[node] {
				if found[next] == 0 && !visit(next) {
					return false
				}
				if !done[next] {
					low[node] = min(low[node], low[next])
				}
			}
			if low[node] < found[node] {
				return true
			}
			first := len(stack) - 1
			for stack[first] != node {
				first--
			}
			group := slices.Clone(stack[first:])
			stack = stack[:first]
			for _, n := range group {
				done[n] = true
			}
			return yield(group)
		}
		for node := range g.rules {
			if found[node] == 0 && !visit(node) {
				return
			}
		}
	}
}

// maxNamed is how many rules of a cycle are named.
const maxNamed = 8

// cycle returns the fault that names a shortest cycle through a rule.
func (s *Set) cycle(g *graph, first int) Fault {
	path := g.shortest(first)
	var b strings.Builder
	b.WriteString("rules need one another: ")
	for i := 0; i < len(path) && i < 2*maxNamed; i += 2 {
		from, asked := s.Rules[path[i]], g.conclusions[path[i+1]-g.rules]
		if i == 0 {
			fmt.Fprintf(&b, "%s needs %s", from.line(), asked)
		} else {
			fmt.Fprintf(&b, ", which %s concludes from %s", from.line(), asked)
		}
	}
	if len(path) > 2*maxNamed {
		fmt.Fprintf(&b, " (and %d rules more)", (len(path)-2*maxNamed)/2)
	}
	fmt.Fprintf(&b, ", which %s concludes: take one of these out", s.Rules[first].line())
	return Fault{s.Rules[first].Pos, b.String()}
}

func (r Rule) line() string { return fmt.Sprintf("%s:%d", r.Pos.File, r.Pos.Line) }

// shortest returns the nodes of a shortest way from a node back to it, without
// the end. There is one.
func (g *graph) shortest(node int) []int {
	from := make(map[int]int)
	for queue := []int{node}; len(queue) > 0; queue = queue[1:] {
		for _, next := range g.edges[queue[0]] {
			if next == node {
				return way(from, node, queue[0])
			}
			if _, seen := from[next]; !seen {
				from[next] = queue[0]
				queue = append(queue, next)
			}
		}
	}
	return nil
}

// way returns the nodes from first to last, where from says from which node each
// was reached.
func way(from map[int]int, first, last int) []int {
	path := []int{last}
	for last != first {
		last = from[last]
		path = append(path, last)
	}
	slices.Reverse(path)
	return path
}

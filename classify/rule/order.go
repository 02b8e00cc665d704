package rule

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"feedmesh/classify/expression"
)

// EvaluationOrder returns the indexes of the rules so that each rule comes after all rules on whose
// conclusions it depends by fact:, category: or topic:. Equal sets have equal orders. The error is of type
// [Diagnostics] and names the cycles; a set that [Parse] returned has none.
func (s *Set) EvaluationOrder() ([]int, error) {
	order, cycles := s.sort()
	if err := cycles.err(); err != nil {
		return nil, err
	}
	return order, nil
}

// A conclusion is a fact, category or topic that rules conclude.
type conclusion struct {
	kind FactKind
	name string
}

func (c conclusion) String() string { return factNames[c.kind] + " " + c.name }

// facts yields the facts in a condition, in order.
func facts(x Expr) iter.Seq[*Fact] {
	return func(yield func(*Fact) bool) {
		for x := range expression.Walk(x) {
			if f, is := x.(*Fact); is && !yield(f) {
				return
			}
		}
	}
}

// conclusions returns the conclusions of an action, at most two.
func (t Action) conclusions() []conclusion {
	var list []conclusion
	switch {
	case t.Kind == ConcludeFact:
		return []conclusion{{NamedFact, t.Name}}
	case t.Kind != Conclude:
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

// A graph has a node for each rule, followed by a node for each conclusion that a rule depends on. The
// conclusion nodes keep the number of edges linear even if many rules conclude the same.
type graph struct {
	rules       int
	conclusions []conclusion
	edges       [][]int // from a rule to its dependencies, from a conclusion to the rules that conclude it
}

func (s *Set) graph() *graph {
	g := &graph{rules: len(s.Rules), edges: make([][]int, len(s.Rules))}
	nodes := make(map[conclusion]int)
	for i, r := range s.Rules {
		for f := range facts(r.Condition) {
			c := conclusion{f.Kind, f.Name}
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
		for _, c := range r.Action.conclusions() {
			if node, ok := nodes[c]; ok {
				g.edges[node] = append(g.edges[node], i)
			}
		}
	}
	return g
}

// sort returns the order of the rules, and a diagnostic for each group of rules that depend on one another,
// at most [maxDiagnostics].
//
// Source: R. Tarjan, Depth-first search and linear graph algorithms, 1972.
func (s *Set) sort() ([]int, Diagnostics) {
	g := s.graph()
	order := make([]int, 0, g.rules)
	var groups [][]int
	for group := range g.components() {
		if len(group) > 1 {
			slices.Sort(group) // rules have lower numbers than conclusions
			groups = append(groups, group)
		} else if group[0] < g.rules {
			order = append(order, group[0])
		}
	}
	slices.SortFunc(groups, func(a, b []int) int { return a[0] - b[0] })
	var cycles Diagnostics
	for _, group := range groups[:min(len(groups), maxDiagnostics)] {
		cycles = append(cycles, s.cycle(g, group[0]))
	}
	return order, cycles
}

// components yields the strongly connected components of the graph, each after those that its edges lead to.
func (g *graph) components() iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		found := make([]int, len(g.edges)) // discovery order of a node, from 1
		low := make([]int, len(g.edges))   // lowest discovery order on the stack that it reaches
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

// maxNamed bounds the rules named in a cycle.
const maxNamed = 8

// cycle returns a diagnostic that names a shortest cycle through a rule.
func (s *Set) cycle(g *graph, first int) Diagnostic {
	path := g.shortest(first)
	var b strings.Builder
	b.WriteString("rules depend on one another: ")
	for i := 0; i < len(path) && i < 2*maxNamed; i += 2 {
		from, to := s.Rules[path[i]], g.conclusions[path[i+1]-g.rules]
		if i == 0 {
			fmt.Fprintf(&b, "%s depends on %s", from.line(), to)
		} else {
			fmt.Fprintf(&b, ", which %s concludes from %s", from.line(), to)
		}
	}
	if len(path) > 2*maxNamed {
		fmt.Fprintf(&b, " (and %d more rules)", (len(path)-2*maxNamed)/2)
	}
	fmt.Fprintf(&b, ", which %s concludes: remove one of these dependencies", s.Rules[first].line())
	return Diagnostic{s.Rules[first].Pos, b.String()}
}

func (r Rule) line() string { return fmt.Sprintf("%s:%d", r.Pos.File, r.Pos.Line) }

// shortest returns the nodes of a shortest cycle through a node, without the end. A cycle must exist.
func (g *graph) shortest(node int) []int {
	from := make(map[int]int)
	for queue := []int{node}; len(queue) > 0; queue = queue[1:] {
		for _, next := range g.edges[queue[0]] {
			if next == node {
				return pathTo(from, node, queue[0])
			}
			if _, seen := from[next]; !seen {
				from[next] = queue[0]
				queue = append(queue, next)
			}
		}
	}
	return nil
}

// pathTo returns the nodes from first to last; from maps each node to its predecessor.
func pathTo(from map[int]int, first, last int) []int {
	path := []int{last}
	for last != first {
		last = from[last]
		path = append(path, last)
	}
	slices.Reverse(path)
	return path
}

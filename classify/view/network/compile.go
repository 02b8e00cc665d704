package network

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"feedmesh/classify/expression"
	"feedmesh/classify/query"
	"feedmesh/classify/view"
)

// Compile returns the network of views, which must be in the order of [view.Order]. now is the reference time of ages. How
// often conditions hold is estimated by their kind and by a sample of items, which may be empty: it decides only how fast
// the network is. The error names the view and is that of [view.View.Condition].
func Compile(views []view.View, now time.Time, sample []*Document) (*Network, error) {
	c := compiler{
		Network: &Network{compiled: now},
		ids:     map[string]int32{},
		numbers: make(map[string]int32, len(views)),
		ranges:  map[timeRange]int32{},
	}
	c.leaves = leaves{values: map[query.Field]map[string]int32{}, words: map[query.Part]*words{}}
	c.addNode(node{}, 1) // everything
	var sources, viewsOf []pair
	for i, v := range views {
		read, err := c.view(v)
		if err != nil {
			return nil, fmt.Errorf("view %s: %w", v.Name, err)
		}
		for _, source := range read {
			sources = append(sources, pair{int32(i), source})
		}
		viewsOf = append(viewsOf, pair{c.views[i].node, int32(i)})
		c.nodes[c.views[i].node].hasViews = true
		c.numbers[v.Name] = int32(i)
	}
	c.sources, c.viewsOf = grouped(sources, len(views)), grouped(viewsOf, len(c.nodes))
	for _, w := range c.leaves.words {
		w.sortLengths()
	}
	n := c.Network
	n.states.New = func() any { return newState(n) }
	c.estimate(sample)
	c.chooseAccess()
	return n, nil
}

// A compiler builds a [Network].
type compiler struct {
	*Network
	ids     map[string]int32    // cache of operators and phrases by their content
	numbers map[string]int32    // of views by name
	ranges  map[timeRange]int32 // cache of nodes
	shares  []float64           // by node: the expected share of items for which it holds
}

func (c *compiler) addNode(n node, share float64) int32 {
	c.nodes, c.shares = append(c.nodes, n), append(c.shares, share)
	return int32(len(c.nodes) - 1)
}

// view adds a view and returns its sources.
func (c *compiler) view(v view.View) (sources []int32, err error) {
	condition, err := v.Condition(c.compiled)
	if err != nil {
		return nil, err
	}
	later, err := v.Condition(c.compiled.Add(time.Hour))
	if err != nil {
		return nil, err
	}
	own := viewNode{all: len(v.From) == 0, isStateful: v.Once != view.PerItem || v.Unique > 0 || v.Join != nil}
	from := everything
	if !own.all {
		nodes := make([]int32, len(v.From))
		for i, s := range v.From {
			if s.Kind == view.Other {
				other := c.numbers[s.Value]
				nodes[i], sources = c.views[other].node, append(sources, ^other)
			} else {
				nodes[i] = c.value(fieldOf[s.Kind], s.Value)
				sources = append(sources, nodes[i])
			}
		}
		from = c.operator(or, nodes)
	}
	own.node = c.operator(and, []int32{from, c.condition(condition, timesOf(later)), c.visible(condition, v.Once)})
	c.views = append(c.views, own)
	return sources, nil
}

// fieldOf has the field of each kind of source but views.
var fieldOf = map[view.Kind]query.Field{view.Feed: query.Feed, view.Tag: feedTag, view.Host: query.Host}

// excluded are the flags of items that are left out unless a condition selects the flag.
var excluded = []string{"spam", "muted", "duplicate"}

// visible returns the node of items without excluded flags. A view with one item of several may have a duplicate of an item
// that is not in the view.
func (c *compiler) visible(condition query.Node, once view.Once) int32 {
	var operands []int32
	for _, flag := range excluded {
		isAdmitted := flag == "duplicate" && once != view.PerItem
		if !isAdmitted && !query.SelectsValue(condition, query.Flag, flag) {
			operands = append(operands, ^c.value(query.Flag, flag))
		}
	}
	return c.operator(and, operands)
}

// timesOf returns the ranges of a condition.
func timesOf(n query.Node) map[query.TimeRange]bool {
	times := map[query.TimeRange]bool{}
	for n := range expression.Walk(n) {
		if r, is := n.(query.TimeRange); is {
			times[r] = true
		}
	}
	return times
}

// condition returns the operand of a condition. later are its ranges at another time: those that differ are relative.
func (c *compiler) condition(n query.Node, later map[query.TimeRange]bool) int32 {
	switch n := n.(type) {
	case nil:
		return everything
	case query.Text:
		return c.text(n)
	case query.FieldEquals:
		if n.Field == query.Topic {
			return c.value(n.Field, folded(n.Value))
		}
		return c.value(n.Field, n.Value)
	case query.TimeRange:
		return c.time(timeRange{n, !later[n]})
	case query.Not:
		return ^c.condition(n.Node, later)
	}
	operands, _ := expression.Operands(n)
	nodes := make([]int32, len(operands))
	for i, operand := range operands {
		nodes[i] = c.condition(operand, later)
	}
	if _, is := n.(query.Or); is {
		return c.operator(or, nodes)
	}
	return c.operator(and, nodes)
}

// text returns the node of words.
func (c *compiler) text(t query.Text) int32 {
	queryWords := t.QueryWords()
	if len(queryWords) == 0 {
		return c.operator(or, nil)
	}
	var nodes []int32
	if t.Form == query.Prefix {
		queryWords = queryWords[:len(queryWords)-1]
		begin, ends := query.PrefixStems(t.Words)
		completed := []int32{c.prefix(t.In, begin)}
		for _, stem := range ends {
			completed = append(completed, c.word(t.In, stem))
		}
		nodes = append(nodes, c.operator(or, completed))
	}
	for _, w := range queryWords {
		nodes = append(nodes, c.word(t.In, w.Stem))
	}
	if t.Form == query.Phrase && len(queryWords) > 1 {
		nodes = append(nodes, c.phrase(t, queryWords))
	}
	return c.operator(and, nodes)
}

func (c *compiler) phrase(t query.Text, words []query.Word) int32 {
	content := string(t.In) + "\x00" + t.Words
	id, is := c.ids[content]
	if !is {
		id = c.addNode(node{kind: phrase, first: int32(len(c.leaves.phrases))}, 1)
		c.leaves.phrases, c.ids[content] = append(c.leaves.phrases, phraseWords{t.In, words}), id
	}
	return id
}

func (c *compiler) time(r timeRange) int32 {
	id, is := c.ranges[r]
	if !is {
		id = c.addNode(node{kind: published, first: int32(len(c.leaves.times))}, 1)
		c.leaves.times, c.ranges[r] = append(c.leaves.times, r), id
	}
	return id
}

func (c *compiler) value(field query.Field, text string) int32 {
	of := c.leaves.values[field]
	if of == nil {
		of = map[string]int32{}
		c.leaves.values[field] = of
	}
	return c.leaf(of, text, shareOfValue(field))
}

func (c *compiler) word(in query.Part, stem string) int32 {
	return c.leaf(c.words(in).stems, stem, shareOfWord(stem))
}

func (c *compiler) prefix(in query.Part, begin string) int32 {
	return c.leaf(c.words(in).prefixes, begin, 2*shareOfWord(begin))
}

func (c *compiler) words(in query.Part) *words {
	if c.leaves.words[in] == nil {
		c.leaves.words[in] = &words{stems: map[string]int32{}, prefixes: map[string]int32{}}
	}
	return c.leaves.words[in]
}

func (w *words) sortLengths() {
	for begin := range w.prefixes {
		w.lengths = append(w.lengths, len(begin))
	}
	slices.Sort(w.lengths)
	w.lengths = slices.Compact(w.lengths)
}

// leaf returns the node of a text, which holds for an expected share of items.
func (c *compiler) leaf(of map[string]int32, text string, share float64) int32 {
	id, is := of[text]
	if !is {
		id = c.addNode(node{}, share)
		of[text] = id
	}
	return id
}

// operator returns the node of an "and" or "or", or an equal operand.
func (c *compiler) operator(k kind, operands []int32) int32 {
	operands = slices.Clone(operands)
	slices.Sort(operands)
	operands = slices.Compact(operands)
	if at, has := slices.BinarySearch(operands, everything); has {
		if k == or {
			return everything
		}
		operands = slices.Delete(operands, at, at+1)
	}
	switch {
	case k == and && len(operands) == 0:
		return everything
	case len(operands) == 1 && operands[0] >= 0:
		return operands[0]
	}
	content := []byte{byte(k)}
	for _, operand := range operands {
		content = binary.LittleEndian.AppendUint32(content, uint32(operand))
	}
	id, is := c.ids[string(content)]
	if !is {
		id = c.addNode(node{kind: k, first: int32(len(c.operands)), count: int32(len(operands))}, 0)
		c.operands, c.ids[string(content)] = append(c.operands, operands...), id
	}
	return id
}

// folded returns a text in which letters that differ only in case are the same, as in [strings.EqualFold].
func folded(s string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
			least = min(least, other)
		}
		return least
	}, s)
}

package classify

import (
	"fmt"
	"slices"
	"strings"

	"feedmesh/classify/rule"
)

const (
	// maxBare is how many exact terms a set may have of stop words alone, such as
	// 'IT'. No stem leads to them, so each text is searched for each of them.
	maxBare = 100

	// maxBlind is how many regular expressions a set may have that need no text of
	// two characters or more, which is looked for first.
	maxBlind = 100

	maxFaults = 100
)

// Compile makes the rules of a set ready to fire. The error, of type
// [rule.Faults], names what is wrong with them together: cycles among facts, and
// what would make each document pay for one rule. Compile(nil) are no rules.
func Compile(set *rule.Set) (*Rules, error) {
	c := compiler{
		Rules:  &Rules{scopes: make(map[rule.Scope]int32)},
		known:  make(map[factKey]int32),
		labels: make(map[labelKey]int32),
	}
	c.pool.New = func() any { return newFiring(c.Rules) }
	if set == nil {
		return c.Rules, nil
	}
	order, err := set.Order()
	if err != nil {
		return nil, err
	}
	rank := make([]int32, len(set.Rules))
	c.order = make([]int32, len(order))
	for at, i := range order {
		rank[i], c.order[at] = int32(at), int32(i)
	}
	c.rules, c.notes = make([]compiled, len(set.Rules)), make([]note, len(set.Rules))
	for i := range set.Rules {
		c.notes[i] = note{fmt.Sprintf("%s:%d", set.Rules[i].Pos.File, set.Rules[i].Pos.Line), set.Rules[i].Then.Text}
		c.rule(&set.Rules[i], &c.rules[i], rank[i])
	}
	if len(c.faults) > 0 {
		return nil, c.faults
	}
	c.finish()
	return c.Rules, nil
}

// A compiler makes [Rules], and collects what is wrong with them.
type compiler struct {
	*Rules
	builders []*builder
	known    map[factKey]int32
	labels   map[labelKey]int32
	bare     int // exact terms of stop words alone
	blind    int // regular expressions that need no text
	faults   rule.Faults
}

type factKey struct {
	of   rule.Of
	name string
}

type labelKey struct {
	topic bool
	name  string
}

func (c *compiler) fault(pos rule.Pos, text string) {
	if len(c.faults) < maxFaults {
		c.faults = append(c.faults, rule.Fault{Pos: pos, Text: text})
	}
}

// rule compiles one rule, which has a rank in the order of evaluation.
func (c *compiler) rule(from *rule.Rule, to *compiled, rank int32) {
	if wrong := malformed(from); wrong != "" {
		c.fault(from.Pos, wrong)
		return
	}
	b := c.builder(from)
	*to = compiled{
		section: b.number, does: from.Then.Do, score: pointsOf(from.Score),
		category: -1, topic: -1, fact: -1, rest: -1,
	}
	switch then := from.Then; then.Do {
	case rule.Conclude:
		to.category, to.topic = c.label(false, then.Name), c.label(true, then.Topic)
	case rule.Know:
		to.fact = c.factID(rule.Known, then.Name)
	case rule.AddScore:
		to.score = pointsOf(then.Score)
	}
	who := speaker{rank: rank, flat: flat(from.When)}
	c.say(b, from.When, false, &who)
	if who.flat {
		return
	}
	c.wire(b, from.When, false, ^rank)
	if condition := c.doubtful(b, from.When); condition != nil || who.facts != nil {
		to.rest = int32(len(c.rests))
		c.rests = append(c.rests, rest{who.facts, condition})
	}
}

// builder returns that of the section of a rule's scope.
func (c *compiler) builder(r *rule.Rule) *builder {
	scope := key(r.Scope)
	n, ok := c.scopes[scope]
	if !ok {
		n = int32(len(c.builders))
		c.scopes[scope] = n
		c.builders = append(c.builders, newBuilder(n))
		if scope.Kind == rule.Query {
			c.query(r, n)
		}
	}
	return c.builders[n]
}

// label returns the number of a category or topic, or -1 for none.
func (c *compiler) label(topic bool, name string) int32 {
	if name == "" {
		return -1
	}
	k := labelKey{topic, name}
	n, ok := c.labels[k]
	if !ok {
		n = int32(len(c.Rules.labels))
		c.labels[k] = n
		c.Rules.labels = append(c.Rules.labels, label{topic: topic, name: name, fact: -1})
	}
	return n
}

// factID returns the number of a fact, a category or topic as one included.
func (c *compiler) factID(of rule.Of, name string) int32 {
	k := factKey{of, name}
	n, ok := c.known[k]
	if !ok {
		n = int32(len(c.facts))
		c.facts = append(c.facts, (&rule.Fact{Of: of, Name: name}).String())
		c.known[k] = n
	}
	if of != rule.Known {
		c.Rules.labels[c.label(of == rule.Topic, name)].fact = n
	}
	return n
}

// finish makes all sections ready for documents.
func (c *compiler) finish() {
	c.sections = make([]*section, len(c.builders))
	for i, b := range c.builders {
		b.finish()
		c.sections[i] = b.section
		c.wordy |= b.wordy
	}
	c.sortLabels()
}

// sortLabels gives labels numbers in the order of their names.
func (c *compiler) sortLabels() {
	old := make([]int32, len(c.Rules.labels)) // by new number
	for i := range old {
		old[i] = int32(i)
	}
	slices.SortFunc(old, func(a, b int32) int { return compareNames(&c.Rules.labels[a], &c.Rules.labels[b]) })
	numbers := make([]int32, len(old)) // by old number
	sorted := make([]label, len(old))
	for n, o := range old {
		sorted[n], numbers[o] = c.Rules.labels[o], int32(n)
	}
	c.Rules.labels = sorted
	for i := range c.rules {
		for _, n := range []*int32{&c.rules[i].category, &c.rules[i].topic} {
			if *n >= 0 {
				*n = numbers[*n]
			}
		}
	}
}

func compareNames(a, b *label) int {
	switch c := strings.Compare(a.name, b.name); {
	case c != 0 || a.topic == b.topic:
		return c
	case b.topic:
		return -1
	}
	return 1
}

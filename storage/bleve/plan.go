package bleve

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"feedmesh/classify/query"
	"feedmesh/storage"
)

// A plan is a [storage.Query] as it is run.
type plan struct {
	query storage.Query
	parts every   // what to find
	words []*word // that count for the score, in the order of the query; none if nothing does
}

// A planner makes a plan.
type planner struct {
	segs    []*segment
	topics  []string // that there are
	forgive bool     // words that are nearly those sought will do
	words   []*word
}

// newPlan returns the plan of a query. Weights are those of its words, or are
// counted if there are too few.
func (x *Index) newPlan(segs []*segment, q storage.Query, forgive bool, weights []float64) (*plan, error) {
	p := &planner{segs: segs, topics: x.columns.valuesOf("topic"), forgive: forgive}
	where, err := p.part(q.Where, true)
	if err != nil {
		return nil, err
	}
	if !q.Scored() {
		p.words = nil
	}
	for i, w := range p.words {
		if i < len(weights) {
			w.weight = weights[i]
		} else if err := w.weigh(segs); err != nil {
			return nil, err
		}
	}
	return &plan{query: q, parts: every{anyOf{fieldKind, kindsOf(q)}, where}, words: p.words}, nil
}

// kindsOf returns the kinds of items to find, as kindOf has them.
func kindsOf(q storage.Query) (kinds []string) {
	for _, spam := range []bool{false, true} {
		for _, duplicate := range []bool{false, true} {
			for _, muted := range []bool{false, true} {
				if spam && !q.Finds(storage.FlagSpam) || !spam && q.Spam || duplicate && !q.Finds(storage.FlagDuplicate) || muted && !q.Finds(storage.Muted) {
					continue
				}
				kinds = append(kinds, kindOf(spam, duplicate, muted))
			}
		}
	}
	return kinds
}

// part returns what the node asks for; counts says whether its words count for
// the score.
func (p *planner) part(node query.Node, counts bool) (part, error) {
	switch node := node.(type) {
	case nil:
		return every{}, nil
	case query.And:
		all, err := p.parts(node, counts)
		slices.SortStableFunc(all, func(a, b part) int { return cmp.Compare(costOf(a), costOf(b)) })
		return every(all), err
	case query.Or:
		all, err := p.parts(node, counts)
		return either(all), err
	case query.Not:
		one, err := p.part(node.Node, false)
		return other{one}, err
	case query.Text:
		return p.text(node, counts)
	case query.Is:
		return p.is(node), nil
	case query.Time:
		return betweenOf(node), nil
	}
	return either{}, nil
}

func (p *planner) parts(nodes []query.Node, counts bool) ([]part, error) {
	var all []part
	for _, node := range nodes {
		one, err := p.part(node, counts)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// costOf says which of several parts to ask first: what looks at each document is
// for when few are left.
func costOf(p part) int {
	switch p.(type) {
	case anyOf, *word:
		return 0
	case between:
		return 2
	case *phrase:
		return 3
	}
	return 1
}

func (p *planner) is(is query.Is) part {
	switch is.Field {
	case query.Feed:
		return anyOf{fieldFeed, []string{is.Value}}
	case query.Category:
		return anyOf{fieldCategory, []string{is.Value}}
	case query.Topic:
		return anyOf{fieldTopic, p.topicsLike(is.Value)}
	case query.Language:
		return anyOf{fieldLanguage, []string{is.Value}}
	case query.Host:
		return anyOf{fieldHost, []string{is.Value}}
	case query.Story:
		return anyOf{fieldStory, []string{is.Value}}
	case query.Flag:
		return flagged(is.Value)
	}
	return either{}
}

// topicsLike returns the topics that are the given one but for capitals.
func (p *planner) topicsLike(topic string) (like []string) {
	for _, one := range p.topics {
		if strings.EqualFold(one, topic) {
			like = append(like, one)
		}
	}
	return like
}

// flagged returns the part that finds items with a flag.
func flagged(flag string) part {
	switch flag {
	case storage.FlagSpam:
		return anyOf{fieldKind, kindsWith("spam")}
	case storage.FlagDuplicate:
		return anyOf{fieldKind, kindsWith("duplicate")}
	}
	return anyOf{fieldFlag, []string{flag}}
}

// kindsWith returns the kinds that have the given word in their name.
func kindsWith(word string) (kinds []string) {
	all := storage.Query{Duplicates: true, Muted: true}
	for _, spam := range []bool{false, true} {
		all.Spam = spam
		for _, kind := range kindsOf(all) {
			if strings.Contains(kind, word) {
				kinds = append(kinds, kind)
			}
		}
	}
	return kinds
}

func betweenOf(t query.Time) between {
	b := between{math.MinInt64, math.MaxInt64}
	if !t.From.IsZero() {
		b.from = t.From.Add(999).UnixMicro() // the first microsecond that is not before it
	}
	if !t.Until.IsZero() {
		b.to = t.Until.Add(999).UnixMicro() - 1
	}
	return b
}

// text returns what a text asks for.
func (p *planner) text(t query.Text, counts bool) (part, error) {
	sought := t.Sought()
	switch {
	case len(sought) == 0:
		return either{}, nil // nothing but punctuation
	case t.Form == query.Phrase && len(sought) > 1:
		return p.phrase(sought, t.In, counts), nil
	}
	var all every
	seen := make(map[string]bool)
	for i, s := range sought {
		goesOn := t.Form == query.Prefix && i == len(sought)-1
		if seen[s.Stem] && !goesOn {
			continue
		}
		seen[s.Stem] = true
		w := p.word(s.Stem, t.In, counts)
		var err error
		switch {
		case goesOn:
			err = w.goesOn(p.segs, t.Words)
		case p.forgive && counts && t.Form != query.Phrase:
			err = w.forgives(p.segs, s.Text)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, w)
	}
	return all, nil
}

func (p *planner) word(stem string, in query.Part, counts bool) *word {
	w := &word{fields: fieldsOf(in), stem: stem, code: codeOf(stem)}
	if counts {
		p.words = append(p.words, w)
	}
	return w
}

func (p *planner) phrase(sought []query.Word, in query.Part, counts bool) *phrase {
	one := &phrase{}
	for _, s := range sought {
		one.words = append(one.words, p.word(s.Stem, in, counts))
		one.places = append(one.places, s.Pos-sought[0].Pos)
	}
	return one
}

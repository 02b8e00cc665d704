package bleve

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"feedmesh/classify/query"
	"feedmesh/storage"
)

// A plan is a compiled [storage.Query].
type plan struct {
	query storage.Query
	parts allOf   // conditions
	words []*word // scored words, in the order of the query; none for order by time
}

// A planner compiles a plan.
type planner struct {
	segs   []*segment
	topics []string // topics of the index
	fuzzy  bool     // match misspelled words
	words  []*word
}

// newPlan compiles a query. topics are the topics of the index. weights are the weights of its words; missing
// weights are computed.
func newPlan(ctx context.Context, segs []*segment, topics []string, q storage.Query, fuzzy bool, weights []float64) (*plan, error) {
	p := &planner{segs: segs, topics: topics, fuzzy: fuzzy}
	where, err := p.part(ctx, q.Where, true)
	if err != nil {
		return nil, err
	}
	if !q.Scored() {
		p.words = nil
	}
	for i, w := range p.words {
		if i < len(weights) {
			w.weight = weights[i]
		} else if err := w.weigh(ctx, segs); err != nil {
			return nil, err
		}
	}
	return &plan{query: q, parts: allOf{anyOf{fieldKind, kindsOf(q)}, where}, words: p.words}, nil
}

// kindsOf returns the kinds of items to find, in the form of kindOf.
func kindsOf(q storage.Query) (kinds []string) {
	for _, spam := range []bool{false, true} {
		for _, duplicate := range []bool{false, true} {
			for _, muted := range []bool{false, true} {
				if spam && !q.IncludesFlag(storage.FlagSpam) || !spam && q.Spam || duplicate && !q.IncludesFlag(storage.FlagDuplicate) || muted && !q.IncludesFlag(storage.FlagMuted) {
					continue
				}
				kinds = append(kinds, kindOf(spam, duplicate, muted))
			}
		}
	}
	return kinds
}

// part compiles a node. counts states whether its words are scored.
func (p *planner) part(ctx context.Context, node query.Node, counts bool) (part, error) {
	switch node := node.(type) {
	case nil:
		return allOf{}, nil
	case query.And:
		all, err := p.parts(ctx, node, counts)
		slices.SortStableFunc(all, func(a, b part) int { return cmp.Compare(costOf(a), costOf(b)) })
		return allOf(all), err
	case query.Or:
		all, err := p.parts(ctx, node, counts)
		return oneOf(all), err
	case query.Not:
		one, err := p.part(ctx, node.Node, false)
		return negation{one}, err
	case query.Text:
		return p.text(ctx, node, counts)
	case query.FieldEquals:
		return p.is(node), nil
	case query.ItemSet:
		return anyOf{fieldID, node.IDs}, nil
	case query.TimeRange:
		return betweenOf(node), nil
	}
	return oneOf{}, nil
}

func (p *planner) parts(ctx context.Context, nodes []query.Node, counts bool) ([]part, error) {
	var all []part
	for _, node := range nodes {
		one, err := p.part(ctx, node, counts)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// costOf returns the rank by which conditions run: those that read each document run last, on few documents.
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

// is compiles the condition that a field has a value.
func (p *planner) is(is query.FieldEquals) part {
	switch is.Field {
	case query.Flag:
		return flagged(is.Value)
	case query.Topic:
		return anyOf{fieldOfFacet("topic"), p.topicsLike(is.Value)}
	}
	for _, field := range keywordFields {
		if field.matches == is.Field && is.Field != "" {
			return anyOf{field.name, []string{is.Value}}
		}
	}
	return oneOf{}
}

// topicsLike returns the topics that equal the given one without regard to case.
func (p *planner) topicsLike(topic string) (like []string) {
	for _, one := range p.topics {
		if strings.EqualFold(one, topic) {
			like = append(like, one)
		}
	}
	return like
}

// flagged returns the condition for items with a flag.
func flagged(flag string) part {
	switch flag {
	case storage.FlagSpam:
		return anyOf{fieldKind, kindsWith("spam")}
	case storage.FlagDuplicate:
		return anyOf{fieldKind, kindsWith("duplicate")}
	}
	return anyOf{fieldFlag, []string{flag}}
}

// kindsWith returns the kinds whose name contains a word.
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

func betweenOf(t query.TimeRange) between {
	b := between{math.MinInt64, math.MaxInt64}
	if !t.From.IsZero() {
		b.from = t.From.Add(999).UnixMicro() // first microsecond that is not before From
	}
	if !t.Until.IsZero() {
		b.to = t.Until.Add(999).UnixMicro() - 1
	}
	return b
}

// text compiles a text node.
func (p *planner) text(ctx context.Context, t query.Text, counts bool) (part, error) {
	queryWords := t.QueryWords()
	switch {
	case len(queryWords) == 0:
		return oneOf{}, nil // only punctuation
	case t.Form == query.Phrase && len(queryWords) > 1:
		return p.phrase(queryWords, t.In, counts), nil
	}
	var all allOf
	seen := make(map[string]bool)
	for i, s := range queryWords {
		addCompletions := t.Form == query.Prefix && i == len(queryWords)-1
		if seen[s.Stem] && !addCompletions {
			continue
		}
		seen[s.Stem] = true
		w := p.word(s.Stem, t.In, counts)
		var err error
		switch {
		case addCompletions:
			err = w.addCompletions(ctx, p.segs, t.Words)
		case p.fuzzy && counts && t.Form != query.Phrase:
			err = w.addMisspellings(ctx, p.segs, s.Text)
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

func (p *planner) phrase(queryWords []query.Word, in query.Part, counts bool) *phrase {
	one := &phrase{}
	for _, s := range queryWords {
		one.words = append(one.words, p.word(s.Stem, in, counts))
		one.places = append(one.places, s.Pos-queryWords[0].Pos)
	}
	return one
}

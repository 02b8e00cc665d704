package meilisearch

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"feedmesh/classify/query"
)

// A branch is what one search of Meilisearch can ask for. It knows no "or" of
// words: a tree is an "or" of branches.
type branch struct {
	must   []term
	begin  string     // the token of a word that may go on; empty for none
	begins []string   // likewise, of more such words: see expanded
	not    [][]string // tokens of which a document must not have all
	unlike []beginning
	only   condition
}

// A term is a token that must occur, or if mistakes are forgiven, the word.
type term struct {
	token string
	word  string // empty if mistakes in it never are; letters only
	in    query.Part
}

// A beginning is tokens, and that of a word that may go on.
type beginning struct {
	tokens []string
	begin  string
}

// everything is the branch that all documents meet.
var everything = []branch{{}}

// maxBranches is how many branches a search has at most: a query of as many
// conditions as [query.Parse] allows, all of them alternatives, has fewer.
const maxBranches = 100

// branchesOf returns the tree as an "or" of branches; those of its opposite, if it
// is negated. The error is a [*query.Fault] if they are too many.
func branchesOf(n query.Node, negated bool) ([]branch, error) {
	switch {
	case n == nil, !asksWords(n):
		c := conditionOf(n)
		if negated {
			c = not(c)
		}
		return []branch{{only: c}}, nil
	}
	switch n := n.(type) {
	case query.And:
		return joined(n, negated, !negated)
	case query.Or:
		return joined(n, negated, negated)
	case query.Not:
		return branchesOf(n.Node, !negated)
	case query.Text:
		if negated {
			return lacks(n), nil
		}
		return has(n), nil
	}
	return nil, nil
}

// asksWords reports whether there are words in the tree.
func asksWords(n query.Node) bool {
	switch n := n.(type) {
	case query.And:
		return slices.ContainsFunc(n, asksWords)
	case query.Or:
		return slices.ContainsFunc(n, asksWords)
	case query.Not:
		return asksWords(n.Node)
	case query.Text:
		return true
	}
	return false
}

// joined returns the branches of an "and" (all) or an "or" of nodes, each of which
// may be negated.
func joined(nodes []query.Node, negated, all bool) ([]branch, error) {
	var sum []branch
	if all {
		sum = everything
	}
	for _, n := range nodes {
		branches, err := branchesOf(n, negated)
		if err != nil {
			return nil, err
		}
		if all {
			branches = product(sum, branches)
		} else {
			branches = plus(sum, branches)
		}
		if sum = branches; len(sum) > maxBranches {
			return nil, &query.Fault{Msg: fmt.Sprintf(
				"all in all these are more than %d alternatives; leave out some of what stands between OR", maxBranches)}
		}
	}
	return sum, nil
}

// product returns the branches in which both one of a's and one of b's is met.
func product(a, b []branch) []branch {
	var all []branch
	for _, x := range a {
		for _, y := range b {
			if all = append(all, x.and(y)); len(all) > maxBranches {
				return all
			}
		}
	}
	return all
}

// and returns the branch in which both are met.
func (b branch) and(other branch) branch {
	must, begins := slices.Clone(b.must), slices.Concat(b.begins, other.begins)
	if other.begin == "" {
		other.begin = b.begin
	} else if b.begin != "" && b.begin != other.begin {
		begins = append(begins, b.begin)
	}
	for _, t := range other.must {
		if !slices.Contains(must, t) {
			must = append(must, t)
		}
	}
	return branch{must, other.begin, begins, slices.Concat(b.not, other.not), slices.Concat(b.unlike, other.unlike), allOf(b.only, other.only)}
}

// plus returns the branches of both. Those without words become one.
func plus(a, b []branch) []branch {
	sum := slices.Clone(a)
	for _, y := range b {
		i := slices.IndexFunc(sum, branch.isWordless)
		if i >= 0 && y.isWordless() {
			sum[i].only = oneOf(sum[i].only, y.only)
			continue
		}
		sum = append(sum, y)
	}
	return sum
}

func (b branch) isWordless() bool { return b.asksNoWords() && len(b.not) == 0 && len(b.unlike) == 0 }

// asksNoWords reports whether there are no words that must occur.
func (b branch) asksNoWords() bool { return len(b.must) == 0 && b.begin == "" }

// has returns the branches in which the words occur: none if there are no words.
func has(t query.Text) []branch {
	if t.Form == query.Prefix {
		return begins(t)
	}
	if tokens := tokensOfText(t); len(tokens) > 0 {
		return []branch{{must: tokens}}
	}
	return nil
}

// lacks returns the branches in which not all of the words occur.
func lacks(t query.Text) []branch {
	if t.Form == query.Prefix {
		b := branch{}
		for _, has := range begins(t) {
			if has.begin != "" {
				b.unlike = append(b.unlike, beginning{tokens(has.must), has.begin})
			} else {
				b.not = append(b.not, tokens(has.must))
			}
		}
		return []branch{b}
	}
	if terms := tokensOfText(t); len(terms) > 0 {
		return []branch{{not: [][]string{tokens(terms)}}}
	}
	return everything
}

func tokens(terms []term) []string {
	all := make([]string, len(terms))
	for i, t := range terms {
		all[i] = t.token
	}
	return all
}

// tokensOfText returns what a text has that has the words, each once.
func tokensOfText(t query.Text) []term {
	words := t.Sought()
	terms := termsOf(words, t)
	if t.Form == query.Phrase {
		_, pairs := marksOf(t.In)
		for _, token := range unique(pairsOf(pairs, words)) {
			terms = append(terms, term{token: token})
		}
	}
	return terms
}

// termsOf returns the terms of words of a text, each once.
func termsOf(words []query.Word, t query.Text) []term {
	stems, _ := marksOf(t.In)
	seen := map[string]bool{}
	var terms []term
	for _, w := range words {
		token := tokenOf(stems, w.Stem)
		if seen[token] {
			continue
		}
		seen[token] = true
		made := term{token: token, in: t.In}
		if t.Form != query.Phrase && query.Forgives(w.Text) > 0 && isPlain(w.Text) {
			made.word = w.Text
		}
		terms = append(terms, made)
	}
	return terms
}

// isPlain reports whether Meilisearch takes a word for one: those of other scripts
// it may split.
func isPlain(word string) bool {
	return strings.IndexFunc(word, func(r rune) bool { return !unicode.IsLetter(r) || r >= 0x530 }) < 0
}

// begins returns the branches in which the words occur, of which the last may go on.
func begins(t query.Text) []branch {
	begin, ends := query.Begins(t.Words)
	if begin == "" {
		return nil
	}
	mark, _ := marksOf(t.In)
	words := t.Sought()
	must := termsOf(words[:len(words)-1], t)
	branches := []branch{{must: must, begin: tokenOf(mark, begin)}}
	for _, end := range ends {
		if !strings.HasPrefix(end, begin) {
			branches = append(branches, branch{must: append(slices.Clone(must), term{token: tokenOf(mark, end)})})
		}
	}
	return branches
}

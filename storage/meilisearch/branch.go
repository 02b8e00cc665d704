package meilisearch

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"feedmesh/classify/query"
)

// A branch is a condition that one Meilisearch search can express. Meilisearch has no "or" of words, so a
// tree is converted to an "or" of branches.
type branch struct {
	must   []term
	begin  string     // token of a word prefix; empty for none
	begins []string   // further prefixes: see expanded
	not    [][]string // sets of tokens; a document must not have all of a set
	unlike []beginning
	only   condition
}

// A term is a required token, with its word for searches that allow typos.
type term struct {
	token string
	word  string // empty if typos are not allowed in it; letters only
	in    query.Part
}

// A beginning is required tokens and the prefix of a word.
type beginning struct {
	tokens []string
	begin  string
}

// everything is the branch that all documents satisfy.
var everything = []branch{{}}

// maxBranches bounds the branches of a search. A query with the maximum number of conditions of
// [query.Parse], all alternatives, has fewer.
const maxBranches = 100

// branchesOf returns the tree, or its negation, as an "or" of branches. The error is a [*query.SyntaxError]
// if they are too many.
func branchesOf(n query.Node, negated bool) ([]branch, error) {
	switch {
	case n == nil, !hasWords(n):
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

// hasWords reports whether the tree contains words.
func hasWords(n query.Node) bool {
	switch n := n.(type) {
	case query.And:
		return slices.ContainsFunc(n, hasWords)
	case query.Or:
		return slices.ContainsFunc(n, hasWords)
	case query.Not:
		return hasWords(n.Node)
	case query.Text:
		return true
	}
	return false
}

// joined returns the branches of an "and" (all) or an "or" of nodes, which may be negated.
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
			return nil, &query.SyntaxError{Message: fmt.Sprintf(
				"all in all these are more than %d alternatives; leave out some of what stands between OR", maxBranches)}
		}
	}
	return sum, nil
}

// product returns the branches of a and b.
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

// and returns the conjunction of two branches.
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

// plus returns the branches of a or b. Branches without words are merged into one.
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

func (b branch) isWordless() bool { return b.hasNoWords() && len(b.not) == 0 && len(b.unlike) == 0 }

// hasNoWords reports whether no word is required.
func (b branch) hasNoWords() bool { return len(b.must) == 0 && b.begin == "" }

// has returns the branches that require the words; none if the text contains no words.
func has(t query.Text) []branch {
	if t.Form == query.Prefix {
		return begins(t)
	}
	if tokens := tokensOfText(t); len(tokens) > 0 {
		return []branch{{must: tokens}}
	}
	return nil
}

// lacks returns the branches that exclude documents with all of the words.
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

// tokensOfText returns the distinct tokens of a text's words.
func tokensOfText(t query.Text) []term {
	words := t.QueryWords()
	terms := termsOf(words, t)
	if t.Form == query.Phrase {
		_, pairs := kindsOf(t.In)
		var all tokenList
		all.addPairs(pairs, words)
		for _, token := range all.tokens() {
			terms = append(terms, term{token: token})
		}
	}
	return terms
}

// termsOf returns the distinct terms of a text's words.
func termsOf(words []query.Word, t query.Text) []term {
	stems, _ := kindsOf(t.In)
	seen := map[string]bool{}
	var terms []term
	for _, w := range words {
		token := tokenOf(stems, w.Stem)
		if seen[token] {
			continue
		}
		seen[token] = true
		made := term{token: token, in: t.In}
		if t.Form != query.Phrase && query.MaxEdits(w.Text) > 0 && isPlain(w.Text) {
			made.word = w.Text
		}
		terms = append(terms, made)
	}
	return terms
}

// isPlain reports whether Meilisearch keeps a word whole: it may split words of other scripts.
func isPlain(word string) bool {
	return strings.IndexFunc(word, func(r rune) bool { return !unicode.IsLetter(r) || r >= 0x530 }) < 0
}

// begins returns the branches that require the words, the last as a prefix.
func begins(t query.Text) []branch {
	begin, ends := query.PrefixStems(t.Words)
	if begin == "" {
		return nil
	}
	tokenKind, _ := kindsOf(t.In)
	words := t.QueryWords()
	must := termsOf(words[:len(words)-1], t)
	branches := []branch{{must: must, begin: tokenOf(tokenKind, begin)}}
	for _, end := range ends {
		if !strings.HasPrefix(end, begin) {
			branches = append(branches, branch{must: append(slices.Clone(must), term{token: tokenOf(tokenKind, end)})})
		}
	}
	return branches
}

package classify

import (
	"math/bits"
	"slices"
	"sync"

	"feedmesh/classify/rule"
	"feedmesh/classify/stem"
	"feedmesh/classify/table"
)

// languages lists the languages with their own stemming. The empty first entry stands for all others. Terms
// are stemmed like the text that they are matched against.
var languages = append([]string{""}, stem.Languages()...)

func languageIndex(language string) int {
	i, _ := slices.BinarySearch(languages, language)
	if i < len(languages) && languages[i] == language {
		return i
	}
	return 0
}

// A dictionary finds the patterns of a section in the stems of one language. It is built on first use and
// kept: most deployments meet two or three languages.
//
// Phrases are paths in a tree of stems, walked from each word of the text. A search without backtracking (Aho
// and Corasick, 1975) could save at most a twentieth of a document's time, because few words begin a phrase
// and fewer are followed by its second word.
type dictionary struct {
	once sync.Once

	stems       table.Table         // each is a child of the tree's root
	branches    map[branch]int32    // the deeper nodes
	hasBranches []bool              // by node: the node has children
	filter      branchFilter        // Bloom filter of branches
	found       groupedLists[int32] // by node: the patterns that end there
	prefixes    []prefix            // sorted
	stopOnly    []int32             // exact patterns of stop words or symbols alone, which have no stem
	loose       map[int32]phrase    // by pattern
	phrases     groupedLists[int32] // by pattern: its stems in order
	canonical   []int32             // by pattern: the first pattern with the same words, usually itself
}

// A phrase holds the stems of a loose phrase, sorted.
type phrase struct {
	stems []int32
	width int // maximum number of words from the first to the last stem
}

// maxBetween bounds the other words between the words of a loose phrase.
const maxBetween = 3

// dictionary returns the dictionary of a language and builds it on first use.
func (s *section) dictionary(language int) *dictionary {
	d := &s.dictionaries[language]
	d.once.Do(func() { d.build(s.patterns, languages[language]) })
	return d
}

func (d *dictionary) build(patterns []pattern, language string) {
	words := d.numberStems(patterns, language)
	d.branches = make(map[branch]int32)
	d.hasBranches = make([]bool, d.stems.Len())
	d.loose = make(map[int32]phrase)
	var found, stemEntries []entry[int32]
	var loose []int32
	for i, p := range patterns {
		n := int32(i)
		stems := d.ids(words[i])
		for _, s := range stems {
			stemEntries = append(stemEntries, entry[int32]{n, s})
		}
		switch {
		case p.kind == rule.Prefix:
			d.prefixes = append(d.prefixes, prefix{foldedWord(p.text), n, -1})
			if len(stems) == 1 { // the stem of "release" is shorter than the prefix release*
				found = append(found, entry[int32]{stems[0], n})
			}
		case p.kind == rule.Exact && len(stems) == 0:
			d.stopOnly = append(d.stopOnly, n)
		case len(stems) == 0: // only stop words in this language
		case p.kind == rule.Loose:
			d.loose[n] = loosePhrase(stems, words[i])
			loose = append(loose, n)
		default:
			found = append(found, entry[int32]{d.node(stems), n})
		}
	}
	d.filter = newBranchFilter(d.branches)
	found = append(found, d.rarest(loose)...)
	found = append(found, d.sortPrefixes()...)
	d.found = group(found, len(d.hasBranches))
	d.phrases = group(stemEntries, len(patterns))
	d.alias(patterns)
}

// numberStems assigns a number to each stem of the patterns, and returns the words of each pattern.
func (d *dictionary) numberStems(patterns []pattern, language string) [][]stem.Word {
	words := make([][]stem.Word, len(patterns))
	for i, p := range patterns {
		if p.kind == rule.Value || p.kind == rule.Regexp {
			continue
		}
		words[i] = stem.Words(p.text, language)
		for _, w := range words[i] {
			d.stems.Add(w.Stem)
		}
	}
	d.stems.Fit()
	return words
}

func (d *dictionary) ids(words []stem.Word) []int32 {
	ids := make([]int32, len(words))
	for i, w := range words {
		ids[i] = d.stems.Find(w.Stem)
	}
	return ids
}

// node returns the node at the end of a path of stems, adding nodes as needed.
func (d *dictionary) node(stems []int32) int32 {
	at := stems[0]
	for _, s := range stems[1:] {
		b := branch{at, s}
		to, ok := d.branches[b]
		if !ok {
			to = int32(len(d.hasBranches))
			d.branches[b] = to
			d.hasBranches[at] = true
			d.hasBranches = append(d.hasBranches, false)
		}
		at = to
	}
	return at
}

func loosePhrase(stems []int32, words []stem.Word) phrase {
	width := words[len(words)-1].Pos - words[0].Pos + 1 + maxBetween
	slices.Sort(stems)
	return phrase{slices.Compact(stems), width}
}

// rarest indexes each loose pattern by the stem that the fewest loose patterns contain, because every pattern
// indexed by a stem of the text must be checked.
func (d *dictionary) rarest(loose []int32) []entry[int32] {
	count := make(map[int32]int)
	for _, n := range loose {
		for _, s := range d.loose[n].stems {
			count[s]++
		}
	}
	var found []entry[int32]
	for _, n := range loose {
		stems := d.loose[n].stems
		best := stems[0]
		for _, s := range stems[1:] {
			if count[s] < count[best] {
				best = s
			}
		}
		found = append(found, entry[int32]{best, n})
	}
	return found
}

// alias sets canonical for patterns that are other forms of an earlier pattern's words, for example "games"
// of "game".
func (d *dictionary) alias(patterns []pattern) {
	d.canonical = make([]int32, len(patterns))
	for i := range d.canonical {
		d.canonical[i] = int32(i)
	}
	for node := range d.hasBranches {
		first := int32(-1)
		for _, n := range d.found.of(int32(node)) {
			switch {
			case patterns[n].kind != rule.Words:
			case first < 0:
				first = n
			default:
				d.canonical[n] = first
			}
		}
	}
}

// A branch is the edge from a tree node to its child by a stem.
type branch struct{ from, stem int32 }

// A branchFilter is a one-hash Bloom filter of branches: false positives occur, false negatives do not.
// Testing it first saves nearly all lookups in the map.
type branchFilter []uint64

func newBranchFilter(branches map[branch]int32) branchFilter {
	b := make(branchFilter, 1<<bits.Len(uint(len(branches)/8))) // 8 to 16 bits for each
	for of := range branches {
		b.add(of)
	}
	return b
}

func (b branchFilter) bit(of branch) (word, mask uint64) {
	hash := (uint64(uint32(of.from))<<32 | uint64(uint32(of.stem))) * 0x9E3779B97F4A7C15 >> 32
	return hash >> 6 & uint64(len(b)-1), 1 << (hash & 63)
}

func (b branchFilter) add(of branch) {
	word, mask := b.bit(of)
	b[word] |= mask
}

func (b branchFilter) has(of branch) bool {
	word, mask := b.bit(of)
	return b[word]&mask != 0
}

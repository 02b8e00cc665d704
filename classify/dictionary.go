package classify

import (
	"slices"
	"sync"

	"feedmesh/classify/rule"
	"feedmesh/classify/stem"
	"feedmesh/classify/table"
)

// languages are those whose texts have stems of their own; the first stands for
// all others. Terms are stemmed as the text that they are looked for in.
var languages = append([]string{""}, stem.Languages()...)

func languageIndex(language string) int {
	i, _ := slices.BinarySearch(languages, language)
	if i < len(languages) && languages[i] == language {
		return i
	}
	return 0
}

// A dictionary finds the patterns of a section in the stems of a language. It is
// made when the first text of the language comes: most sets meet two or three.
//
// Phrases are branches of a tree of stems, walked anew from each word. A search
// that never goes back (Aho and Corasick, 1975) could save no more than the
// twentieth of a document's time that the walks take, as few words begin a phrase
// and fewer still have its second word after them.
type dictionary struct {
	once sync.Once

	stems    table.Table      // each is a node of the tree, below its root
	branches map[branch]int32 // the deeper nodes
	deeper   []bool           // by node: branches leave it
	likely   bitmap           // has a bit for each branch
	found    lists[int32]     // by node: the patterns that occur where one comes to it
	prefixes []prefix         // sorted
	bare     []int32          // exact patterns of stop words or signs alone, which no stem leads to
	loose    map[int32]phrase // by pattern
	phrases  lists[int32]     // by pattern: its stems, in order
	same     []int32          // by pattern: the first that means the same words, most often itself
}

// A phrase is the stems of a loose phrase, sorted.
type phrase struct {
	stems []int32
	width int // most words that they and those between them may take up
}

// maxBetween is how many words may stand between those of a loose phrase.
const maxBetween = 3

// dictionary returns that of a language.
func (s *section) dictionary(language int) *dictionary {
	d := &s.dictionaries[language]
	d.once.Do(func() { d.make(s.patterns, languages[language]) })
	return d
}

func (d *dictionary) make(patterns []pattern, language string) {
	words := d.number(patterns, language)
	d.branches = make(map[branch]int32)
	d.deeper = make([]bool, d.stems.Len())
	d.loose = make(map[int32]phrase)
	var found, said []entry[int32]
	var loose []int32
	for i, p := range patterns {
		n := int32(i)
		stems := d.ids(words[i])
		for _, s := range stems {
			said = append(said, entry[int32]{n, s})
		}
		switch {
		case p.kind == rule.Prefix:
			d.prefixes = append(d.prefixes, prefix{foldedWord(p.text), n, -1})
			if len(stems) == 1 { // "release" is stemmed to less than release*
				found = append(found, entry[int32]{stems[0], n})
			}
		case p.kind == rule.Exact && len(stems) == 0:
			d.bare = append(d.bare, n)
		case len(stems) == 0: // stop words in this language
		case p.kind == rule.Loose:
			d.loose[n] = loosePhrase(stems, words[i])
			loose = append(loose, n)
		default:
			found = append(found, entry[int32]{d.node(stems), n})
		}
	}
	d.likely = newBitmap(d.branches)
	found = append(found, d.rarest(loose)...)
	found = append(found, d.begun()...)
	d.found = group(found, len(d.deeper))
	d.phrases = group(said, len(patterns))
	d.alias(patterns)
}

// number gives a number to each stem of the patterns, and returns the words of
// each.
func (d *dictionary) number(patterns []pattern, language string) [][]stem.Word {
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

// node returns the node that stems lead to.
func (d *dictionary) node(stems []int32) int32 {
	at := stems[0]
	for _, s := range stems[1:] {
		b := branch{at, s}
		to, ok := d.branches[b]
		if !ok {
			to = int32(len(d.deeper))
			d.branches[b] = to
			d.deeper[at] = true
			d.deeper = append(d.deeper, false)
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

// rarest lets each of the loose patterns be found at the one of its stems that
// has the fewest of them, as all need be looked at that a text's stem has.
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

// alias finds the patterns that are other forms of the words of an earlier one,
// as "games" is of "game".
func (d *dictionary) alias(patterns []pattern) {
	d.same = make([]int32, len(patterns))
	for i := range d.same {
		d.same[i] = int32(i)
	}
	for node := range d.deeper {
		first := int32(-1)
		for _, n := range d.found.of(int32(node)) {
			switch {
			case patterns[n].kind != rule.Words:
			case first < 0:
				first = n
			default:
				d.same[n] = first
			}
		}
	}
}

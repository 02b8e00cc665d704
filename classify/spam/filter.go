package spam

import "fmt"

// A Filter scores documents by lists. It is immutable and safe for concurrent use.
type Filter struct {
	weights [weights]float64
	phrases []entry // of phrases.txt, adult.txt and sponsored.txt
	domains map[string]entry
	urls    patterns
	emails  patterns
	learned wordCounts
	clues   *clues                   // computed from learned
	indexes map[string]func() *index // by language; each is built on first use
}

// Threshold returns the default score from which a document is spam.
func (f *Filter) Threshold() float64 { return f.weights[threshold] }

// A place is a line of a list. The zero place stands for none.
type place struct {
	file string
	line int
}

func (p place) String() string {
	if p.file == "" {
		return ""
	}
	return fmt.Sprintf(" (%s:%d)", p.file, p.line)
}

// An entry is a line of a list with groups.
type entry struct {
	list, group string // list is the file name: "phrases.txt"
	weight      float64
	text        string
	title       bool // of sponsored.txt: matches the beginning of a title
	literal     bool // must occur in the text as written
	forMessages bool
	where       place
}

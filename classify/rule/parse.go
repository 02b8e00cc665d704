package rule

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/tools/txtar"
)

const (
	maxSet   = 4 << 20  // bytes of a set
	maxText  = 64 << 10 // bytes of a rule
	maxFiles = 1_000    // in a set
	maxRules = 20_000   // in a set
	maxTerms = 2_000    // in a rule
	maxWords = 400_000  // terms in a set: some 100 MB
	maxTerm  = 200      // bytes of a term, name or notice
	maxDepth = 50       // parentheses within one another
)

// A Set is rules that belong together. What they conclude, others of the set may
// use, wherever they stand.
type Set struct {
	Rules []Rule   // in the order of the files
	Files []string // their names, as handed in

	scopes []scoped // in order; each file begins with one for all
}

// A File is a text of rules and its name, as in "devops.rules".
type File struct{ Name, Text string }

// Unnamed is the name of the one file of an archive that names none.
const Unnamed = "rules"

var fileName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*\.rules$`)

// Parse reads a set from a txtar archive of *.rules files, or from the text of
// one file, which is then named "rules". The error is [Faults].
func Parse(archive []byte) (*Set, error) {
	if len(archive) > maxSet {
		return nil, Faults{tooLarge}
	}
	a := txtar.Parse(archive)
	if len(a.Files) == 0 {
		return ParseFiles([]File{{Unnamed, string(archive)}})
	}
	for line := range bytes.Lines(a.Comment) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
			return nil, Faults{{Text: "rules stand before the first file: begin with a line such as \"-- devops.rules --\""}}
		}
	}
	files := make([]File, len(a.Files))
	for i, f := range a.Files {
		files[i] = File{f.Name, string(f.Data)}
	}
	return ParseFiles(files)
}

var tooLarge = Fault{Text: fmt.Sprintf("the rules have over %d MB", maxSet>>20)}

// ParseFiles reads a set from files, each of which has a name of its own of
// small letters, digits and hyphens that ends with ".rules", save one that may be
// [Unnamed]. The error is [Faults].
func ParseFiles(files []File) (*Set, error) {
	size := 0
	for _, f := range files {
		size += len(f.Text)
	}
	switch {
	case size > maxSet:
		return nil, Faults{tooLarge}
	case len(files) > maxFiles:
		return nil, Faults{{Text: fmt.Sprintf("there are over %d files", maxFiles)}}
	}
	r := newReader()
	for _, f := range files {
		r.file(f)
	}
	return r.done()
}

// A reader collects the rules of a set, and what is wrong with them.
type reader struct {
	set    *Set
	names  map[string]bool // of files
	facts  map[string]bool // that rules conclude, those with faults too
	scope  Scope           // of the rules that follow
	rules  int             // and scopes, those with faults too
	words  int             // terms
	size   int             // of the regular expressions, in instructions
	faults Faults
}

func newReader() *reader {
	return &reader{set: &Set{}, names: make(map[string]bool), facts: make(map[string]bool)}
}

// done returns the set, or what is wrong with it.
func (r *reader) done() (*Set, error) {
	if !r.full() {
		r.faults = append(r.faults, r.set.check(r.facts)...)
	}
	if err := r.faults[:min(len(r.faults), maxFaults)].err(); err != nil {
		return nil, err
	}
	return r.set, nil
}

// full reports whether there are so many faults that nobody looks for more.
func (r *reader) full() bool { return len(r.faults) >= maxFaults }

func (r *reader) fault(pos Pos, format string, args ...any) {
	r.faults = append(r.faults, Fault{pos, fmt.Sprintf(format, args...)})
}

func (r *reader) file(f File) {
	pos := Pos{File: f.Name}
	switch {
	case f.Name != Unnamed && !fileName.MatchString(f.Name) || len(f.Name) > maxTerm+len(".rules"):
		r.fault(Pos{}, `%s is no name of a file of rules: small letters, digits and single hyphens, then ".rules"`, quote(shorten(f.Name)))
		return
	case r.names[f.Name]:
		r.fault(pos, "there are two files of this name: rename one, or put them together")
		return
	}
	r.names[f.Name] = true
	r.set.Files = append(r.set.Files, f.Name)
	r.scope = Scope{}
	r.set.scopes = append(r.set.scopes, scoped{pos: pos})
	text := strings.TrimPrefix(f.Text, "\ufeff")
	if !utf8.ValidString(text) {
		pos.Line, pos.Column = invalidLine(text), 1
		r.fault(pos, "this line is no UTF-8: save the file as UTF-8")
		return
	}
	r.lines(f.Name, text)
}

func invalidLine(text string) int {
	n := 0
	for line := range strings.Lines(text) {
		n++
		if !utf8.ValidString(line) {
			break
		}
	}
	return n
}

// lines puts the lines that continue a rule together and reads each rule. Blank
// lines and comments neither begin nor end one.
func (r *reader) lines(file, text string) {
	start, stop, at := 0, 0, 0 // of the rule at hand, and of the line
	first, n := 0, 0           // their numbers; first is 0 as long as there is no rule
	for line := range strings.Lines(text) {
		n++
		from := at
		at += len(line)
		switch trimmed := strings.TrimSpace(line); {
		case trimmed == "" || trimmed[0] == '#':
			continue
		case !isBlank(line[0]):
			if first > 0 {
				r.rule(text[start:stop], Pos{file, first, 1})
			}
			start, first = from, n
		case first == 0:
			r.fault(Pos{file, n, 1}, "white space at the beginning of a line continues the rule before it, and there is none: remove it")
		}
		stop = at
		if r.full() {
			return
		}
	}
	if first > 0 {
		r.rule(text[start:stop], Pos{file, first, 1})
	}
}

// rule reads one rule, or the scope of those that follow.
func (r *reader) rule(text string, pos Pos) {
	switch {
	case len(text) > maxText:
		r.fault(pos, "the rule has over %d KB: make several of it", maxText>>10)
		return
	case r.rules > maxRules:
		return
	}
	if r.rules++; r.rules > maxRules {
		r.fault(pos, "there are over %d rules", maxRules)
		return
	}
	tokens, fault := scan(text, pos)
	if fault != nil {
		r.faults = append(r.faults, *fault)
		return
	}
	p := parser{reader: r, tokens: tokens}
	if first := tokens[0]; first.kind == bare && first.text == "for" {
		p.next()
		p.readScope()
		return
	}
	r.set.scopes[len(r.set.scopes)-1].rules++
	if rule, ok := p.rule(); ok {
		r.set.Rules = append(r.set.Rules, rule)
	}
}

package rule

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/tools/txtar"

	"feedmesh/classify/expression"
)

const (
	maxSet      = 4 << 20  // bytes of a set
	maxText     = 64 << 10 // bytes of a rule
	maxFiles    = 1_000    // in a set
	maxRules    = 20_000   // in a set
	maxTerms    = 2_000    // in a rule
	maxSetTerms = 400_000  // terms in a set: about 100 MB
	maxTerm     = 200      // bytes of a term, name or notification
	maxDepth    = 50       // nested parentheses
)

// A Set is a group of rules. A rule may depend on the conclusions of any other rule of the set.
type Set struct {
	Rules []Rule   // in the order of the files
	Files []string // file names, in the order given

	scopes []scopeLine // in order; each file begins with one for all feeds
}

// A File is the text of a rule file and its name, for example "devops.rules".
type File struct{ Name, Text string }

// UnnamedFile is the file name used for an archive without file headers.
const UnnamedFile = "rules"

var fileName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*\.rules$`)

// Parse parses a set from a txtar archive of *.rules files, or from the text of a single file, which is then
// named "rules". The error is of type [Diagnostics].
func Parse(archive []byte) (*Set, error) {
	if len(archive) > maxSet {
		return nil, Diagnostics{tooLarge}
	}
	a := txtar.Parse(archive)
	if len(a.Files) == 0 {
		return ParseFiles([]File{{UnnamedFile, string(archive)}})
	}
	for line := range bytes.Lines(a.Comment) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
			return nil, Diagnostics{{Message: "the archive has rules before the first file: begin with a line such as \"-- devops.rules --\""}}
		}
	}
	files := make([]File, len(a.Files))
	for i, f := range a.Files {
		files[i] = File{f.Name, string(f.Data)}
	}
	return ParseFiles(files)
}

var tooLarge = Diagnostic{Message: fmt.Sprintf("the rules have more than %d MB", maxSet>>20)}

// ParseFiles parses a set from files. File names are unique, consist of lower-case letters, digits and
// hyphens and end with ".rules"; one file may have the name [UnnamedFile]. The error is of type
// [Diagnostics].
func ParseFiles(files []File) (*Set, error) {
	size := 0
	for _, f := range files {
		size += len(f.Text)
	}
	switch {
	case size > maxSet:
		return nil, Diagnostics{tooLarge}
	case len(files) > maxFiles:
		return nil, Diagnostics{{Message: fmt.Sprintf("there are more than %d files", maxFiles)}}
	}
	r := newSetParser()
	for _, f := range files {
		r.file(f)
	}
	return r.done()
}

// A setParser collects the rules of a set and its diagnostics.
type setParser struct {
	set         *Set
	names       map[string]bool // of files
	facts       map[string]bool // that rules conclude, rejected rules included
	scope       Scope           // of the rules that follow
	ruleCount   int             // rules and scopes, rejected ones included
	termCount   int
	programSize int // instructions of all regular expressions
	diagnostics Diagnostics
}

func newSetParser() *setParser {
	return &setParser{set: &Set{}, names: make(map[string]bool), facts: make(map[string]bool)}
}

// done returns the set, or its diagnostics.
func (r *setParser) done() (*Set, error) {
	if !r.full() {
		r.diagnostics = append(r.diagnostics, r.set.check(r.facts)...)
	}
	if err := r.diagnostics[:min(len(r.diagnostics), maxDiagnostics)].err(); err != nil {
		return nil, err
	}
	return r.set, nil
}

// full reports whether the limit on diagnostics is reached.
func (r *setParser) full() bool { return len(r.diagnostics) >= maxDiagnostics }

func (r *setParser) report(pos Pos, format string, args ...any) {
	r.diagnostics = append(r.diagnostics, Diagnostic{pos, fmt.Sprintf(format, args...)})
}

func (r *setParser) file(f File) {
	pos := Pos{File: f.Name}
	switch {
	case f.Name != UnnamedFile && !fileName.MatchString(f.Name) || len(f.Name) > maxTerm+len(".rules"):
		r.report(Pos{}, `%s is not a valid file name: use lower-case letters, digits and single hyphens, then ".rules"`, quote(shorten(f.Name)))
		return
	case r.names[f.Name]:
		r.report(pos, "two files have this name: rename one, or merge them")
		return
	}
	r.names[f.Name] = true
	r.set.Files = append(r.set.Files, f.Name)
	r.scope = Scope{}
	r.set.scopes = append(r.set.scopes, scopeLine{pos: pos})
	text := strings.TrimPrefix(f.Text, "\ufeff")
	if !utf8.ValidString(text) {
		pos.Line, pos.Column = invalidLine(text), 1
		r.report(pos, "this line is not valid UTF-8: save the file as UTF-8")
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

// lines joins continuation lines and parses each rule. Blank lines and comments neither begin nor end a rule.
func (r *setParser) lines(file, text string) {
	start, stop, at := 0, 0, 0 // offsets of the current rule, and of the line
	first, n := 0, 0           // line numbers; first is 0 before the first rule
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
			r.report(Pos{file, n, 1}, "a line that begins with white space continues the rule before it, but this is the first rule: remove the white space")
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

// rule parses one rule or scope.
func (r *setParser) rule(text string, pos Pos) {
	switch {
	case len(text) > maxText:
		r.report(pos, "the rule has more than %d KB: split it", maxText>>10)
		return
	case r.ruleCount > maxRules:
		return
	}
	if r.ruleCount++; r.ruleCount > maxRules {
		r.report(pos, "there are more than %d rules", maxRules)
		return
	}
	p := newRuleParser(r, text, pos)
	if p.ReadAll(); p.Err != nil {
		r.report(p.pos(expression.Token{Place: p.Place}), "%s", p.Err.Message)
		return
	}
	if first := p.Peek(); first.Kind == expression.Word && first.Text == "for" {
		p.Next()
		p.readScope()
		return
	}
	r.set.scopes[len(r.set.scopes)-1].rules++
	if rule, ok := p.rule(); ok {
		r.set.Rules = append(r.set.Rules, rule)
	}
}

// A scopeLine is a scope, its position and the number of rules below it.
type scopeLine struct {
	Scope
	pos   Pos
	rules int
}

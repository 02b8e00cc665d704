package classify

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"feedmesh/classify/stem"
)

// Rules decide what items are about and which are spam. They do not change and
// may be used concurrently.
type Rules struct {
	rules   []rule
	domains map[string]spamRule
	index   map[string]stemIndex // by the language that words are stemmed as
}

// A rule gives a score to a category, and perhaps a topic, for each of its
// terms that occurs.
type rule struct {
	kind     ruleKind
	category string
	topic    string // may be empty
	score    float64
	where    string // file and line
}

type ruleKind uint8

const (
	categoryRule ruleKind = iota
	spamPhrase
	aboutSpam // the text speaks of spam, rather than being it
)

// A spamRule is a domain that spam leads to.
type spamRule struct {
	score float64
	where string
}

// A stemIndex finds terms by the stem they begin with, so that matching costs
// what the text has, however many rules there are.
type stemIndex map[string][]term

// A term is a stem, or several in a row, that a rule looks for.
type term struct {
	rest []string // the stems after the first
	id   int      // tells it from all other terms
	rule int      // which rule it belongs to
	text string   // as written in the file
}

// stemmed are the languages whose texts have stems of their own; the first
// stands for all others. Rules are stemmed as the text they are matched with was.
var stemmed = append([]string{""}, stem.Languages()...)

func stemLanguage(language string) string {
	if slices.Contains(stemmed, language) {
		return language
	}
	return ""
}

//go:embed rules
var shipped embed.FS

// DefaultRules returns the rules that ship with the program.
func DefaultRules() *Rules { return defaultRules() }

var defaultRules = sync.OnceValue(func() *Rules {
	sub, err := fs.Sub(shipped, "rules")
	if err != nil {
		panic(err)
	}
	r, err := LoadRules(sub)
	if err != nil {
		panic(err)
	}
	return r
})

// LoadRules reads the rules in fsys: its *.rules files, then its spam.txt. The
// error names every fault with its file and line, as in
// `security.rules:4: "when" is missing`.
//
// A rules file has one rule a line; # begins a comment:
//
//	category security when ransomware | malware | "zero day" | уязвимость
//	category devops/topic:kubernetes when kubernetes | k8s score 2
//
// Terms are words or quoted phrases, compared by stem. spam.txt has a kind, a
// value and perhaps a weight a line:
//
//	phrase: "work from home" 2
//	domain: example.com
//	about: phishing
func LoadRules(fsys fs.FS) (*Rules, error) {
	b := builder{rules: &Rules{domains: make(map[string]spamRule), index: make(map[string]stemIndex)}}
	for _, l := range stemmed {
		b.rules.index[l] = make(stemIndex)
	}
	files, err := fs.Glob(fsys, "*.rules")
	if err != nil {
		return nil, fmt.Errorf("list rules: %w", err)
	}
	for _, file := range files {
		b.read(fsys, file, b.category)
	}
	if _, err := fs.Stat(fsys, "spam.txt"); !errors.Is(err, fs.ErrNotExist) {
		b.read(fsys, "spam.txt", b.spam)
	}
	if err := errors.Join(b.faults...); err != nil {
		return nil, err
	}
	return b.rules, nil
}

// A builder compiles rules and collects what is wrong with them.
type builder struct {
	rules  *Rules
	terms  int
	faults []error
}

// read hands each line of a file that says something to parse.
func (b *builder) read(fsys fs.FS, file string, parse func(line, where string) error) {
	data, err := fs.ReadFile(fsys, file)
	if err != nil {
		b.faults = append(b.faults, fmt.Errorf("read rules: %w", err))
		return
	}
	for i, line := range strings.Split(string(data), "\n") {
		line = strings.TrimSpace(withoutComment(line))
		if line == "" {
			continue
		}
		where := fmt.Sprintf("%s:%d", path.Base(file), i+1)
		if err := parse(line, where); err != nil {
			b.faults = append(b.faults, fmt.Errorf("%s: %w", where, err))
		}
	}
}

// withoutComment cuts a comment off: # at the beginning or after white space,
// outside of quotes, so that c# is a word.
func withoutComment(line string) string {
	quoted := false
	for i := range len(line) {
		switch {
		case line[i] == '"':
			quoted = !quoted
		case line[i] == '#' && !quoted && (i == 0 || line[i-1] == ' ' || line[i-1] == '\t'):
			return line[:i]
		}
	}
	return line
}

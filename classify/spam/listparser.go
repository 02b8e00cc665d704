package spam

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

const (
	maxLines    = 200_000 // of all lists
	maxProblems = 100     // in one error
	maxLine     = 1000    // bytes
	maxWeight   = 20
)

// A listParser builds a filter from lists and collects problems.
type listParser struct {
	filter      *Filter
	seen        map[string]place // normalized entries, with their position
	at          place
	group       string  // of the lines that follow
	groupWeight float64 // default weight within the group
	lines       int
	problems    []error
	dropped     int // number of problems beyond maxProblems
}

func newListParser() *listParser {
	return &listParser{filter: &Filter{domains: make(map[string]entry)}, seen: make(map[string]place)}
}

// read calls parse for each line of a file that is neither blank nor a comment.
func (b *listParser) read(name string, data []byte, parse func(b *listParser, line string) error) {
	b.group = ""
	n := 0
	for line := range strings.Lines(string(data)) {
		n++
		if b.lines++; b.lines == maxLines+1 {
			b.at = place{name, n}
			b.report(fmt.Errorf("the lists have more than %d lines; the rest is ignored", maxLines))
		}
		if b.lines > maxLines {
			return
		}
		line = strings.TrimSpace(withoutComment(line))
		if line == "" {
			continue
		}
		b.at = place{name, n}
		if len(line) > maxLine {
			b.report(fmt.Errorf("the line has %d bytes; the limit is %d", len(line), maxLine))
		} else if err := parse(b, line); err != nil {
			b.report(err)
		}
	}
}

func (b *listParser) report(err error) {
	if len(b.problems) == maxProblems {
		b.dropped++
		return
	}
	b.problems = append(b.problems, fmt.Errorf("%s:%d: %w", b.at.file, b.at.line, err))
}

// entry parses a line of a list with groups: a header such as "[casino 2.5]", or an entry of the current
// group, with an optional weight of its own, such as "free spins = 1". ok is false for a header.
func (b *listParser) entry(line string) (e entry, ok bool, err error) {
	if inner, found := strings.CutPrefix(line, "["); found {
		name, number, _ := strings.Cut(strings.TrimSuffix(inner, "]"), " ")
		if !strings.HasSuffix(inner, "]") || name == "" {
			return e, false, fmt.Errorf(`%q is not a header: want "[name weight]"`, line)
		}
		b.group = name
		b.groupWeight, err = parseWeight(number)
		return e, false, err
	}
	if b.group == "" {
		return e, false, errors.New(`a header such as "[casino 2]" must precede it`)
	}
	e = entry{list: b.at.file, group: b.group, weight: b.groupWeight, text: line, where: b.at}
	if i := strings.LastIndex(line, " = "); i >= 0 {
		e.text = strings.TrimSpace(line[:i])
		e.weight, err = parseWeight(line[i+len(" = "):])
	}
	return e, true, err
}

// addUnique rejects an entry that the list already contains; key is its normalized form.
func (b *listParser) addUnique(key string) error {
	if before, twice := b.seen[key]; twice {
		return fmt.Errorf("it repeats %s:%d", before.file, before.line)
	}
	b.seen[key] = b.at
	return nil
}

func parseWeight(s string) (float64, error) {
	return parseNumber(s, [2]float64{-maxWeight, maxWeight})
}

func parseNumber(s string, limit [2]float64) (float64, error) {
	s = strings.TrimSpace(s)
	x, err := strconv.ParseFloat(s, 64)
	if err != nil || !(x >= limit[0] && x <= limit[1]) { // also rejects NaN
		return 0, fmt.Errorf("%q is not a weight: use a number from %g to %g", s, limit[0], limit[1])
	}
	return x, nil
}

// withoutComment removes a comment: # at the beginning or after white space.
func withoutComment(line string) string {
	for i := range len(line) {
		if line[i] == '#' && (i == 0 || line[i-1] == ' ' || line[i-1] == '\t') {
			return line[:i]
		}
	}
	return line
}

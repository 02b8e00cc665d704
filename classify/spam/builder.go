package spam

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// A builder makes a filter and collects what is wrong with its lists.
type builder struct {
	filter  *Filter
	seen    map[string]place // what lists have, as it is compared
	at      place
	group   string  // of the lines that follow
	worth   float64 // of each of them
	lines   int
	faults  []error
	dropped int // faults beyond those
}

func newBuilder() *builder {
	return &builder{filter: &Filter{domains: make(map[string]entry)}, seen: make(map[string]place)}
}

// read hands each line of a file that says something to parse.
func (b *builder) read(name string, data []byte, parse func(b *builder, line string) error) {
	b.group = ""
	n := 0
	for line := range strings.Lines(string(data)) {
		n++
		if b.lines++; b.lines == maxLines+1 {
			b.at = place{name, n}
			b.fault(fmt.Errorf("line %d of the lists: no more are read", maxLines))
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
			b.fault(fmt.Errorf("the line has %d bytes; %d are read at most", len(line), maxLine))
		} else if err := parse(b, line); err != nil {
			b.fault(err)
		}
	}
}

func (b *builder) fault(err error) {
	if len(b.faults) == maxFaults {
		b.dropped++
		return
	}
	b.faults = append(b.faults, fmt.Errorf("%s:%d: %w", b.at.file, b.at.line, err))
}

// entry reads a line of a list that has groups: a head, as in "[casino 2.5]", or
// what belongs to the last head, perhaps with a weight of its own, as in
// "free spins = 1". ok is false for a head.
func (b *builder) entry(line string) (e entry, ok bool, err error) {
	if inner, found := strings.CutPrefix(line, "["); found {
		name, number, _ := strings.Cut(strings.TrimSuffix(inner, "]"), " ")
		if !strings.HasSuffix(inner, "]") || name == "" {
			return e, false, fmt.Errorf(`%q is no head: want "[name weight]"`, line)
		}
		b.group = name
		b.worth, err = parseWeight(number)
		return e, false, err
	}
	if b.group == "" {
		return e, false, errors.New(`a head such as "[casino 2]" must stand before it`)
	}
	e = entry{list: b.at.file, group: b.group, weight: b.worth, text: line, where: b.at}
	if i := strings.LastIndex(line, " = "); i >= 0 {
		e.text = strings.TrimSpace(line[:i])
		e.weight, err = parseWeight(line[i+len(" = "):])
	}
	return e, true, err
}

// once faults what a list has already; key is how it is compared.
func (b *builder) once(key string) error {
	if before, twice := b.seen[key]; twice {
		return fmt.Errorf("it is at %s:%d already", before.file, before.line)
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
	if err != nil || !(x >= limit[0] && x <= limit[1]) { // nor NaN
		return 0, fmt.Errorf("%q is no weight: a number from %g to %g", s, limit[0], limit[1])
	}
	return x, nil
}

// withoutComment cuts a comment off: # at the beginning or after white space.
func withoutComment(line string) string {
	for i := range len(line) {
		if line[i] == '#' && (i == 0 || line[i-1] == ' ' || line[i-1] == '\t') {
			return line[:i]
		}
	}
	return line
}

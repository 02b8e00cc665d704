package classify

import (
	"slices"
	"strings"
)

// A prefix is a prefix pattern.
type prefix struct {
	text    string
	pattern int32
	shorter int32 // index of the longest other prefix that text begins with, or -1
}

// sortPrefixes sorts the prefixes, and returns an entry for each stem of the dictionary that begins with one.
func (d *dictionary) sortPrefixes() []entry[int32] {
	slices.SortFunc(d.prefixes, func(a, b prefix) int { return strings.Compare(a.text, b.text) })
	for i := range d.prefixes {
		p := &d.prefixes[i]
		p.shorter = int32(i) - 1
		for p.shorter >= 0 && !strings.HasPrefix(p.text, d.prefixes[p.shorter].text) {
			p.shorter = d.prefixes[p.shorter].shorter
		}
	}
	if len(d.prefixes) == 0 {
		return nil
	}
	var found []entry[int32]
	for id := range int32(d.stems.Len()) {
		for i := d.longest(string(d.stems.Word(id))); i >= 0; i = d.prefixes[i].shorter {
			found = append(found, entry[int32]{id, d.prefixes[i].pattern})
		}
	}
	return found
}

// longest returns the index of the longest prefix of a stem, or -1. The shorter ones follow by way of
// prefix.shorter.
func (d *dictionary) longest(s string) int32 {
	low, high := 0, len(d.prefixes)
	for low < high { // binary search: the first prefix after s
		middle := (low + high) / 2
		if d.prefixes[middle].text <= s {
			low = middle + 1
		} else {
			high = middle
		}
	}
	i := int32(low) - 1
	for i >= 0 && !strings.HasPrefix(s, d.prefixes[i].text) {
		i = d.prefixes[i].shorter
	}
	return i
}

// foldedWord returns the form in which prefixes are compared with stems.
func foldedWord(s string) string { return strings.ReplaceAll(strings.ToLower(s), "ё", "е") }

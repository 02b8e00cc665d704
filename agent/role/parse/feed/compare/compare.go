// Package compare reads a feed document a second time, with gofeed, and lists where
// it and package feed disagree. It serves "agent feeds test --compare" and the
// console's Test fetch; nothing that it returns is stored.
//
// gofeed needs time and memory without bound for some documents, so a [Parser] runs it in
// a child process with [MaxTime] and [MaxMemory]. The child is the same program: it
// calls [Worker].
package compare

import (
	"html"
	"slices"
	"strings"

	"feedmesh/agent/role/parse/feed"
	"feedmesh/agent/wire"
)

// The names of the fields that are compared. An entry that only one parser found
// differs as a whole, not in its fields.
const (
	Title     = "title"
	Link      = "link"
	Published = "published"
)

// OurEntries returns the compared fields of the entries of package feed.
func OurEntries(entries []feed.Entry) []wire.ParsedEntry {
	ours := make([]wire.ParsedEntry, len(entries))
	for i, e := range entries {
		published := e.Published
		if published.IsZero() {
			published = e.Updated
		}
		ours[i] = wire.ParsedEntry{Title: plain(e.Title), Link: e.Link, Published: published.UTC()}
	}
	return ours
}

// Pair pairs the entries of two parsers: those with the same link first, then those with the same
// title, then by position among the rest. Pairs are in the order of ours, followed by
// the entries that only theirs contains. O(n) in the number of entries.
func Pair(ours, theirs []wire.ParsedEntry) []wire.EntryPair {
	pairs := make([]wire.EntryPair, len(ours))
	for i := range ours {
		pairs[i].Ours = &ours[i]
	}
	taken := make([]bool, len(theirs))
	pairBy(pairs, theirs, taken, func(e wire.ParsedEntry) string { return e.Link })
	pairBy(pairs, theirs, taken, func(e wire.ParsedEntry) string { return e.Title })
	if len(ours) == len(theirs) {
		for i := range pairs {
			if pairs[i].Theirs == nil && !taken[i] {
				pairs[i].Theirs, taken[i] = &theirs[i], true
			}
		}
	}
	for i := range pairs {
		pairs[i].Differs = differences(pairs[i])
	}
	for i := range theirs {
		if !taken[i] {
			pairs = append(pairs, wire.EntryPair{Theirs: &theirs[i]})
		}
	}
	return pairs
}

// pairBy pairs the entries that have no partner yet and whose keys are equal, in
// document order. An empty key pairs nothing.
func pairBy(pairs []wire.EntryPair, theirs []wire.ParsedEntry, taken []bool, key func(wire.ParsedEntry) string) {
	waiting := map[string][]int{}
	for i, e := range theirs {
		if k := key(e); k != "" && !taken[i] {
			waiting[k] = append(waiting[k], i)
		}
	}
	for i := range pairs {
		if pairs[i].Theirs != nil {
			continue
		}
		k := key(*pairs[i].Ours)
		if found := waiting[k]; len(found) > 0 {
			pairs[i].Theirs, taken[found[0]] = &theirs[found[0]], true
			waiting[k] = found[1:]
		}
	}
}

func differences(r wire.EntryPair) []string {
	if r.Ours == nil || r.Theirs == nil {
		return nil
	}
	var fields []string
	if r.Ours.Title != r.Theirs.Title {
		fields = append(fields, Title)
	}
	if r.Ours.Link != r.Theirs.Link {
		fields = append(fields, Link)
	}
	if !r.Ours.Published.Equal(r.Theirs.Published) {
		fields = append(fields, Published)
	}
	return fields
}

// Differing returns the pairs that are not the same, in their order.
func Differing(pairs []wire.EntryPair) []wire.EntryPair {
	return slices.DeleteFunc(slices.Clone(pairs), wire.EntryPair.Same)
}

// plain returns a title without references and with single spaces, so that only
// differences that a reader would see count.
func plain(title string) string {
	return strings.Join(strings.Fields(html.UnescapeString(title)), " ")
}

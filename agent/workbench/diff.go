package workbench

import (
	"fmt"
	"slices"
	"strings"
)

// Bounds of a diff.
const (
	diffContext = 3    // lines that stay, around those that change
	maxEdits    = 1000 // lines that differ; its square is the work, and the memory
)

// Diff returns, as a unified diff, what makes the new text of the old one; it is
// empty if they are equal. Where more than maxEdits lines differ, all between the
// first and the last of them are said to be replaced.
func Diff(oldName, old, newName, new string) string {
	if old == new {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "--- %s\n+++ %s\n", oldName, newName)
	edits := editsOf(lines(old), lines(new))
	for from := 0; from < len(edits); {
		first := slices.IndexFunc(edits[from:], edit.changes)
		if first < 0 {
			break
		}
		begin := max(from, from+first-diffContext)
		end := hunkEnd(edits, from+first)
		writeHunk(&b, edits[begin:end])
		from = end
	}
	return b.String()
}

// lines returns the lines of a text with their ends, which the last may lack.
func lines(text string) []string {
	all := strings.SplitAfter(text, "\n")
	if all[len(all)-1] == "" {
		all = all[:len(all)-1]
	}
	return all
}

// An edit is a line that stays, goes or comes, and where it stands on both
// sides, from 1: where it would stand, on the side that lacks it.
type edit struct {
	mark     byte // ' ', '-' or '+'
	line     string
	old, new int
}

func (e edit) changes() bool { return e.mark != ' ' }

// hunkEnd returns where the hunk ends that has the change at i: behind the
// context of the last change that is not too far from the one before it.
func hunkEnd(edits []edit, i int) int {
	last := i
	for ; i < len(edits) && i-last <= 2*diffContext; i++ {
		if edits[i].changes() {
			last = i
		}
	}
	return min(len(edits), last+diffContext+1)
}

func writeHunk(b *strings.Builder, hunk []edit) {
	var olds, news int
	for _, e := range hunk {
		if e.mark != '+' {
			olds++
		}
		if e.mark != '-' {
			news++
		}
	}
	fmt.Fprintf(b, "@@ -%s +%s @@\n", span(hunk[0].old, olds), span(hunk[0].new, news))
	for _, e := range hunk {
		b.WriteByte(e.mark)
		b.WriteString(e.line)
		if !strings.HasSuffix(e.line, "\n") {
			b.WriteString("\n\\ No newline at end of file\n")
		}
	}
}

// span writes a range of lines. An empty one names the line before it.
func span(start, n int) string {
	if n == 0 {
		start--
	}
	return fmt.Sprintf("%d,%d", start, n)
}

// editsOf returns the lines of both texts in order.
func editsOf(old, new []string) []edit {
	var edits []edit
	x, y := 0, 0
	upTo := func(oldEnd, newEnd int) {
		for ; x < oldEnd; x++ {
			edits = append(edits, edit{'-', old[x], x + 1, y + 1})
		}
		for ; y < newEnd; y++ {
			edits = append(edits, edit{'+', new[y], x + 1, y + 1})
		}
	}
	for _, p := range kept(old, new) {
		upTo(p.old, p.new)
		edits = append(edits, edit{' ', old[x], x + 1, y + 1})
		x, y = x+1, y+1
	}
	upTo(len(old), len(new))
	return edits
}

// A pair says that a line of the old text is one of the new: their numbers, from 0.
type pair struct{ old, new int }

// kept returns the lines that stay, in order.
func kept(old, new []string) []pair {
	var pairs []pair
	head, least := 0, min(len(old), len(new))
	for ; head < least && old[head] == new[head]; head++ {
		pairs = append(pairs, pair{head, head})
	}
	tail := 0
	for tail < least-head && old[len(old)-1-tail] == new[len(new)-1-tail] {
		tail++
	}
	for _, p := range common(old[head:len(old)-tail], new[head:len(new)-tail]) {
		pairs = append(pairs, pair{p.old + head, p.new + head})
	}
	for ; tail > 0; tail-- {
		pairs = append(pairs, pair{len(old) - tail, len(new) - tail})
	}
	return pairs
}

// common returns a longest common subsequence of the two texts, or nothing if it
// takes more than maxEdits to make one of the other. O(edits * lines).
//
// Source: E. Myers, An O(ND) difference algorithm and its variations, 1986.
func common(old, new []string) []pair {
	// reach[k] is how far into old one gets on diagonal k, where old's line
	// number is k more than new's. rounds has the part of it that each round
	// began with, to find the way back.
	limit := min(maxEdits, len(old)+len(new))
	reach, rounds := make([]int32, 2*limit+3), [][]int32{}
	center := limit + 1
	for d := 0; d <= limit; d++ {
		rounds = append(rounds, slices.Clone(reach[center-d-1:center+d+2]))
		for k := -d; k <= d; k += 2 {
			x := int(reach[center+from(reach, center, k, d)])
			if from(reach, center, k, d) < k {
				x++
			}
			for x < len(old) && x-k < len(new) && old[x] == new[x-k] {
				x++
			}
			reach[center+k] = int32(x)
			if x >= len(old) && x-k >= len(new) {
				return wayBack(rounds, len(old), len(new))
			}
		}
	}
	return nil
}

// from returns the diagonal beside k that gets further in a round of d edits.
func from(reach []int32, center, k, d int) int {
	if k == -d || k != d && reach[center+k-1] < reach[center+k+1] {
		return k + 1
	}
	return k - 1
}

// wayBack returns the equal lines on the way that the rounds found to (x, y).
func wayBack(rounds [][]int32, x, y int) []pair {
	var pairs []pair
	for d := len(rounds) - 1; d >= 0; d-- {
		px, py := 0, 0
		if d > 0 {
			k := from(rounds[d], d+1, x-y, d)
			px = int(rounds[d][d+1+k])
			py = px - k
		}
		for ; x > px && y > py; x, y = x-1, y-1 {
			pairs = append(pairs, pair{x - 1, y - 1})
		}
		x, y = px, py
	}
	slices.Reverse(pairs)
	return pairs
}

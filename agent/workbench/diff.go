package workbench

import (
	"fmt"
	"slices"
	"strings"
)

// Bounds of a diff.
const (
	diffContext = 3    // unchanged lines around changes
	maxEdits    = 1000 // different lines; time and memory grow with its square
)

// Diff returns the unified diff from the old to the new text, empty if they are equal. If more than maxEdits
// lines differ, the diff replaces all lines between the first and the last difference.
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

// lines returns the lines of a text with their line ends; the last line may lack it.
func lines(text string) []string {
	all := strings.SplitAfter(text, "\n")
	if all[len(all)-1] == "" {
		all = all[:len(all)-1]
	}
	return all
}

// An edit is an unchanged, removed or added line with its line numbers in both texts, from 1. In the text
// without the line, the number is that of the next line.
type edit struct {
	mark     byte // ' ', '-' or '+'
	line     string
	old, new int
}

func (e edit) changes() bool { return e.mark != ' ' }

// hunkEnd returns the end of the hunk of the change at i. Changes whose contexts meet share a hunk.
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

// span formats a range of lines. An empty range names the line before it.
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
	for _, p := range unchanged(old, new) {
		upTo(p.old, p.new)
		edits = append(edits, edit{' ', old[x], x + 1, y + 1})
		x, y = x+1, y+1
	}
	upTo(len(old), len(new))
	return edits
}

// A pair is the line numbers of an unchanged line in both texts, from 0.
type pair struct{ old, new int }

// unchanged returns the unchanged lines, in order.
func unchanged(old, new []string) []pair {
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

// common returns a longest common subsequence of the two texts, or nil if they differ by more than maxEdits
// edits. O(edits * lines).
//
// Source: E. Myers, An O(ND) difference algorithm and its variations, 1986.
func common(old, new []string) []pair {
	// reach[k] is the furthest line of old on diagonal k, where old's line number is k more than new's. rounds
	// stores the part of reach at the start of each round, for backtrack.
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
				return backtrack(rounds, len(old), len(new))
			}
		}
	}
	return nil
}

// from returns the neighbouring diagonal of k with the furthest reach in a round of d edits.
func from(reach []int32, center, k, d int) int {
	if k == -d || k != d && reach[center+k-1] < reach[center+k+1] {
		return k + 1
	}
	return k - 1
}

// backtrack returns the equal lines on the path of the rounds to (x, y).
func backtrack(rounds [][]int32, x, y int) []pair {
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

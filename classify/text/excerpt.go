package text

import (
	"slices"
	"strings"
	"unicode/utf8"
)

const ellipsis = "…"

// maxSearched bounds the bytes that [Highlight] reads.
const maxSearched = 64 << 10

// Excerpt returns the beginning of a plain text on one line: at most max characters, cut between words, with
// an ellipsis if it is cut.
func Excerpt(plain string, max int) string {
	if max < 1 {
		return ""
	}
	plain = strings.TrimSpace(plain)
	room := 8*max + utf8.UTFMax        // bytes sufficient for max characters after white space is collapsed
	s := oneLine(cut(plain, 2*max+64)) // usually sufficient
	if utf8.RuneCountInString(s) <= max {
		s = oneLine(cut(plain, room))
	}
	if utf8.RuneCountInString(s) <= max && len(plain) <= room {
		return s
	}
	end := offset(s, max-1)
	if space := strings.LastIndexByte(s[:min(end+1, len(s))], ' '); space > end/2 {
		end = space
	}
	return strings.TrimRight(s[:end], " ,;:.–—-") + ellipsis
}

func oneLine(s string) string {
	l := lineBuffer{b: make([]byte, 0, len(s))}
	l.add(s, false)
	return l.String()
}

// offset returns the byte offset of the n-th character of s.
func offset(s string, n int) int {
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}

// A Span is a piece of a text. Consecutive spans have no gap between them.
type Span struct {
	Text string `json:"text"`
	Hit  bool   `json:"hit,omitempty"` // the piece is a matching word
}

// Highlight returns the part of a plain text with the most matching words: at most max characters, as spans,
// with ellipses where it is cut. Without a match it is the beginning of the text. Spans contain text; callers
// must escape it for HTML. Only the first 64 KB are read.
func Highlight(plain string, match func(Word) bool, max int) []Span {
	if max < 1 {
		return nil
	}
	s := oneLine(cut(plain, maxSearched))
	words := Words(s)
	var hits []int
	for i, w := range words {
		if match(w) {
			hits = append(hits, i)
		}
	}
	start, end := 0, len(s)
	switch fits := utf8.RuneCountInString(s) <= max; {
	case s == "":
		return nil
	case len(hits) == 0, !fits && max <= 2: // no room for anything but ellipses
		return []Span{{Text: Excerpt(s, max)}}
	case !fits:
		start, end = window(s, words, hits, max-2*utf8.RuneCountInString(ellipsis))
	}
	return spans(s, words, hits, start, end)
}

// window returns the byte range of at most room characters with the most hits, at word boundaries. The hits
// are centered.
func window(s string, words []Word, hits []int, room int) (start, end int) {
	at := runeOffsets(s, words)
	first, last := 0, 0
	for i, j := 0, 0; i < len(hits); i++ {
		for j+1 < len(hits) && at[hits[j+1]]+runes(words[hits[j+1]], s)-at[hits[i]] <= room {
			j++
		}
		j = max(i, j)
		if j-i > last-first {
			first, last = i, j
		}
	}
	from, to := hits[first], hits[last]
	length := at[to] + runes(words[to], s) - at[from]
	if length > room {
		return words[from].Start, words[from].Start + offset(s[words[from].Start:], room)
	}
	for before := (room - length) / 2; from > 0 && at[hits[first]]-at[from-1] <= before; {
		from--
	}
	for to+1 < len(words) && at[to+1]+runes(words[to+1], s)-at[from] <= room {
		to++
	}
	for from > 0 && at[to]+runes(words[to], s)-at[from-1] <= room {
		from--
	}
	start, end = words[from].Start, words[to].End
	if from == 0 && utf8.RuneCountInString(s[:end]) <= room {
		start = 0
	}
	if to == len(words)-1 && utf8.RuneCountInString(s[start:]) <= room {
		end = len(s)
	}
	return start, end
}

func runes(w Word, s string) int { return utf8.RuneCountInString(s[w.Start:w.End]) }

// runeOffsets returns the number of characters before each word.
func runeOffsets(s string, words []Word) []int {
	at := make([]int, len(words))
	n, pos := 0, 0
	for i, w := range words {
		n += utf8.RuneCountInString(s[pos:w.Start])
		pos, at[i] = w.Start, n
	}
	return at
}

// spans splits s[start:end] into hits and the text between them.
func spans(s string, words []Word, hits []int, start, end int) []Span {
	var list []Span
	add := func(text string, hit bool) {
		switch {
		case text == "":
		case len(list) > 0 && !hit && !list[len(list)-1].Hit:
			list[len(list)-1].Text += text
		default:
			list = append(list, Span{Text: text, Hit: hit})
		}
	}
	if start > 0 {
		add(ellipsis, false)
	}
	pos := start
	for _, i := range hits {
		if w := words[i]; w.Start >= start && w.Start < end {
			add(s[pos:w.Start], false)
			pos = min(w.End, end)
			add(s[w.Start:pos], true)
		}
	}
	add(s[pos:end], false)
	if end < len(s) {
		add(ellipsis, false)
	}
	return slices.Clip(list)
}

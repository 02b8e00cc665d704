package briefing

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"feedmesh/agent/untrusted"
	"feedmesh/agent/wire"
	"feedmesh/classify/story"
)

// Bounds of the text of a model, which may ignore how much it is asked for.
const (
	maxText      = 20_000 // characters
	maxSentence  = 1000   // characters
	maxSentences = 60
)

var (
	citation = regexp.MustCompile(`(?i)\s*\[\s*(?:items?\s+)?(\d{1,3}(?:\s*[,;]\s*\d{1,3})*)\s*\]`)
	number   = regexp.MustCompile(`\d+`)

	// misplaced matches citations that follow the end of their sentence.
	misplaced = regexp.MustCompile(`(?i)([.!?…。！？।؟۔]+["'”’»)]*)((?:\s*\[\s*(?:items?\s+)?\d{1,3}(?:\s*[,;]\s*\d{1,3})*\s*\])+)`)

	// ended matches the end of a sentence in scripts that put no space after it, or whose mark is none of Latin.
	ended = regexp.MustCompile(`[。！？।؟۔]`)

	// listed matches what begins a line of a Markdown list, heading or quotation.
	listed = regexp.MustCompile(`^\s*(?:[-*•>]|#+|\d{1,2}[.)])\s+`)

	// atEnd matches what may follow the citations of a sentence.
	atEnd = regexp.MustCompile(`^[\s.!?…。！？।؟۔"'”’»)*]*$`)
)

// cited returns the sentences of a text that end with citations of items 1 to last, without the citations, and the number of the
// other sentences. A sentence that cites another number is one of these. A full stop before a lower-case letter ends no sentence.
func cited(text string, last int) (kept []wire.BriefingSentence, leftOut int) {
	if _, after, found := strings.Cut(text, "</think>"); found { // models that reason aloud
		text = after
	}
	if runes := []rune(text); len(runes) > maxText {
		text = string(runes[:maxText])
	}
	for line := range strings.Lines(untrusted.Clean(text)) {
		line = strings.ReplaceAll(listed.ReplaceAllString(line, ""), "**", "")
		line = ended.ReplaceAllString(misplaced.ReplaceAllString(line, "$2$1"), "$0\n")
		for part := range strings.SplitSeq(line, "\n") {
			for _, sentence := range story.Sentences(part) {
				if s, ok := citedSentence(sentence, last); ok && len(kept) < maxSentences {
					kept = append(kept, s)
				} else {
					leftOut++
				}
			}
		}
	}
	return kept, leftOut
}

// citedSentence returns a sentence without its citations, unless it lacks valid ones at its end.
func citedSentence(sentence string, last int) (s wire.BriefingSentence, ok bool) {
	found := citation.FindAllStringSubmatchIndex(sentence, -1)
	if len(found) == 0 || !atEnd.MatchString(sentence[found[len(found)-1][1]:]) {
		return s, false
	}
	for _, at := range found {
		for _, digits := range number.FindAllString(sentence[at[2]:at[3]], -1) {
			n, _ := strconv.Atoi(digits) // at most three digits
			if n < 1 || n > last {
				return s, false
			}
			if !slices.Contains(s.Items, n) {
				s.Items = append(s.Items, n)
			}
		}
	}
	s.Text = untrusted.Line(citation.ReplaceAllString(sentence, ""), maxSentence)
	return s, strings.ContainsFunc(s.Text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}

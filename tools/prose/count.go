package main

import "regexp"

// Counts holds how often each kind of phrase occurs in a text.
type counts struct {
	words        int
	personifying int // verbs of people: tell, hear, know, ask, say, live, die
	whatClauses  int // "what is", "what was", "what it", "what they"
	standard     int // cache, batch, retry, buffer, lock, timeout, worker, pool
}

// The patterns count every inflection. The participle "known" is an adjective in
// this field (a known host) and does not count; all other forms count whatever
// their subject is, because a program cannot find the subject.
var (
	wordPattern         = regexp.MustCompile(`[A-Za-z][A-Za-z'-]*`)
	personifyingPattern = regexp.MustCompile(`(?i)\b(tell(s|ing)?|told|hear(s|d|ing)?|know(s|ing)?|knew|ask(s|ed|ing)?|says?|said|saying|live[sd]?|living|die[sd]?|dying)\b`)
	whatPattern         = regexp.MustCompile(`(?i)\bwhat (is|was|it|they)\b`)
	standardPattern     = regexp.MustCompile(`(?i)\b(cache[sd]?|caching|batch(es|ed|ing)?|retr(y|ies|ied|ying)|buffer(s|ed|ing)?|(un)?lock(s|ed|ing)?|timeouts?|workers?|pool(s|ed|ing)?)\b`)
)

func count(text string) counts {
	matches := func(p *regexp.Regexp) int { return len(p.FindAllStringIndex(text, -1)) }
	return counts{
		words: matches(wordPattern), personifying: matches(personifyingPattern),
		whatClauses: matches(whatPattern), standard: matches(standardPattern),
	}
}

func total(texts []text) counts {
	var sum counts
	for _, t := range texts {
		c := count(t.text)
		sum.words += c.words
		sum.personifying += c.personifying
		sum.whatClauses += c.whatClauses
		sum.standard += c.standard
	}
	return sum
}

// perThousand returns n per 1,000 words.
func (c counts) perThousand(n int) float64 { return float64(n) * 1000 / float64(max(c.words, 1)) }

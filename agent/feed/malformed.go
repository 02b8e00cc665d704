package feed

import "strings"

// A mend is a set of things that were wrong with a document and that we put
// right, or knew how to read all the same.
type mend uint32

const (
	cutOff mend = 1 << iota
	junkBefore
	junkAfter
	forbiddenCharacters
	badBytes
	encodedTwice
	escapedWhole
	bareAmpersands
	unknownEntities
	bareLessThan
	badAttributes
	badCDATA
	badComments
	neverClosed
	strayEnds
	outsideChannel
	noRoot
	badJSON
)

// mendWords are the mends in words, in the order of their bits.
var mendWords = [...]string{
	"it is cut off",
	"something else precedes it",
	"something else follows it",
	"characters that XML forbids",
	"bytes that are no characters",
	"a character set applied twice",
	"all of it is escaped",
	"bare ampersands",
	"entities that XML does not have",
	"bare less-than signs",
	"damaged attributes",
	"damaged CDATA sections",
	"damaged comments",
	"elements that nobody closed",
	"end tags of nothing",
	"items outside the channel",
	"no root that a feed has",
	"damaged JSON",
}

// String returns the mends in words, "" for none.
func (m mend) String() string {
	var words []string
	for i, w := range mendWords {
		if m&(1<<i) != 0 {
			words = append(words, w)
		}
	}
	return strings.Join(words, ", ")
}

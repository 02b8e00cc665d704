package feed

import (
	"strings"

	"feedmesh/agent/role/parse/feed/encoding"
)

// defects is a set of defects of a document that were repaired or tolerated.
type defects uint32

const (
	cutOff defects = 1 << iota
	junkBefore
	junkAfter
	forbiddenCharacters
	badBytes
	doubleEncoded
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

// defectNames are the defects in words, in the order of their bits.
var defectNames = [...]string{
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

// damageDefects returns the damage of a document's encoding as defects.
func damageDefects(d encoding.Damage) (m defects) {
	if d.BadBytes {
		m |= badBytes
	}
	if d.Controls {
		m |= forbiddenCharacters
	}
	if d.Doubled {
		m |= doubleEncoded
	}
	return m
}

// String returns the defects in words, "" for none.
func (m defects) String() string {
	var words []string
	for i, w := range defectNames {
		if m&(1<<i) != 0 {
			words = append(words, w)
		}
	}
	return strings.Join(words, ", ")
}

package feed

import (
	"bytes"
	"regexp"
)

// Bounds of what a document type may define: what is beyond them stays as it is
// written, and what refers to other entities or has markup in it does too.
const (
	maxEntities   = 64
	maxEntity     = 256     // bytes of one entity's text
	maxExpansions = 1 << 20 // bytes that all of them add to a document
)

var entityDefinition = regexp.MustCompile(`<!ENTITY\s+([A-Za-z][A-Za-z0-9]*)\s+(?:"([^"<&%]*)"|'([^'<&%]*)')\s*>`)

// expand puts the entities that the document type before a root defines in
// their place. Nothing is fetched, and no entity is expanded in another.
func expand(before, doc []byte) []byte {
	if !bytes.Contains(before, []byte("<!ENTITY")) {
		return doc
	}
	room := maxExpansions
	for _, d := range entityDefinition.FindAllSubmatch(before, maxEntities) {
		name, value := []byte("&"+string(d[1])+";"), append(d[2], d[3]...)
		more := bytes.Count(doc, name) * len(value)
		if len(value) > maxEntity || more == 0 || more > room {
			continue
		}
		room -= more
		doc = bytes.ReplaceAll(doc, name, value)
	}
	return doc
}

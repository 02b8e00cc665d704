package feed

import (
	"bytes"
	"regexp"
)

// Bounds of a document type's entity definitions. Definitions beyond them, with markup, or that refer to
// other entities, are not expanded.
const (
	maxEntities   = 64
	maxEntity     = 256     // bytes of one entity's text
	maxExpansions = 1 << 20 // bytes that all expansions add to a document
)

var entityDefinition = regexp.MustCompile(`<!ENTITY\s+([A-Za-z][A-Za-z0-9]*)\s+(?:"([^"<&%]*)"|'([^'<&%]*)')\s*>`)

// expandEntities expands the entities that the document type before a root defines. It fetches nothing, and
// expands no entity within another.
func expandEntities(before, doc []byte) []byte {
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

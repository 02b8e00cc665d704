package spam

import (
	"fmt"
	"strings"
)

// parseSponsored parses a line of sponsored.txt, which has the groups sponsored and affiliate: "link: PATTERN"
// matches URLs, "title: WORDS" the beginning of a title, and other entries match words near the beginning or
// the end of a text.
func parseSponsored(b *listParser, line string) error {
	e, ok, err := b.entry(line)
	if err != nil {
		return err
	}
	if !ok {
		if b.group != "sponsored" && b.group != "affiliate" {
			return fmt.Errorf("%q is not a flag: want sponsored or affiliate", b.group)
		}
		return nil
	}
	if text, found := strings.CutPrefix(e.text, "link:"); found {
		e.text = strings.TrimSpace(text)
		return b.pattern(&b.filter.urls, e)
	}
	if text, found := strings.CutPrefix(e.text, "title:"); found {
		e.text, e.title = text, true
	}
	return b.words(e)
}

// flagDisclosure sets a flag for a document that discloses payment.
func flagDisclosure(s *scorer, e entry, h hit) {
	if e.title && h.opening || !e.title && h.edge {
		s.flags = append(s.flags, evidence{kind: e.group, text: fmt.Sprintf("%q", e.text), where: e.where})
	}
}

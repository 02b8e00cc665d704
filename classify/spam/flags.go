package spam

import (
	"fmt"
	"strings"
)

// sponsored reads a line of sponsored.txt, which has the groups sponsored and
// affiliate: "link: PATTERN" is for addresses, "title: WORDS" for what a title
// begins with, and all else for words near the beginning or the end of a text.
func (b *builder) sponsored(line string) error {
	e, ok, err := b.entry(line)
	if err != nil {
		return err
	}
	if !ok {
		if b.group != "sponsored" && b.group != "affiliate" {
			return fmt.Errorf("%q is no flag: want sponsored or affiliate", b.group)
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

// disclosure raises a flag where a document says that somebody paid for it.
func (s *scales) disclosure(e entry, h hit) {
	if e.title && h.opening || !e.title && h.edge {
		s.flags = append(s.flags, evidence{kind: e.group, what: fmt.Sprintf("%q", e.text), where: e.where})
	}
}

package text

import (
	"regexp"
	"strings"
)

// AnchorPrefix begins the ids of elements that links of the same markup lead to, such as footnotes. Other ids are
// removed. A page that shows several texts must make them unique.
const AnchorPrefix = "anchor-"

var (
	anchorName = `[A-Za-z0-9_:.-]{1,64}`
	anchorID   = regexp.MustCompile(`^` + AnchorPrefix + anchorName + `$`)
	anchorsAt  = regexp.MustCompile(` id="` + AnchorPrefix + `(` + anchorName + `)"`)
	fragments  = regexp.MustCompile(`#(` + anchorName + `)"`)
)

// maxAnchors is the maximum number of ids of a text that are kept until its end is known.
const maxAnchors = 1000

// anchor returns the id that is written for an id of the markup; "" if it has other characters, or another element has
// it.
func (c *cleaner) anchor(id string) string {
	id = AnchorPrefix + strings.TrimPrefix(id, AnchorPrefix)
	if c.anchors[id] || len(c.anchors) == maxAnchors || !anchorID.MatchString(id) {
		return ""
	}
	if c.anchors == nil {
		c.anchors = make(map[string]bool)
	}
	c.anchors[id] = true
	return id
}

// cutAnchors removes the ids to which no link of the clean markup leads. In text, quotes are escaped.
func cutAnchors(c *cleaner) {
	if len(c.anchors) == 0 {
		return
	}
	linked := make(map[string]bool)
	for _, found := range fragments.FindAllSubmatch(c.html, -1) {
		linked[string(found[1])] = true
	}
	kept, from := c.html[:0], 0 // the same buffer
	for _, at := range anchorsAt.FindAllSubmatchIndex(c.html, -1) {
		if !linked[string(c.html[at[2]:at[3]])] {
			kept, from = append(kept, c.html[from:at[0]]...), at[1]
		}
	}
	c.html = append(kept, c.html[from:]...)
}

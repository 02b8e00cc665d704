package discover

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// An icon is a link to an icon of the site, not yet resolved.
type icon struct {
	href, kind string
	width      int // pixels
}

// Widths of icons whose link states none, in pixels.
const (
	plainWidth = 16
	touchWidth = 180
)

// widthOf returns the width of an icon by the attribute sizes, such as "32x32", of several sizes the largest.
func widthOf(rel []string, sizes string) int {
	widest := 0
	for _, size := range strings.Fields(strings.ToLower(sizes)) {
		width, _, _ := strings.Cut(size, "x")
		if n, err := strconv.Atoi(width); err == nil {
			widest = max(widest, n)
		}
	}
	if slices.Contains(rel, "apple-touch-icon") {
		return cmp.Or(widest, touchWidth)
	}
	return cmp.Or(widest, plainWidth)
}

// minIcon is the width from which an icon is sharp on dense screens, in pixels.
const minIcon = 32

// Icons returns the addresses of the icons that a page names, the best first: the smallest one that is wide enough. Icons
// in the format SVG are left out, since they can contain scripts.
func Icons(page []byte, contentType, address string) []string {
	p, base := readPage(page, contentType, address)
	if base == nil {
		return nil
	}
	slices.SortStableFunc(p.icons, func(a, b icon) int {
		if a.width >= minIcon && b.width >= minIcon {
			return cmp.Compare(a.width, b.width)
		}
		return cmp.Compare(b.width, a.width)
	})
	var found []string
	for _, i := range p.icons {
		u := resolve(base, i.href)
		if u == nil || plainType(i.kind) == "image/svg+xml" || strings.HasSuffix(strings.ToLower(u.Path), ".svg") || slices.Contains(found, u.String()) {
			continue
		}
		found = append(found, u.String())
	}
	return found
}

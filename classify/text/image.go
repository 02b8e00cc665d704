package text

import (
	"encoding/base64"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const (
	maxWidth      = 2000 // pixels of an image that we choose where there are several
	maxCandidates = 64   // of one srcset
)

// shown is an image as we wrote it.
type shown struct {
	end      int  // of its tag, in html
	repaired bool // a script would have loaded it
	noscript bool // it stands in for one that a script would load
}

// isHint reports whether an attribute of an image tells us where it is or how
// large, though we may not keep it.
func (c *cleaner) isHint(name string) bool {
	switch name {
	case "style", "srcset", "width", "height":
		return true
	}
	return c.rules.lazy[name]
}

// image completes the attributes of an image, and reports whether a reader
// would see one there that is not there already.
func (c *cleaner) image() bool {
	src := c.value("src")
	real := c.real(src)
	repaired := real != src
	if real == "" || isTiny(c.value("width"), c.value("height"), c.value("style")) || c.rules.isPixel(src) || c.rules.isPixel(real) || !c.rules.isImage(real) {
		return false
	}
	if c.isTwin(real, repaired) {
		return false
	}
	c.attr = slices.DeleteFunc(c.attr, func(a attribute) bool { return a.name == "src" || !c.rules.keeps("img", a.name) })
	if !c.rules.keeps("img", "src") {
		return false
	}
	c.attr = slices.Insert(c.attr, 0, attribute{"src", real})
	c.last.repaired, c.last.noscript = repaired, c.noscript > 0
	return true
}

// show notes an image that we wrote.
func (c *cleaner) show(src string) {
	c.content, c.solid, c.last.end = len(c.html), len(c.html), len(c.html)
	if len(c.images) < maxImages && strings.HasPrefix(src, "http") && !slices.Contains(c.images, src) {
		c.images = append(c.images, src)
	}
}

// isTwin reports whether the image is the one before it once more: one of the
// two is for readers with scripts and one for those without.
func (c *cleaner) isTwin(src string, repaired bool) bool {
	known, inside := slices.Contains(c.images, src), c.noscript > 0
	if c.content != c.last.end { // there is text between them
		return known && inside
	}
	return inside && (known || c.last.repaired) || c.last.noscript && !inside && (known || repaired)
}

// real returns the address of the image that a reader is meant to see: the
// best of its candidates, or what a script would load, or src.
func (c *cleaner) real(src string) string {
	for _, a := range c.attr {
		if strings.HasSuffix(a.name, "srcset") {
			if best := c.best(a.value); best != "" {
				return best
			}
		}
	}
	for _, name := range c.rules.document.Images.Lazy {
		if strings.HasSuffix(name, "srcset") {
			continue
		}
		if lazy := c.rules.link(c.value(name), c.base, false); lazy != "" {
			return lazy
		}
	}
	return src
}

// best returns the best candidate of a srcset: the widest of at most
// [maxWidth], or the narrowest if all are wider; among those without a width
// the densest. Empty if there is none.
//
// Source: HTML Living Standard, 4.8.4.3.10, "parsing a srcset attribute".
func (c *cleaner) best(srcset string) string {
	var best string
	rank := 0.0
	for range maxCandidates {
		srcset = strings.TrimLeft(srcset, " \t\n\f\r,")
		if srcset == "" {
			break
		}
		end := strings.IndexAny(srcset, " \t\n\f\r")
		if end < 0 {
			end = len(srcset)
		}
		address, descriptor := srcset[:end], ""
		srcset = srcset[end:]
		if bare := strings.TrimRight(address, ","); bare != address {
			address = bare
		} else if descriptor, srcset, _ = strings.Cut(srcset, ","); descriptor != "" {
			descriptor = strings.TrimSpace(descriptor)
		}
		if n := rankOf(descriptor); n > rank {
			if l := c.rules.link(address, c.base, false); l != "" && c.rules.isImage(l) {
				best, rank = l, n
			}
		}
	}
	return best
}

// rankOf says how good an image of that descriptor ("640w", "2x") is: above 1
// with the width, below 1 if it is too wide or only its density is known.
func rankOf(descriptor string) float64 {
	if descriptor == "" {
		descriptor = "1x"
	}
	unit := descriptor[len(descriptor)-1]
	n, err := strconv.ParseFloat(descriptor[:len(descriptor)-1], 64)
	switch {
	case err != nil || n <= 0 || n > 1e6:
		return 0
	case unit == 'w' && n <= maxWidth:
		return 1 + n
	case unit == 'w':
		return 1 / n
	case unit == 'x':
		return n / 1e6
	}
	return 0
}

// Image returns the absolute http(s) address of the image that a feed names
// beside an item's markup, on a page at base, which may be nil. Empty if it is
// none, or one that only counts readers.
func (r *Rules) Image(raw string, base *url.URL) string {
	address := r.link(raw, base, false)
	if address == "" || r.isPixel(address) || !r.isImage(address) {
		return ""
	}
	return address
}

// isImage reports whether the address may be one of an image: its path ends in
// an extension that images have, or in none.
func (r *Rules) isImage(address string) bool {
	if strings.HasPrefix(address, "data:") {
		return r.isDataImage(address)
	}
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	extension := extensionOf.FindString(strings.ToLower(path.Base(u.Path)))
	return extension == "" || r.extensions[extension[1:]]
}

// extensionOf finds an extension; what has no letters is part of a name.
var extensionOf = regexp.MustCompile(`\.[a-z][a-z0-9]{1,4}$`)

// isDataImage reports whether the address is itself an image that is small
// enough. SVG is not among them: it is a document, with scripts.
func (r *Rules) isDataImage(address string) bool {
	limit := r.document.Images.Data
	rest, ok := strings.CutPrefix(address, "data:image/")
	if !ok || limit == 0 || len(address) > limit*4/3+64 {
		return false
	}
	kind, data, ok := strings.Cut(rest, ";base64,")
	if !ok || !slices.Contains([]string{"png", "gif", "jpeg", "webp"}, kind) {
		return false
	}
	raw, err := base64.StdEncoding.Strict().DecodeString(data)
	return err == nil && len(raw) > 0 && len(raw) <= limit && !strings.ContainsAny(data, "\r\n")
}

// keeps reports whether the rules let an element keep an attribute.
func (r *Rules) keeps(element, name string) bool {
	_, ok := r.attributes[element][name]
	if !ok {
		_, ok = r.attributes["*"][name]
	}
	return ok
}

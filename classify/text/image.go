package text

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"feedmesh/classify/text/picture"
)

const (
	maxWidth      = 2000 // pixels: preferred maximum width of a srcset candidate
	maxCandidates = 64   // of one srcset
)

// isHint reports whether an image attribute helps to find the image's URL or size, even if it is not kept.
func (c *cleaner) isHint(name string) bool {
	switch name {
	case "style", "srcset", "width", "height", "class", "alt":
		return true
	}
	return c.rules.lazy[name]
}

// image completes the attributes of an image, and reports whether the image is visible and not a duplicate.
func (c *cleaner) image() bool {
	src := c.value("src")
	real := c.imageAddress(src)
	repaired := real != src
	if real == "" || isTiny(c.value("width"), c.value("height"), c.value("style")) || c.rules.isPixel(real) || repaired && c.rules.isPixel(src) || !c.rules.isImage(real) {
		return false
	}
	classes, alt := c.value("class"), c.value("alt")
	if alt != "" && (picture.IsEmojiClass(classes) || picture.IsEmoji(real)) {
		c.writeText(alt)
		return false
	}
	if c.isDuplicateImage(real, repaired) {
		return false
	}
	c.lastImage.decorative = picture.IsAvatarClass(classes) || picture.IsEmojiClass(classes) || picture.IsAvatar(real) || picture.IsEmoji(real)
	c.attr = slices.DeleteFunc(c.attr, func(a attribute) bool { return a.name == "src" || !c.rules.keeps("img", a.name) })
	if !c.rules.keeps("img", "src") {
		return false
	}
	c.attr = slices.Insert(c.attr, 0, attribute{"src", real})
	c.lastImage.repaired, c.lastImage.noscript = repaired, c.noscript > 0
	return true
}

// noteImage records an image that was written, unless it shows an author or an emoji.
func (c *cleaner) noteImage(src string) {
	c.contentEnd, c.mediaEnd, c.lastImage.end = len(c.html), len(c.html), len(c.html)
	if len(c.images) < maxImages && !c.lastImage.decorative && strings.HasPrefix(src, "http") && !slices.Contains(c.images, src) {
		c.images = append(c.images, src)
	}
}

// isDuplicateImage reports whether the image repeats the previous image: one of the two is for readers with
// scripts, the other for readers without.
func (c *cleaner) isDuplicateImage(src string, repaired bool) bool {
	listed, inside := slices.Contains(c.images, src), c.noscript > 0
	if c.contentEnd != c.lastImage.end { // text lies between them
		return listed && inside
	}
	return inside && (listed || c.lastImage.repaired) || c.lastImage.noscript && !inside && (listed || repaired)
}

// imageAddress returns the URL of the image meant for display: the best srcset candidate, the lazy-loading
// URL, or src.
func (c *cleaner) imageAddress(src string) string {
	for _, a := range c.attr {
		if strings.HasSuffix(a.name, "srcset") {
			if best := c.bestCandidate(a.value); best != "" {
				return best
			}
		}
	}
	for _, name := range c.rules.document.Images.Lazy {
		if strings.HasSuffix(name, "srcset") {
			continue
		}
		if lazy := cleanedLink(c.rules, c.value(name), c.base, false); lazy != "" {
			return lazy
		}
	}
	return src
}

// bestCandidate returns the best candidate of a srcset: the widest of at most [maxWidth], or the narrowest if
// all are wider; among candidates without a width the densest. It returns "" if there is none.
//
// Source: HTML Living Standard, 4.8.4.3.10, "parsing a srcset attribute".
func (c *cleaner) bestCandidate(srcset string) string {
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
		if n := candidateRank(descriptor); n > rank {
			if l := cleanedLink(c.rules, address, c.base, false); l != "" && c.rules.isImage(l) {
				best, rank = l, n
			}
		}
	}
	return best
}

// candidateRank returns the rank of a descriptor ("640w", "2x"): above 1, growing with the width; below 1 if
// the image is too wide or only its density is given.
func candidateRank(descriptor string) float64 {
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

// ImageURL returns the absolute http(s) URL of the image that a feed names in addition to an item's markup,
// relative to base, which may be nil. It returns "" for an invalid URL, a tracking pixel, an
// author's portrait or an emoji.
func (r *Rules) ImageURL(raw string, base *url.URL) string {
	address := cleanedLink(r, raw, base, false)
	if address == "" || r.isPixel(address) || !r.isImage(address) || picture.IsAvatar(address) || picture.IsEmoji(address) {
		return ""
	}
	return address
}

// isImage reports whether the URL may be an image: its path ends in an image extension, or in none.
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

// extensionOf finds an extension. A suffix without letters is part of the name.
var extensionOf = regexp.MustCompile(`\.[a-z][a-z0-9]{1,4}$`)

// isDataImage reports whether a data: URL is a sufficiently small image. SVG is excluded because it can
// contain scripts.
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

// keeps reports whether the rules keep an attribute of an element.
func (r *Rules) keeps(element, name string) bool {
	_, ok := r.attributes[element][name]
	if !ok {
		_, ok = r.attributes["*"][name]
	}
	return ok
}

func (c *documentParser) pixels(list []string) []pixel {
	var pixels []pixel
	for i, s := range list {
		host, path, ok := strings.Cut(s, "/")
		p := pixel{path: "/" + path}
		p.host, p.below = strings.CutPrefix(host, "*.")
		if host == "*" {
			p.host = ""
		}
		if !ok || p.host != "" && !isHost(p.host) || p.host == "" && (host != "*" || path == "") || strings.ContainsAny(path, "* \t") {
			c.report(fmt.Sprintf("images.pixels[%d]", i), "%q is not of the form host/path, as in *.example.org/b.gif", s)
		}
		pixels = append(pixels, p)
	}
	return pixels
}

// isPixel reports whether an absolute URL is a tracking pixel.
func (r *Rules) isPixel(address string) bool {
	_, rest, _ := strings.Cut(address, "://")
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		return false
	}
	host, path := strings.ToLower(rest[:end]), rest[end:]
	for _, p := range r.pixels {
		if strings.HasPrefix(path, p.path) && (p.host == "" || host == p.host || p.below && isBelow(host, p.host)) {
			return true
		}
	}
	return false
}

func isBelow(host, parent string) bool {
	return len(host) > len(parent) && strings.HasSuffix(host, parent) && host[len(host)-len(parent)-1] == '.'
}

// isTiny reports whether an image is invisible: one pixel in size, or not displayed.
func isTiny(width, height, style string) bool {
	tiny := func(s string) bool {
		n, err := strconv.Atoi(s)
		return err == nil && n <= 1
	}
	if tiny(width) && (tiny(height) || height == "") || tiny(height) && width == "" {
		return true
	}
	if style == "" {
		return false
	}
	style = strings.ToLower(strings.ReplaceAll(style, " ", ""))
	for declaration := range strings.SplitSeq(style, ";") {
		switch declaration {
		case "width:1px", "width:0", "width:0px", "height:1px", "height:0", "height:0px", "display:none", "visibility:hidden":
			return true
		}
	}
	return false
}

package text

import (
	"fmt"
	"strconv"
	"strings"
)

// A pixel matches the URLs of tracking pixels. In the rules it is written as host and path prefix,
// "pixel.example.org/b.gif", separated at the first slash. "*.example.org/" includes subdomains, and "*/~r/"
// matches the path on any host.
type pixel struct {
	host  string // empty for any
	below bool   // includes subdomains
	path  string // begins with a slash
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

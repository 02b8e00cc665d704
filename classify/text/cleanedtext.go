package text

import (
	"slices"
	"strings"
	"sync"

	"golang.org/x/net/html"
)

// cleanedPlainText returns the text of markup that [Rules.Clean] wrote: the result of a cleaner with the
// default rules at a tenth of the cost. ok is false if the markup contains anything that Clean does not
// write, or is too long for a cleaner to be certain to read all of it. The markup must be sanitized UTF-8.
func cleanedPlainText(markup string) (plain string, ok bool) {
	if len(markup) > maxMarkup/8 || strings.Contains(markup, cdataEnd) {
		return "", false
	}
	r := cleanedReader{text: lineBuffer{b: make([]byte, 0, len(markup))}}
	for markup != "" {
		if markup[0] != '<' {
			markup = r.words(markup)
			continue
		}
		if markup, ok = r.tag(markup); !ok {
			return "", false
		}
	}
	return r.text.String(), true
}

// A cleanedReader reads cleaned markup.
type cleanedReader struct {
	text lineBuffer
	open []*element
	pre  int // number of open pre elements
}

// words reads the text that s begins with, and returns the rest.
func (r *cleanedReader) words(s string) (rest string) {
	if at := strings.IndexByte(s, '<'); at >= 0 {
		s, rest = s[:at], s[at:]
	}
	if strings.IndexByte(s, '&') >= 0 {
		s = sanitizeUTF8(html.UnescapeString(s))
	}
	r.text.add(s, r.pre > 0)
	return rest
}

// tag reads the tag that s begins with, and returns the rest. ok is false if Clean does not write the tag in
// this form, or if the tag would close other elements.
func (r *cleanedReader) tag(s string) (rest string, ok bool) {
	name, rest := nameOf(strings.TrimPrefix(s[1:], "/"))
	e := keptElements()[name]
	switch {
	case e == nil:
		return "", false
	case s[1] == '/':
		return r.end(e, rest)
	case len(r.open) >= maxDepth-1 || r.closes(e.implied):
		return "", false
	}
	r.text.separate(e.kind, e.name)
	if e.kind != void {
		r.open = append(r.open, e)
	}
	if e.name == "pre" {
		r.pre++
	}
	return attributesEnd(rest)
}

// end reads the rest of an end tag.
func (r *cleanedReader) end(e *element, s string) (rest string, ok bool) {
	last := len(r.open) - 1
	if last < 0 || r.open[last] != e || !strings.HasPrefix(s, ">") {
		return "", false
	}
	r.open = r.open[:last]
	if e.name == "pre" {
		r.pre--
	}
	r.text.separate(e.kind, e.name)
	return s[1:], true
}

// closes reports whether a start tag with this scope would close an element.
func (r *cleanedReader) closes(s scope) bool {
	if s.closes == 0 {
		return false
	}
	for _, e := range slices.Backward(r.open) {
		if e.set&s.closes != 0 {
			return true
		}
		if e.set&s.within != 0 {
			return false
		}
	}
	return false
}

// nameOf returns the lower-case letters and digits that s begins with, and the rest.
func nameOf(s string) (name, rest string) {
	i := 0
	for i < len(s) && (s[i] >= 'a' && s[i] <= 'z' || s[i] >= '0' && s[i] <= '9' && i > 0) {
		i++
	}
	return s[:i], s[i:]
}

// attributesEnd skips attributes of the form ` name="value"` and returns the text after the tag.
func attributesEnd(s string) (rest string, ok bool) {
	for strings.HasPrefix(s, " ") {
		var name string
		if name, s = nameOf(s[1:]); name == "" || !strings.HasPrefix(s, `="`) {
			return "", false
		}
		s = s[len(`="`):]
		end := strings.IndexByte(s, '"')
		if end < 0 {
			return "", false
		}
		s = s[end+1:]
	}
	if !strings.HasPrefix(s, ">") {
		return "", false
	}
	return s[1:], true
}

// An element is an element that the default rules keep.
type element struct {
	name    string
	kind    kind
	set     elementSet // that contains it only; empty if no scope names it
	implied scope
}

// keptElements are the elements that a cleanedReader accepts, by name.
var keptElements = sync.OnceValue(func() map[string]*element {
	m := make(map[string]*element)
	for name, k := range Default().kinds {
		if k.kept() && k != embed {
			m[name] = &element{name, k, elementSets[name], implied(name, k)}
		}
	}
	return m
})

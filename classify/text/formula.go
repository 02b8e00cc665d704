package text

import (
	"cmp"
	"strings"

	"golang.org/x/net/html"
)

const (
	maxFormula       = 4 << 10 // bytes of the text of a formula
	maxFormulaMarkup = 8 << 10 // bytes searched for the end of a formula
)

// A formula is the text of a MathML element, whose tags are dropped.
type formula struct {
	reads       bool   // the current token is within math
	alternative string // the attribute alttext
	words       []byte // buffer for the text of the elements that are displayed, in reading order, separated by spaces
	annotation  []byte // buffer for a source such as TeX
	element     string // that the current text is in; "" after an end tag
}

// startFormula reads a start tag within math, or of math itself.
func (c *cleaner) startFormula(z *html.Tokenizer, name string) {
	c.math.reads, c.math.element = true, name
	if name == "math" {
		for more := true; more; {
			var key, value []byte
			if key, value, more = z.TagAttr(); string(key) == "alttext" {
				c.math.alternative = cmp.Or(c.math.alternative, sanitizeUTF8(string(value)))
			}
		}
	}
}

// repeatsFormula reports whether the markup after a start tag of math displays the formula a second time, as KaTeX
// does.
func repeatsFormula(rest string) bool {
	_, after, _ := strings.Cut(rest[:min(len(rest), maxFormulaMarkup)], "</math>")
	return strings.Contains(after[:min(len(after), 64)], "katex-html")
}

// addFormula adds text within math.
func (c *cleaner) addFormula(s string) {
	var to *[]byte
	switch c.math.element {
	case "mi", "mn", "mo", "ms", "mtext":
		to = &c.math.words
	case "annotation":
		to = &c.math.annotation
	default:
		return
	}
	if s = strings.TrimSpace(s); s != "" && len(*to)+len(s) < maxFormula {
		if len(*to) > 0 {
			*to = append(*to, ' ')
		}
		*to = append(*to, s...)
	}
}

// endFormula writes the text of the formula, if any: its alternative, else its words, else its annotation.
func (c *cleaner) endFormula() {
	f := c.math
	if c.math = (formula{}); !f.reads {
		return
	}
	c.writeText(cmp.Or(strings.TrimSpace(f.alternative), string(f.words), string(f.annotation)))
}

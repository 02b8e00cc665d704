package chart

import (
	"fmt"
	"html"
	"html/template"
	"strings"
	"unicode"
)

// A Node is a node of a graph.
type Node struct {
	Name   string   // describes the node
	Label  string   // first line; shortened to the width of a node
	Lines  []string // further lines
	URL    string   // of its page; empty: none
	Round  bool     // its ends are round
	Strong bool     // its border and its last line are emphasised
}

// An Edge is an arrow between nodes, given by their indices.
type Edge struct {
	From, To int
	Dashed   bool
}

// Dimensions of a node, in pixels: a graph is not scaled.
const (
	nodeWidth   = 190
	nodePadding = 9
	lineHeight  = 17
	labelWidth  = 21 // Latin letters
)

// Graph draws nodes in columns, from left to right along the edges; nodes without edges to them are in the first column. It is as wide
// and high as needed: the page lets it scroll. Edges that close a cycle are left out. Its texts and links are for screen readers
// too. O(nodes * columns + edges) slots are sorted a fixed number of times.
func Graph(title string, nodes []Node, edges []Edge) template.HTML {
	sizes := make([]float64, len(nodes))
	for i, node := range nodes {
		sizes[i] = 2*nodePadding + float64(1+len(node.Lines))*lineHeight
	}
	l := arrange(sizes, edges)
	var c canvas
	fmt.Fprintf(&c, `<svg class="graph" role="group" aria-label="%s" width="%s" height="%s" viewBox="0 0 %s %s">`,
		html.EscapeString(title), number(l.width), number(l.height), number(l.width), number(l.height))
	c.arrows(l)
	for _, i := range l.order {
		c.node(nodes[i], l.nodes[i])
	}
	return c.end()
}

// arrows draws all lines of a style as one path, since a browser takes longer for many elements.
func (c *canvas) arrows(l layout) {
	for _, style := range []struct {
		class  string
		dashed bool
	}{{"edge", false}, {"edge dashed", true}} {
		var lines, heads strings.Builder
		for _, s := range l.lines {
			if s.dashed != style.dashed {
				continue
			}
			middle := number((s.from.x + s.to.x) / 2)
			fmt.Fprintf(&lines, "M%s %sC%s %s %s %s %s %s", number(s.from.x), number(s.from.y), middle, number(s.from.y), middle, number(s.to.y), number(s.to.x), number(s.to.y))
			if s.through > 0 {
				fmt.Fprintf(&lines, "h%s", number(s.through))
			} else {
				fmt.Fprintf(&heads, "M%s %sl-8 -4v8z", number(s.to.x), number(s.to.y))
			}
		}
		if lines.Len() > 0 {
			fmt.Fprintf(c, `<path class="%s" d="%s"/><path class="head" d="%s"/>`, style.class, lines.String(), heads.String())
		}
	}
}

// node draws a node. The inner SVG clips what is wider than a node, and each text is isolated, so that its direction is its own.
func (c *canvas) node(n Node, b box) {
	class, radius, end := "node", 4.0, "</g>"
	if n.Round {
		radius = 16
	}
	if n.Strong {
		class += " strong"
	}
	if n.URL != "" {
		end = "</a>"
		fmt.Fprintf(c, `<a class="%s" href="%s">`, class, html.EscapeString(n.URL))
	} else {
		fmt.Fprintf(c, `<g class="%s">`, class)
	}
	fmt.Fprintf(c, `<title>%s</title><rect x="%s" y="%s" width="%d" height="%s" rx="%s"/><svg x="%s" y="%s" width="%d" height="%s">`,
		html.EscapeString(n.Name), number(b.x), number(b.y), nodeWidth, number(b.height), number(radius), number(b.x+nodePadding), number(b.y), nodeWidth-2*nodePadding, number(b.height))
	for i, line := range append([]string{n.Label}, n.Lines...) {
		class := "line"
		if i == 0 {
			class = "label"
		}
		fmt.Fprintf(c, `<text class="%s" x="0" y="%s">%s</text>`, class, number(nodePadding+lineHeight*(float64(i)+0.75)), html.EscapeString(isolated(fitting(line))))
	}
	c.WriteString("</svg>" + end)
}

// isolated returns a text within the characters FIRST STRONG ISOLATE and POP DIRECTIONAL ISOLATE.
func isolated(text string) string { return "\u2068" + text + "\u2069" }

// fitting shortens a text to labelWidth. Ideographs are twice as wide as Latin letters.
func fitting(text string) string {
	used, cut := 0, 0
	for i, r := range text {
		width := 1
		if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) {
			width = 2
		}
		if used+width < labelWidth {
			cut = i + len(string(r))
		}
		if used += width; used > labelWidth {
			return text[:cut] + "…"
		}
	}
	return text
}

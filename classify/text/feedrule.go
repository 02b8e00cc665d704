package text

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/andybalholm/cascadia"
	"github.com/antchfx/htmlquery"
	"github.com/antchfx/xpath"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

const (
	maxSelectors = 32  // of one feed's picks or cuts
	maxSteps     = 6   // of one selector, down or sideways
	maxEffort    = 1e8 // nodes that one selector may look at in an item
)

// A feedRule picks and cuts parts of the items of some feeds.
type feedRule struct {
	host      string // in lower case
	path      string // how the path begins; empty for any, on hosts below as well
	pick, cut []selector
}

// feeds returns the rules of feeds, by host.
func (c *compiler) feeds(list []feedDocument) map[string][]feedRule {
	m := make(map[string][]feedRule)
	for i, d := range list {
		path := fmt.Sprintf("feeds[%d]", i)
		address := strings.TrimPrefix(strings.TrimPrefix(d.Match, "https://"), "http://")
		host, rest := splitHost(address)
		if !isHost(host) {
			c.fault(path+".match", "%q is neither a host nor the beginning of an address", d.Match)
		}
		if len(d.Pick)+len(d.Cut) == 0 {
			c.fault(path, "has nothing to pick or cut")
		}
		m[host] = append(m[host], feedRule{host: host, path: rest, pick: c.selectors(path+".pick", d.Pick), cut: c.selectors(path+".cut", d.Cut)})
	}
	return m
}

// splitHost splits an address without its scheme at the first slash.
func splitHost(address string) (host, path string) {
	end := strings.IndexAny(address, "/?#")
	if end < 0 {
		end = len(address)
	}
	return strings.ToLower(address[:end]), address[end:]
}

// feedRules returns the rules for the feed at an address, those of its own
// host first.
func (r *Rules) feedRules(feedURL string) []feedRule {
	if len(r.feeds) == 0 {
		return nil
	}
	_, rest, _ := strings.Cut(feedURL, "://")
	host, path := splitHost(rest)
	var rules []feedRule
	for at := host; at != ""; _, at, _ = strings.Cut(at, ".") {
		for _, rule := range r.feeds[at] {
			if rule.path == "" || at == host && strings.HasPrefix(path, rule.path) {
				rules = append(rules, rule)
			}
		}
	}
	return rules
}

// choose returns the parts of markup that the rules pick and do not cut: all
// that is left if they pick nothing, for a site that changed its looks must not
// lose its texts. Markup that is nested too deep to be a tree stays as it is.
func choose(markup string, rules []feedRule) string {
	context := &html.Node{Type: html.ElementNode, Data: "body", DataAtom: atom.Body}
	nodes, err := html.ParseFragmentWithOptions(strings.NewReader(markup), context, html.ParseOptionEnableScripting(false))
	if err != nil {
		return markup
	}
	root := &html.Node{Type: html.ElementNode, Data: "body", DataAtom: atom.Body}
	for _, n := range nodes {
		root.AppendChild(n)
	}
	size := sizeOf(root)
	picked := make(map[*html.Node]bool)
	for _, rule := range rules {
		for _, s := range rule.pick {
			for _, n := range s.find(root, size) {
				picked[n] = true
			}
		}
	}
	for _, rule := range rules {
		for _, s := range rule.cut {
			for _, n := range s.find(root, size) {
				if n.Parent != nil { // an XPath may select it twice
					n.Parent.RemoveChild(n)
				}
			}
		}
	}
	var b strings.Builder
	if err := render(&b, root, picked, len(picked) == 0); err != nil {
		return markup
	}
	return b.String()
}

// render writes what is picked below n, or all of it.
func render(b *strings.Builder, n *html.Node, picked map[*html.Node]bool, all bool) error {
	for child := range n.ChildNodes() {
		if !all && !picked[child] {
			if err := render(b, child, picked, false); err != nil {
				return err
			}
			continue
		}
		if err := html.Render(b, child); err != nil {
			return err
		}
		if !all {
			b.WriteByte('\n') // the words of two picks stay apart
		}
	}
	return nil
}

// A treeSize tells how large a tree is.
type treeSize struct{ nodes, depth, width float64 }

func sizeOf(n *html.Node) treeSize {
	size := treeSize{nodes: 1}
	children := 0.0
	for child := range n.ChildNodes() {
		below := sizeOf(child)
		size.nodes += below.nodes
		size.depth = max(size.depth, below.depth)
		size.width = max(size.width, below.width)
		children++
	}
	size.depth++
	size.width = max(size.width, children)
	return size
}

// A selector finds nodes: a CSS selector or an XPath.
type selector struct {
	css   cascadia.SelectorGroup
	xpath *xpath.Expr
	steps []steps // of each of the alternatives
}

// steps tells how often an alternative of a selector goes down or up, and
// sideways, any distance: what each node costs.
type steps struct{ down, aside int }

// effort returns how many nodes that takes at most in a tree of that size:
// for each node all ways to choose as many of those above it, and beside it.
func (p steps) effort(size treeSize) float64 {
	n := size.nodes
	for i := range p.down {
		n *= size.depth / float64(i+1)
	}
	for range p.aside {
		n *= size.width
	}
	return n
}

// find returns the nodes below root that the selector selects, in order. None
// if that would take too long: selectors that climb cost a power of the depth,
// and strangers choose the depth.
func (s selector) find(root *html.Node, size treeSize) (nodes []*html.Node) {
	effort := 0.0
	for _, p := range s.steps {
		effort += p.effort(size)
	}
	if effort > maxEffort {
		return nil
	}
	defer func() {
		if recover() != nil { // antchfx/xpath panics on some mixes of types
			nodes = nil
		}
	}()
	if s.css != nil {
		nodes = cascadia.QueryAll(root, s.css)
	} else {
		nodes = htmlquery.QuerySelectorAll(root, s.xpath)
	}
	// An XPath may select the root, or attributes, which are no nodes of it.
	return slices.DeleteFunc(nodes, func(n *html.Node) bool { return n.Parent == nil })
}

func (c *compiler) selectors(path string, list []string) []selector {
	if len(list) > maxSelectors {
		c.fault(path, "%d selectors are more than %d", len(list), maxSelectors)
		return nil
	}
	var selectors []selector
	for i, source := range list {
		s, err := newSelector(source)
		if err != nil {
			c.fault(fmt.Sprintf("%s[%d]", path, i), "%q: %v", source, err)
			continue
		}
		selectors = append(selectors, s)
	}
	return selectors
}

// newSelector reads a CSS selector, or an XPath if it begins with / or (.
func newSelector(source string) (s selector, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("%v", fault)
		}
	}()
	if !strings.HasPrefix(source, "/") && !strings.HasPrefix(source, "(") {
		s.steps = stepsOf(source, ",", cssDown, cssAside)
		s.css, err = cascadia.ParseGroup(source)
	} else {
		s.steps = stepsOf(source, "|", xpathDown, xpathAside)
		s.xpath, err = xpath.Compile(source)
		if err == nil {
			err = trial(source, s.xpath)
		}
	}
	if err != nil {
		return selector{}, err
	}
	for _, p := range s.steps {
		if p.down+p.aside > maxSteps {
			return selector{}, fmt.Errorf("takes %d steps of any length, more than %d", p.down+p.aside, maxSteps)
		}
	}
	return s, nil
}

// What in a selector looks at nodes far off, each time it is used. The counts
// may be too high, never too low. What joins the text of all nodes below costs
// more than a look at them, and counts twice.
var (
	cssDown    = []string{" ", "/*", ":lang", ":has", ":contains", ":contains", ":matches", ":matches"}
	cssAside   = []string{"~", ":nth", ":first", ":last", ":only"}
	xpathDown  = []string{"//", "descendant", "ancestor", "(.", "(.", "(text", "string(", "space(", "length("}
	xpathAside = []string{"sibling", "position", "last", "count(", "[1", "[2", "[3", "[4", "[5", "[6", "[7", "[8", "[9"}
)

func stepsOf(source, separator string, down, aside []string) []steps {
	var list []steps
	for part := range strings.SplitSeq(source, separator) {
		part = strings.ToLower(strings.Join(strings.Fields(part), " "))
		var p steps
		for _, s := range down {
			p.down += strings.Count(part, s)
		}
		for _, s := range aside {
			p.aside += strings.Count(part, s)
		}
		list = append(list, p)
	}
	return list
}

// trial finds out whether an XPath selects nodes, and none from all of the
// document for each node it looks at.
func trial(source string, x *xpath.Expr) error {
	if strings.Contains(source, "preceding::") || strings.Contains(source, "following::") {
		return errors.New("preceding and following look at all of the document: use preceding-sibling and following-sibling")
	}
	depth := 0
	before := byte('|')
	for i := range len(source) {
		switch b := source[i]; {
		case b == '[':
			depth++
		case b == ']':
			depth--
		case b == '/' && depth > 0 && strings.IndexByte("[(,=<>+-| \t\n", before) >= 0:
			return errors.New("a path within brackets begins with ./ or .//, or it looks at all of the document")
		}
		before = source[i]
	}
	root, err := html.Parse(strings.NewReader("<p id=a class=b>c</p>"))
	if err != nil {
		return err
	}
	if _, ok := x.Evaluate(htmlquery.CreateXPathNavigator(root)).(*xpath.NodeIterator); !ok {
		return errors.New("selects no nodes")
	}
	htmlquery.QuerySelectorAll(root, x)
	return nil
}

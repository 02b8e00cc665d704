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
	maxVisits    = 1e8 // nodes that one selector may visit in an item
)

// A feedRule picks and cuts parts of the items of certain feeds.
type feedRule struct {
	host      string // in lower case
	path      string // prefix of the path; empty for any path, subdomains included
	pick, cut []selector
}

// feeds returns the feed rules by host.
func (c *documentParser) feeds(list []feedDocument) map[string][]feedRule {
	m := make(map[string][]feedRule)
	for i, d := range list {
		path := fmt.Sprintf("feeds[%d]", i)
		address := strings.TrimPrefix(strings.TrimPrefix(d.Match, "https://"), "http://")
		host, rest := splitHost(address)
		if !isHost(host) {
			c.report(path+".match", "%q is neither a host nor a URL prefix", d.Match)
		}
		if len(d.Pick)+len(d.Cut) == 0 {
			c.report(path, "has neither pick nor cut")
		}
		m[host] = append(m[host], feedRule{host: host, path: rest, pick: c.selectors(path+".pick", d.Pick), cut: c.selectors(path+".cut", d.Cut)})
	}
	return m
}

// splitHost splits a URL without scheme into host and rest.
func splitHost(address string) (host, path string) {
	end := strings.IndexAny(address, "/?#")
	if end < 0 {
		end = len(address)
	}
	return strings.ToLower(address[:end]), address[end:]
}

// feedRulesOf returns the rules for the feed at a URL, those of its own host first.
func feedRulesOf(r *Rules, feedURL string) []feedRule {
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

// applyFeedRules returns the parts of markup that the rules pick and do not cut. If nothing is picked, it
// returns everything not cut, so that a redesigned site does not lose its texts. Markup nested too deep to
// parse is returned unchanged.
func applyFeedRules(markup string, rules []feedRule) string {
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
				if n.Parent != nil { // an XPath may select a node twice
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

// render writes the picked nodes below n, or all of them.
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
			b.WriteByte('\n') // separates the words of two picks
		}
	}
	return nil
}

// A treeSize describes the size of a tree.
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

// A selector is a CSS selector or an XPath.
type selector struct {
	css   cascadia.SelectorGroup
	xpath *xpath.Expr
	costs []searchCost // of each alternative
}

// A searchCost counts the steps of a selector alternative that move any distance down or up, and sideways. It
// determines the cost of each node.
type searchCost struct{ down, sideways int }

// visits returns the maximum number of nodes visited in a tree of that size: for each node all combinations
// of that many ancestors and siblings.
func (p searchCost) visits(size treeSize) float64 {
	n := size.nodes
	for i := range p.down {
		n *= size.depth / float64(i+1)
	}
	for range p.sideways {
		n *= size.width
	}
	return n
}

// find returns the nodes below root that the selector selects, in order. It returns none if the search would
// take too long: the cost of climbing selectors is a power of the depth, and untrusted authors choose the
// depth.
func (s selector) find(root *html.Node, size treeSize) (nodes []*html.Node) {
	effort := 0.0
	for _, p := range s.costs {
		effort += p.visits(size)
	}
	if effort > maxVisits {
		return nil
	}
	defer func() {
		if recover() != nil { // antchfx/xpath panics on some combinations of types
			nodes = nil
		}
	}()
	if s.css != nil {
		nodes = cascadia.QueryAll(root, s.css)
	} else {
		nodes = htmlquery.QuerySelectorAll(root, s.xpath)
	}
	// An XPath may select the root or attributes, which have no parent here.
	return slices.DeleteFunc(nodes, func(n *html.Node) bool { return n.Parent == nil })
}

func (c *documentParser) selectors(path string, list []string) []selector {
	if len(list) > maxSelectors {
		c.report(path, "%d selectors exceed the limit of %d", len(list), maxSelectors)
		return nil
	}
	var selectors []selector
	for i, source := range list {
		s, err := newSelector(source)
		if err != nil {
			c.report(fmt.Sprintf("%s[%d]", path, i), "%q: %v", source, err)
			continue
		}
		selectors = append(selectors, s)
	}
	return selectors
}

// newSelector parses a CSS selector, or an XPath if it begins with / or (.
func newSelector(source string) (s selector, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("%v", fault)
		}
	}()
	if !strings.HasPrefix(source, "/") && !strings.HasPrefix(source, "(") {
		s.costs = searchCosts(source, ",", cssDown, cssSideways)
		s.css, err = cascadia.ParseGroup(source)
	} else {
		s.costs = searchCosts(source, "|", xpathDown, xpathSideways)
		s.xpath, err = xpath.Compile(source)
		if err == nil {
			err = checkXPath(source, s.xpath)
		}
	}
	if err != nil {
		return selector{}, err
	}
	for _, p := range s.costs {
		if p.down+p.sideways > maxSteps {
			return selector{}, fmt.Errorf("has %d steps of unlimited length; the limit is %d", p.down+p.sideways, maxSteps)
		}
	}
	return s, nil
}

// Substrings of selectors that visit distant nodes each time they are evaluated. Counts may be too high,
// never too low. Functions that join the text of all nodes below cost more than a visit and count twice.
var (
	cssDown       = []string{" ", "/*", ":lang", ":has", ":contains", ":contains", ":matches", ":matches"}
	cssSideways   = []string{"~", ":nth", ":first", ":last", ":only"}
	xpathDown     = []string{"//", "descendant", "ancestor", "(.", "(.", "(text", "string(", "space(", "length("}
	xpathSideways = []string{"sibling", "position", "last", "count(", "[1", "[2", "[3", "[4", "[5", "[6", "[7", "[8", "[9"}
)

func searchCosts(source, separator string, down, aside []string) []searchCost {
	var list []searchCost
	for part := range strings.SplitSeq(source, separator) {
		part = strings.ToLower(strings.Join(strings.Fields(part), " "))
		var p searchCost
		for _, s := range down {
			p.down += strings.Count(part, s)
		}
		for _, s := range aside {
			p.sideways += strings.Count(part, s)
		}
		list = append(list, p)
	}
	return list
}

// checkXPath checks that an XPath selects nodes, and that no step searches the whole document for each node.
func checkXPath(source string, x *xpath.Expr) error {
	if strings.Contains(source, "preceding::") || strings.Contains(source, "following::") {
		return errors.New("preceding and following search the whole document: use preceding-sibling and following-sibling")
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
			return errors.New("a path within brackets must begin with ./ or .//, or it searches the whole document")
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

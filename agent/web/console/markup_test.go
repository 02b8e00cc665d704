package console

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

func body(t *testing.T, r *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func parse(t *testing.T, page string) *html.Node {
	t.Helper()
	doc, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func elements(doc *html.Node, name string) []*html.Node {
	var list []*html.Node
	for n := range doc.Descendants() {
		if n.Type == html.ElementNode && n.Data == name {
			list = append(list, n)
		}
	}
	return list
}

// words returns the text of a node.
func words(n *html.Node) string {
	var b strings.Builder
	for child := range n.Descendants() {
		if child.Type == html.TextNode {
			b.WriteString(child.Data)
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// link returns the URL of the first link with the text, or "".
func link(doc *html.Node, label string) string {
	for _, a := range elements(doc, "a") {
		if words(a) == label {
			return attr(a, "href")
		}
	}
	return ""
}

// void lists the elements without an end tag.
var void = []string{"meta", "link", "input", "img", "br", "hr"}

// TestMarkup_ElementsAreClosed parses pages more strictly than browsers do.
func TestMarkup_ElementsAreClosed(t *testing.T) {
	for name, p := range pages(t) {
		t.Run(name, func(t *testing.T) {
			var open []string
			z := html.NewTokenizer(p.response().Body)
			for {
				kind := z.Next()
				token := z.Token()
				switch {
				case kind == html.ErrorToken:
					if len(open) > 0 {
						t.Errorf("%v are never closed", open)
					}
					return
				case kind == html.StartTagToken && !slices.Contains(void, token.Data):
					open = append(open, token.Data)
				case kind == html.EndTagToken:
					if len(open) == 0 || open[len(open)-1] != token.Data {
						t.Fatalf("</%s> inside %v", token.Data, open)
					}
					open = open[:len(open)-1]
				}
			}
		})
	}
}

func TestPages_Accessible(t *testing.T) {
	for name, p := range pages(t) {
		t.Run(name, func(t *testing.T) {
			doc := parse(t, body(t, p.response()))
			for element, want := range map[string]int{"h1": 1, "main": 1} {
				if got := len(elements(doc, element)); got != want {
					t.Errorf("%d %s elements, want %d", got, element, want)
				}
			}
			if got := len(elements(elements(doc, "head")[0], "title")); got != 1 { // SVG titles are not counted
				t.Errorf("%d titles, want 1", got)
			}
			if got := attr(elements(doc, "html")[0], "lang"); got != "en" {
				t.Errorf("lang %q", got)
			}
			ids, labelled := map[string]bool{}, map[string]bool{}
			for n := range doc.Descendants() {
				if id := attr(n, "id"); id != "" {
					if ids[id] {
						t.Errorf("two elements have the ID %s", id)
					}
					ids[id] = true
				}
				labelled[attr(n, "for")] = true
			}
			for _, in := range elements(doc, "input") {
				if attr(in, "type") != "hidden" && !labelled[attr(in, "id")] {
					t.Errorf("input %s has no label", attr(in, "name"))
				}
			}
			for n := range doc.Descendants() {
				if by := attr(n, "aria-labelledby"); by != "" && !ids[by] {
					t.Errorf("%s is labelled by %s, which is not there", n.Data, by)
				}
			}
			for _, a := range elements(doc, "a") {
				if to, inside := strings.CutPrefix(attr(a, "href"), "#"); words(a) == "" || inside && !ids[to] {
					t.Errorf("link %q to %q", words(a), attr(a, "href"))
				}
			}
		})
	}
}

// isOurs reports whether it is the path of a console script.
func isOurs(path string) bool {
	for _, script := range scripts() {
		if script.Path == path {
			return true
		}
	}
	return false
}

func TestPages_EscapeHostileText(t *testing.T) {
	for name, p := range pages(t) {
		t.Run(name, func(t *testing.T) {
			doc := parse(t, body(t, p.response()))
			for n := range doc.Descendants() {
				if n.Type != html.ElementNode {
					continue
				}
				isIcon := n.Data == "img" && attr(n, "class") == "icon" && strings.HasPrefix(attr(n, "src"), feedsPath+"/")
				if slices.Contains([]string{"style", "iframe", "object", "img"}, n.Data) && !isIcon {
					t.Errorf("the page has a %s element", n.Data)
				}
				if n.Data == "script" && (!isOurs(attr(n, "src")) || n.FirstChild != nil) {
					t.Errorf("the page has a script from %q with the text %q", attr(n, "src"), words(n))
				}
				for _, a := range n.Attr {
					if strings.HasPrefix(a.Key, "on") || a.Key == "style" || strings.Contains(strings.ToLower(a.Val), "javascript:") {
						t.Errorf("%s has the attribute %s=%q", n.Data, a.Key, a.Val)
					}
				}
			}
		})
	}
}

func TestSearchPage_HighlightsMatches(t *testing.T) {
	doc := parse(t, body(t, serve(hostile(t), "GET", "/?q=alert+sort")))
	heading := elements(doc, "h2")[0]
	var marks []string
	for _, m := range elements(heading, "mark") {
		marks = append(marks, words(m))
	}
	if want := []string{"alert", "alert", "sort"}; !slices.Equal(marks, want) {
		t.Errorf("the title has the marks %q, want %q", marks, want)
	}
	if got, want := words(heading), "<b>"+evil+"&amp; sort"; got != want {
		t.Errorf("title %q, want %q", got, want)
	}
	if got := attr(elements(heading, "a")[0], "href"); got != "/items/marked" {
		t.Errorf("the title leads to %q", got)
	}
}

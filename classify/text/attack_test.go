package text

import (
	"encoding/json"
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// attacks returns markup that has run scripts, sent forms, loaded documents or escaped its container in
// browsers; tests opens it in a browser.
func attacks(t testing.TB) []string {
	t.Helper()
	file, err := os.ReadFile("testdata/xss.txt")
	if err != nil {
		t.Fatal(err)
	}
	list := []string{"\xEF\xBB\xBF<script>alert(1)</script>", "<a href=\"\xff\xfe\">x", "\u2028<script>\u2029alert(1)</script>", "<scr\xc0ipt>alert(1)</scr\xc0ipt>"}
	for line := range strings.SplitSeq(string(file), "\n") {
		if line != "" && line[0] != '#' {
			list = append(list, strings.Map(control, line))
		}
	}
	if len(list) < 400 {
		t.Fatalf("got %d attacks, want all of the file's", len(list))
	}
	return list
}

// control returns the control character that r depicts.
func control(r rune) rune {
	if r >= '\u2400' && r <= '\u241F' {
		return r - '\u2400'
	}
	return r
}

// generous returns rules that allow everything that rules can allow.
func generous(t testing.TB) *Rules {
	t.Helper()
	d := Default().document
	d.Attributes = make(map[string][]string)
	for element, list := range attributes {
		if element != "iframe" {
			d.Attributes[element] = slices.Sorted(maps.Keys(list))
		}
	}
	d.Embeds, d.Images.Data, d.Links.Schemes = []string{"video.example"}, maxDataImage, schemes
	doc, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Parse(doc)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestClean_RemovesAttacks(t *testing.T) {
	for _, r := range []*Rules{Default(), generous(t)} {
		for _, attack := range attacks(t) {
			for _, in := range []string{attack, "<p>a" + attack + "b</p>", "<table><td>" + attack, "<pre>" + attack + "</pre>", "<svg>" + attack + "</svg>" + attack, "<math><mtext>" + attack} {
				if !checkClean(t, r, in) {
					t.Errorf("attack: %q", in)
				}
			}
		}
	}
}

// checkClean cleans markup and checks that the result is safe, stable under a second cleaning, and has the
// expected text.
func checkClean(t *testing.T, r *Rules, in string) bool {
	t.Helper()
	got := r.Clean(in, page(t), "")
	ok := checkSafe(t, got)
	if repeated := r.Clean(got.HTML, page(t), ""); repeated.HTML != got.HTML {
		t.Errorf("cleaning %q again changed\n%q to\n%q", in, got.HTML, repeated.HTML)
		ok = false
	}
	if plain := PlainText(got.HTML); plain != got.Text {
		t.Errorf("the text of %q is %q, but that of its clean HTML %q", in, got.Text, plain)
		ok = false
	}
	return ok
}

// FuzzClean runs the checks of the attacks on any input.
func FuzzClean(f *testing.F) {
	for _, attack := range attacks(f) {
		f.Add(attack)
	}
	for _, mend := range repairs {
		f.Add(mend.in)
	}
	wide, narrow := generous(f), narrow(f)
	f.Add(`<ul><li>a<li><p>b<table><tr><td>c<p>d</li></ul><a href="?q=ä&b#f">x<a href=y>`)
	f.Fuzz(func(t *testing.T, in string) {
		for _, r := range []*Rules{Default(), wide, narrow} {
			checkClean(t, r, in)
		}
		for _, s := range []string{Title(in, 100), Default().Title(in, in[:len(in)/2], 100), Excerpt(PlainText(in), 50)} {
			if !isSanitized(s) || strings.Contains(s, "\n") {
				t.Errorf("got %q, want one legible line", s)
			}
		}
	})
}

// checkSafe parses the HTML as a browser would and checks that it contains only allowed nodes.
func checkSafe(t *testing.T, c Cleaned) bool {
	t.Helper()
	if !isSanitized(c.HTML) || !isSanitized(c.Text) || !utf8.ValidString(c.HTML) {
		t.Errorf("got %q and %q, want legible UTF-8", c.HTML, c.Text)
		return false
	}
	body := &html.Node{Type: html.ElementNode, Data: "body", DataAtom: atom.Body}
	nodes, err := html.ParseFragment(strings.NewReader(c.HTML), body)
	if err != nil {
		t.Errorf("the clean HTML does not parse: %v", err)
		return false
	}
	ok := true
	for _, root := range nodes {
		for n := range walk(root) {
			if fault := unsafe(n); fault != "" {
				t.Errorf("%s in %.300q", fault, c.HTML)
				ok = false
			}
		}
	}
	for _, image := range c.Images {
		if u, err := url.Parse(image); err != nil || !strings.HasPrefix(u.Scheme, "http") || u.Host == "" {
			t.Errorf("got image %q, want an absolute address", image)
			ok = false
		}
	}
	return ok
}

func walk(root *html.Node) func(func(*html.Node) bool) {
	return func(yield func(*html.Node) bool) {
		if yield(root) {
			root.Descendants()(yield)
		}
	}
}

// The allowed names are repeated here, so that a mistake in the tables of the package is detected.
const (
	safeElements = " a abbr acronym article aside b bdi bdo blockquote br caption cite code dd del details dfn div dl dt em figcaption figure " +
		"h1 h2 h3 h4 h5 h6 hgroup hr i img ins kbd li mark ol p pre q rp rt ruby s samp section small strike strong sub summary sup table tbody " +
		"td tfoot th thead time tr tt u ul var wbr iframe "
	safeAttributes = " href rel title cite datetime open src alt width height value start type reversed colspan rowspan scope dir lang class sandbox "
)

// unsafe returns the problem of a node, or "".
func unsafe(n *html.Node) string {
	switch n.Type {
	case html.TextNode:
		return ""
	case html.ElementNode:
	default:
		return "a node that is neither element nor text"
	}
	if n.Namespace != "" || !strings.Contains(safeElements, " "+n.Data+" ") {
		return "element " + n.Namespace + " " + n.Data
	}
	for _, a := range n.Attr {
		if a.Key == "id" && anchorID.MatchString(a.Val) {
			continue
		}
		if a.Namespace != "" || !strings.Contains(safeAttributes, " "+a.Key+" ") {
			return "attribute " + a.Key
		}
		if a.Key == "href" || a.Key == "src" || a.Key == "cite" {
			if fault := unsafeAddress(n.Data, a.Val); fault != "" {
				return fault
			}
		}
		if a.Key == "class" && (n.Data != "code" || !strings.HasPrefix(a.Val, "lang")) {
			return "class " + a.Val
		}
	}
	if n.Data == "iframe" && (n.FirstChild != nil || !slices.Contains(n.Attr, html.Attribute{Key: "sandbox", Val: "allow-same-origin allow-scripts"})) {
		return "a document without a sandbox"
	}
	isLink := slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == "href" })
	if n.Data == "a" && isLink && !slices.Contains(n.Attr, html.Attribute{Key: "rel", Val: "nofollow noopener noreferrer"}) {
		return "a link without rel"
	}
	return ""
}

func unsafeAddress(element, address string) string {
	begins := []string{"http://", "https://"}
	switch element {
	case "a":
		begins = append(begins, "mailto:", "tel:", "xmpp:", "irc:", "ircs:", "magnet:", "ftp:", "gemini:")
	case "img":
		begins = append(begins, "data:image/png;base64,", "data:image/gif;base64,", "data:image/jpeg;base64,", "data:image/webp;base64,")
	case "iframe":
		begins = []string{"https://video.example/"}
	}
	for _, scheme := range begins {
		if strings.HasPrefix(address, scheme) && !strings.ContainsFunc(address, unicode.IsControl) {
			return ""
		}
	}
	return "address " + address
}

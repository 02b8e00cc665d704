package text

import (
	"encoding/json"
	"reflect"
	"strings"
	"sync"
	"testing"
)

// parsed returns the rules of a valid document.
func parsed(t testing.TB, doc string) *Rules {
	t.Helper()
	r, err := Parse([]byte(doc))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// narrow returns rules that allow little.
func narrow(t testing.TB) *Rules {
	return parsed(t, `{"elements": ["b", "img", "code"], "attributes": {"img": ["src"]}, "tails": [], "links": {"schemes": ["https"], "tracking": []}, "images": {"lazy": [], "pixels": []}}`)
}

func TestParse_RulesSelectElements(t *testing.T) {
	for _, test := range []struct{ name, rules, in, want string }{
		{"elements", `{"elements": ["b", "br"]}`, `<p>a <i>b</i> <b>c</b></p><p>d<br>e</p><ul><li>f<li>g</ul>`, `a b <b>c</b> d<br>e f g`},
		{"no elements", `{"elements": []}`, `<p>a</p>b<hr>c<img src="/i.png"><a href="/x">d</a>`, `a b cd`},
		{"cells", `{"elements": ["p"]}`, `<table><tr><td>a<td>b</table>`, `a b`},
		{"attributes", `{"attributes": {"a": ["href"], "*": ["lang"]}}`, `<p dir=ltr lang=en><a href=/x title=y lang=de>a</a><img src=/i.png>`, `<p lang="en"><a href="https://example.org/x" lang="de"` + follow + `>a</a></p>`},
		{"code", `{"attributes": {"code": ["class"]}}`, `<code class="language-c++">a</code><code class="x">b</code>`, `<code class="language-c++">a</code><code>b</code>`},
		{"embeds", `{"embeds": ["video.example"]}`, `<iframe src="https://video.example/embed/1" width="560px" height=315 allow=x onload=x name=y>a</iframe>b<iframe src="https://other.example/">c</iframe><iframe src="http://video.example/1"></iframe>`,
			`<iframe src="https://video.example/embed/1" width="560" height="315" sandbox="allow-same-origin allow-scripts"></iframe>b` +
				`<br><a href="https://other.example/"` + follow + `>Embedded content: other.example</a> <br><a href="http://video.example/1"` + follow + `>Embedded content: video.example</a>`},
		{"unclosed embeds", `{"embeds": ["video.example"]}`, `<iframe src="https://video.example/1"/><p>a</p><iframe src="https://video.example/2"><p>b</p>`,
			`<iframe src="https://video.example/1" sandbox="allow-same-origin allow-scripts"></iframe><p>a</p><iframe src="https://video.example/2" sandbox="allow-same-origin allow-scripts"></iframe><p>b</p>`},
		{"extensions", `{"images": {"extensions": ["png"]}}`, `<img src=/a.png><img src=/b.JPG><img src=/c.PNG?x><img src=/d>`, `<img src="https://example.org/a.png"><img src="https://example.org/c.PNG?x"><img src="https://example.org/d">`},
		{"image sizes in addresses", `{"images": {"data": 60}}`, `<img src="data:image/png;base64,iVBORw0KGgo="><img src="data:image/png;base64,` + strings.Repeat("AAAA", 21) + `"><img src="data:image/svg+xml;base64,AAAA"><a href="data:image/png;base64,AAAA">a</a>`,
			`<img src="data:image/png;base64,iVBORw0KGgo=">a`},
		{"lazy images", `{"images": {"lazy": ["data-x"]}}`, `<img src=/a.png data-src=/b.png data-x=/c.png>`, `<img src="https://example.org/c.png">`},
		{"pixels", `{"images": {"pixels": ["*.a.example/p"]}}`, `<img src=http://a.example/p1><img src=http://x.A.example/p><img src=http://ba.example/p><img src=http://a.example/q>`, `<img src="http://ba.example/p"><img src="http://a.example/q">`},
		{"schemes", `{"links": {"schemes": ["https", "tel", "magnet", "gemini"]}}`, `<a href="tel:+1">a</a><a href="mailto:x@a.example">b</a><a href="http://a.example">c</a><a href="magnet:?xt=1">d</a><img src="tel:1"><a href="gemini://x:y@a.example/">e</a>`,
			`<a href="tel:+1"` + follow + `>a</a>bc<a href="magnet:?xt=1"` + follow + `>d</a><a href="gemini://a.example/"` + follow + `>e</a>`},
		{"rewriting", `{"links": {"rewrite": [{"from": "http://localhost:4000/", "to": "https://a.example/"}]}}`, `<a href="http://localhost:4000/x?utm_source=y">a</a><img src="http://localhost:4000/i.png">`, `<a href="https://a.example/x"` + follow + `>a</a><img src="https://a.example/i.png">`},
		{"tracking", `{"links": {"tracking": ["x*", "y=1", "z=a*"]}}`, `<a href="/?utm_a=b&x1=c&Xx&y=1&y=2&z=ab&z=b">a</a>`, `<a href="https://example.org/?utm_a=b&amp;y=2&amp;z=b"` + follow + `>a</a>`},
		{"tails", `{"tails": ["ENDE\\.?"]}`, `<p>a</p><p>Ende.</p>`, `<p>a</p>`},
		{"no tails", `{"tails": []}`, `<p>a</p><p>Read more</p>`, `<p>a</p><p>Read more</p>`},
	} {
		r := parsed(t, test.rules)
		if got := r.Clean(test.in, page(t), "").HTML; got != test.want {
			t.Errorf("%s: %s became\n%s, want\n%s", test.name, test.in, got, test.want)
		}
		got := r.Clean(test.in, page(t), "")
		if repeated := r.Clean(got.HTML, page(t), ""); repeated.HTML != got.HTML || PlainText(got.HTML) != got.Text {
			t.Errorf("%s: got %q with text %q, and %q with text %q when cleaned again", test.name, got.HTML, got.Text, repeated.HTML, PlainText(got.HTML))
		}
	}
}

func TestClean_FeedRulesPickAndCut(t *testing.T) {
	const in = `<div class="ad">ad</div><article><h1>Title</h1><p>One <b>two</b>.</p><p class="share">share</p></article><footer>foot</footer>`
	for _, test := range []struct{ name, rule, feed, want string }{
		{"cut by CSS", `{"match": "a.example", "cut": [".ad", "p.share, footer"]}`, "https://a.example/feed", `<article><h1>Title</h1><p>One <b>two</b>.</p></article>`},
		{"cut by XPath", `{"match": "a.example", "cut": ["//*[@class='ad']", "//p[contains(@class,'share')]", "//footer"]}`, "https://a.example/feed", `<article><h1>Title</h1><p>One <b>two</b>.</p></article>`},
		{"pick by CSS", `{"match": "a.example", "pick": ["article > p:first-of-type"]}`, "https://a.example/feed", `<p>One <b>two</b>.</p>`},
		{"pick by XPath", `{"match": "a.example", "pick": ["(//article/p)[1]"]}`, "https://a.example/feed", `<p>One <b>two</b>.</p>`},
		{"pick in order, each once", `{"match": "a.example", "pick": ["b", "p", "h1"]}`, "https://a.example/feed", "<h1>Title</h1>\n<p>One <b>two</b>.</p>\n<p>share</p>"},
		{"pick, then cut", `{"match": "a.example", "pick": ["article"], "cut": [".ad + article .share", "h1"]}`, "https://a.example/feed", `<article><p>One <b>two</b>.</p></article>`},
		{"pick nothing", `{"match": "a.example", "pick": ["main"], "cut": [".ad", "footer"]}`, "https://a.example/feed", `<article><h1>Title</h1><p>One <b>two</b>.</p><p>share</p></article>`},
		{"a subdomain", `{"match": "A.example", "pick": ["b"]}`, "http://www.a.example", `<b>two</b>`},
		{"an address", `{"match": "https://a.example/feed", "pick": ["b"]}`, "http://a.example/feed.xml", `<b>two</b>`},
		{"attributes are not elements", `{"match": "a.example", "pick": ["//p/@class"], "cut": ["//@class"]}`, "https://a.example/feed", `<div>ad</div><article><h1>Title</h1><p>One <b>two</b>.</p><p>share</p></article><div>foot</div>`},
	} {
		r := parsed(t, `{"feeds": [`+test.rule+`]}`)
		if got := r.Clean(in, page(t), test.feed).HTML; got != test.want {
			t.Errorf("%s: got\n%s, want\n%s", test.name, got, test.want)
		}
	}
	whole := clean(in, page(t)).HTML
	for _, feed := range []string{"", "https://b.example/", "https://ba.example/feed", "https://a.example.b.example/", "a.example", "https://a.example/other", "https://www.a.example/feed", "%zz"} {
		r := parsed(t, `{"feeds": [{"match": "a.example/feed", "pick": ["b"]}]}`)
		if got := r.Clean(in, page(t), feed).HTML; got != whole {
			t.Errorf("feed %s: got %s, want it whole: %s", feed, got, whole)
		}
	}
}

func TestClean_FeedRulesTakeBoundedTime(t *testing.T) {
	r := parsed(t, `{"feeds": [{"match": "a.example", "cut": ["z div div div div div", "div:has(z) ~ p", "div:contains(z)", "//*[contains(., 'z')]", "p:nth-child(7)", "//div//div//div//z", "//p[count(preceding-sibling::p)>1000000]"]}]}`)
	scale := 10
	if testing.Short() {
		scale = 1
	}
	for _, in := range []string{strings.Repeat("<div>", 400), strings.Repeat("<div>", 600), strings.Repeat("<p>a</p>", 10_000*scale), strings.Repeat(strings.Repeat("<div>", 90)+strings.Repeat("</div>", 90), 50*scale)} {
		checkSafe(t, r.Clean(in, nil, "https://a.example/feed"))
	}
}

func TestParse_ReportsAllProblemsWithPaths(t *testing.T) {
	_, err := Parse([]byte(`{
		"elements": ["b", "script", "blink", 7],
		"attributes": {"img": ["onerror", "src", "srcdoc"], "p": ["style"], "iframe": ["src"], "b": "x"},
		"embeds": ["https://a.example"],
		"images": {"extensions": [".png"], "data": 99999, "lazy": ["src"], "pixels": ["a.example", "*", "a.example/*"], "size": 1},
		"links": {"schemes": ["javascript", "data", "gopher"], "rewrite": [{"from": "http://a.example/", "to": "http://a.example/b/"}, {"from": "x", "to": "https://b.example/"}], "tracking": ["*", "a&b"]},
		"tails": ["(", "x*", "((a{100}){10}){10}"],
		"titles": {"calm": "yes"},
		"feeds": [{"match": "a.example"}, {"match": "", "cut": ["p"]}, {"match": "a.example", "cut": ["div[", "//p[", "count(//p)", "//p[//b]", "//p/following::b", "a b c d e f g h", "/count"], "pick": null}],
		"feeds": [],
		"color": "red"
	}`))
	if err == nil {
		t.Fatal("got no error")
	}
	got := strings.Split(err.Error(), "\n")
	want := []string{
		`elements[3]: got 7, want a string`, `attributes.b: got "x", want a list`, `images.size: is not supported`, `titles.calm: got "yes", want true or false`, `feeds[2].pick: got null, want a list`, `feeds: is repeated`, `color: is not supported; use one of elements, attributes`,
		`elements[1]: script is never allowed: it runs code`, `elements[2]: "blink" is not one of the elements that are safe`,
		`attributes.img[0]: onerror is never allowed: it runs code`, `attributes.img[2]: srcdoc is never allowed`, `attributes.p: "p" is not one of`, `attributes.iframe: iframe is never allowed: list its hosts in "embeds"`,
		`embeds[0]: "https://a.example" is not a host`, `images.extensions[0]: ".png" is not an extension`, `images.lazy[0]: "src" is not an attribute`, `images.pixels[0]:`, `images.pixels[1]:`, `images.pixels[2]:`, `images.data: 99999 is not between`,
		`links.schemes[0]: javascript is never allowed`, `links.schemes[1]: data is never allowed`, `links.schemes[2]: "gopher" is not one of http, https`,
		`links.rewrite[0].to: "http://a.example/b/" matches links.rewrite[0] again`, `links.rewrite[1].from: "x" is not a URL`, `links.tracking[0]:`, `links.tracking[1]:`,
		`tails[0]: "(": error parsing regexp: missing closing )`, `tails[1]: "x*": matches an empty text`, `tails[2]:`,
		`feeds[0]: has neither pick nor cut`, `feeds[1].match: "" is neither`, `feeds[2].cut[0]: "div[":`, `feeds[2].cut[1]: "//p[":`, `feeds[2].cut[2]: "count(//p)":`, `feeds[2].cut[3]: "//p[//b]": a path within brackets`, `feeds[2].cut[4]: "//p/following::b": preceding and following`, `feeds[2].cut[5]: "a b c d e f g h": has 7 steps`,
	}
	for _, w := range want {
		n := 0
		for _, g := range got {
			if strings.HasPrefix(g, w) {
				n++
			}
		}
		if n != 1 {
			t.Errorf("got %d problems %q, want one", n, w)
		}
	}
	if len(got) != len(want) {
		t.Errorf("got %d faults, want %d:\n%s", len(got), len(want), err)
	}
}

func TestParse_RejectsInvalidDocuments(t *testing.T) {
	for _, test := range []struct{ doc, want string }{
		{"", "line 1: unexpected end"},
		{"[]", "document: got [], want an object"},
		{"null", "document: got null, want an object"},
		{"{}\n{}", "line 2: invalid character"},
		{"{\n\"tails\": [,]}", "line 2: invalid character"},
		{strings.Repeat(" ", maxDocument) + "{}", "the limit is 262144"},
		{`{"tails": [` + strings.Repeat(`"a",`, maxList) + `"a"]}`, "tails: 2001 entries exceed the limit of 2000"},
		{`{"tails": ["` + strings.Repeat("a", maxEntry+1) + `"]}`, "tails[0]: 501 bytes exceed the limit of 500"},
		{strings.Repeat("[", 20000), "line 1: "},
	} {
		if _, err := Parse([]byte(test.doc)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%.30q: got error %v, want %q", test.doc, err, test.want)
		}
	}
	if _, err := Parse([]byte(`{"elements": [` + strings.Repeat(`"x",`, 1000) + `"x"]}`)); err == nil || strings.Count(err.Error(), "\n") != maxProblems-1 {
		t.Errorf("got %d lines, want the first %d faults", strings.Count(err.Error(), "\n")+1, maxProblems)
	}
}

func TestParse_MissingMembersKeepDefaults(t *testing.T) {
	r := parsed(t, `{"titles": {"calm": false}, "images": {"data": 10}}`)
	want := Default().document
	want.Titles.Calm, want.Images.Data = false, 10
	if !reflect.DeepEqual(r.document, want) {
		t.Errorf("got %+v, want %+v", r.document, want)
	}
}

func TestMarshalJSON_ParseRestoresRules(t *testing.T) {
	for _, r := range []*Rules{Default(), narrow(t), generous(t), parsed(t, `{"feeds": [{"match": "a.example", "pick": ["p"], "cut": []}]}`)} {
		doc, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if reparsed := parsed(t, string(doc)); !reflect.DeepEqual(reparsed.document, r.document) {
			t.Errorf("got %+v from %s", reparsed.document, doc)
		}
	}
}

func TestRules_ConcurrentUse(t *testing.T) {
	r := parsed(t, `{"feeds": [{"match": "a.example", "cut": ["b", "//i"]}]}`)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 200 {
				if got := r.Clean(`<p>a<b>b</b><i>c</i><img src=/d.png srcset="/e.png 2x"> <a href=http://b.example/f?utm_x>Read more</a>`, nil, "http://a.example/").HTML; got != "<p>a </p>" {
					t.Errorf("got %s", got)
					return
				}
			}
		})
	}
	wg.Wait()
}

func FuzzParseRules(f *testing.F) {
	f.Add([]byte(`{"feeds": [{"match": "a.example", "cut": ["div > p:has(b)", "//p[@id='a'][last()]"], "pick": ["(//a)[1] | //b"]}], "tails": ["a.+b"]}`))
	f.Add([]byte(`{"elements": ["p"], "links": {"rewrite": [{"from": "http://a.example/", "to": "http://b.example/"}]}}`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		r, err := Parse(doc)
		if err != nil {
			return
		}
		const in = `<p>a<b>b</b><i id=a>c</i><img src=/d.png><a href=http://a.example/?utm_x=1>Read more</a><iframe src=https://video.example/></iframe>`
		got := r.Clean(in, page(t), "http://a.example/feed")
		if repeated := r.Clean(got.HTML, page(t), ""); repeated.HTML != got.HTML && len(r.feeds) == 0 {
			t.Errorf("cleaning %q again changed it to %q", got.HTML, repeated.HTML)
		}
	})
}

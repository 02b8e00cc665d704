package opml

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"feedmesh/tests/cputime"
)

// TestRead_BombsCostLittle reads each bomb at a bounded cost, most at a tenth of it.
func TestRead_BombsCostLittle(t *testing.T) {
	const mega = 1 << 20
	numbered := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `<outline text="F" xmlUrl="http://a.test/%d"/>`, i)
		}
		return b.String()
	}
	for name, test := range map[string]struct{ body, err string }{
		"nested outlines":     {strings.Repeat("<outline text='a'>", mega), "the list is too large: line 1 is nested more than 256 levels deep"},
		"nested elements":     {strings.Repeat("<a>", 10*mega), "the list is too large: line 1 is nested more than 256 levels deep"},
		"a million outlines":  {numbered(mega), "the list is too large: it has more than 100000 elements, split it at line 1"},
		"a million folders":   {strings.Repeat("<outline text='a'/>", mega), "the list is too large: it has more than 100000 elements, split it at line 1"},
		"50,000 feeds":        {numbered(50_000), ""},
		"a huge value":        {"<outline text='" + strings.Repeat("a", 30*mega) + "'/>", "the list is too large: a tag, a text or a comment has more than 1 MB"},
		"many attributes":     {"<outline " + strings.Repeat("a='b' ", mega) + "/>", "the list is too large: a tag, a text or a comment has more than 1 MB"},
		"a huge comment":      {"<!--" + strings.Repeat("a", 30*mega) + "-->", "the list is too large: a tag, a text or a comment has more than 1 MB"},
		"quotes":              {"<outline text=" + strings.Repeat(`"`, 10*mega), "the list is too large: a tag, a text or a comment has more than 1 MB"},
		"quotes in outlines":  {strings.Repeat(`<outline text="""`, 3*mega), "the list is too large: a tag, a text or a comment has more than 1 MB"},
		"less-than signs":     {strings.Repeat("<", 10*mega), "parse the list at line 1: expected element name after <"},
		"references":          {"<outline text='" + strings.Repeat("&#65;", mega/6) + "' xmlUrl='http://a.test/'/>", ""},
		"latin 1, huge value": {"<outline text='" + strings.Repeat("\xe9", 30*mega) + "'/>", "the list is too large: a tag, a text or a comment has more than 1 MB"},
	} {
		head := "<opml><body>"
		if strings.HasPrefix(name, "latin") {
			head = "<?xml version='1.0' encoding='iso-8859-1'?>" + head
		}
		body := head + test.body
		if test.err == "" {
			body += "</body></opml>"
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		began := cputime.Used(t)
		_, err := Read(strings.NewReader(body))
		took := cputime.Used(t) - began
		runtime.ReadMemStats(&after)
		spent := (after.TotalAlloc - before.TotalAlloc) / mega
		t.Logf("%s: %d MB, %v of CPU, %d MB allocated", name, len(body)/mega, took, spent)
		if got := fmt.Sprint(err); got != test.err && (err != nil || test.err != "") {
			t.Errorf("%s: got %.200q, want %q", name, got, test.err)
		}
		if took > 2*time.Second {
			t.Errorf("%s: took %v of CPU", name, took)
		}
	}
}

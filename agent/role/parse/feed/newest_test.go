package feed

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"feedmesh/subjects"
	"feedmesh/tests/cputime"
)

// archive returns n items of a form, of which the i-th has the date of position order(i), an hour apart.
func archive(n int, item, layout string, order func(i int) int) string {
	var b strings.Builder
	for i := range n {
		at := time.Date(2010, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(order(i)) * time.Hour)
		fmt.Fprintf(&b, item, order(i), at.Format(layout))
	}
	return strings.TrimSuffix(b.String(), ",")
}

func TestParse_KeepsTheNewestOfManyEntries(t *testing.T) {
	const n = 100_000
	formats := map[string]func(order func(int) int) string{
		"RSS": func(order func(int) int) string {
			return rssWith("", archive(n, "<item><guid>%d</guid><title>t</title><link>https://a.test/</link><description><![CDATA[<item> &amp; <b>text</b>]]></description>\n<pubDate>%s</pubDate></item>\n", time.RFC1123Z, order))
		},
		"Atom": func(order func(int) int) string {
			return `<feed xmlns="http://www.w3.org/2005/Atom"><title>T</title>` + archive(n, `<entry xml:lang="en"><id>%d</id><title>t</title><updated>%s</updated></entry>`, time.RFC3339, order) + "</feed>"
		},
		"JSON": func(order func(int) int) string {
			return `{"version":"https://jsonfeed.org/version/1","title":"\"items\"","items":[` + archive(n, `{"id":"%d","title":"}","authors":[{"name":"a"}],"date_published":"%s"},`, time.RFC3339, order) + `]}`
		},
	}
	orders := map[string]func(int) int{
		"newest first": func(i int) int { return n - 1 - i },
		"oldest first": func(i int) int { return i },
		"mixed":        func(i int) int { return i * 7919 % n },
	}
	for format, document := range formats {
		for name, order := range orders {
			body := []byte(document(order))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			began := cputime.Used(t)
			d, err := Parse(body, "", "https://a.test/feed")
			took := cputime.Used(t) - began
			runtime.ReadMemStats(&after)
			spent := after.TotalAlloc - before.TotalAlloc
			t.Logf("%s, %s: %d MB, %v of CPU, %d MB allocated", format, name, len(body)>>20, took, spent>>20)
			if err != nil || len(d.Entries) != maxItems || d.Title == "" {
				t.Fatalf("%s, %s: got %d entries (%v), want %d", format, name, len(d.Entries), err, maxItems)
			}
			if want := "95000 of its 100000 entries were left out: the newest 5000 are kept"; !strings.HasPrefix(d.Malformed, want) {
				t.Errorf("%s, %s: got %q, want %q", format, name, d.Malformed, want)
			} else if leftOut, repaired := subjects.SplitMalformed(d.Malformed); leftOut != want || strings.Contains(repaired, "left out") {
				t.Errorf("%s, %s: got %q and %q of %q", format, name, leftOut, repaired, d.Malformed)
			}
			oldest := time.Date(2010, 1, 1, n-maxItems, 0, 0, 0, time.UTC)
			for i, e := range d.Entries {
				at := e.Published
				if at.IsZero() {
					at = e.Updated
				}
				if at.Before(oldest) {
					t.Fatalf("%s, %s: entry %d is of %v, want none before %v", format, name, i, at, oldest)
				}
			}
			if took > time.Second || spent > maxSpent { // most take a fifth
				t.Errorf("%s, %s: took %v of CPU and %d MB", format, name, took, spent>>20)
			}
		}
	}
}

func TestParse_CountsTheEntriesBeyondItsLimits(t *testing.T) {
	big := "<item><title>t</title>" + strings.Repeat("<x:a/>", maxElements/2) + "</item>"
	for name, test := range map[string]struct{ body, want string }{
		"too many elements": {rssWith("", "<item><title>t</title></item>"+big+big+big), "2 of its 4 entries were left out"},
		"upper case":        {rssWith("", strings.ToUpper(manyItems(maxItems+7))), "7 of its 5007 entries were left out"},
		"few":               {rssWith("", manyItems(10)), ""},
		"as many as kept":   {rssWith("", manyItems(maxItems)), ""},
	} {
		d, err := Parse([]byte(test.body), "", "")
		if err != nil || !strings.HasPrefix(d.Malformed, test.want) || test.want == "" && d.Malformed != "" {
			t.Errorf("%s: got %q (%v), want %q", name, d.Malformed, err, test.want)
		}
	}
}

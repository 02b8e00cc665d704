package feed

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
)

// TestKeys_FieldUsedForTheKey covers which of an entry's fields becomes its key.
func TestKeys_FieldUsedForTheKey(t *testing.T) {
	long := strings.Repeat("x", maxKey+1)
	for _, c := range []struct {
		name    string
		entries []Entry
		want    string // prefixes of the keys
	}{
		{"GUID", []Entry{{GUID: "1", Link: "l"}, {GUID: "2", Link: "l"}}, "guid:1 guid:2"},
		{"same GUID", []Entry{{GUID: "1", Link: "http://a/1"}, {GUID: "1", Link: "http://a/2"}}, "link://a/1 link://a/2"},
		{"same GUID and link", []Entry{{GUID: "1", Link: "l", Title: "a"}, {GUID: "1", Link: "l", Title: "b"}}, "text: text:"},
		{"same but for the date", []Entry{{Title: "a", Dated: "1"}, {Title: "a", Dated: "2"}}, "text: text:"},
		{"same but for the content", []Entry{{GUID: "1", HTML: "a"}, {GUID: "1", HTML: "b"}}, "text: text:"},
		{"same but for the file", []Entry{{GUID: "1", Link: "l", Title: "a", Enclosures: []Enclosure{{URL: "/1"}}}, {GUID: "1", Link: "l", Title: "a", Enclosures: []Enclosure{{URL: "/2"}}}}, "text: text:"},
		{"one without a file", []Entry{{Title: "a"}, {Title: "a", Enclosures: []Enclosure{{URL: "/2"}}}}, "text: text:"},
		{"the same file", []Entry{{GUID: "1", Enclosures: []Enclosure{{URL: "/1"}}}, {GUID: "1", Enclosures: []Enclosure{{URL: "/1"}}}}, "guid:1"},
		{"the same", []Entry{{GUID: "1", HTML: "a", Image: "1"}, {GUID: "1", HTML: "a", Image: "2"}}, "guid:1"},
		{"only some share a GUID", []Entry{{GUID: "1", Link: "/1"}, {GUID: "2", Link: "/2"}, {GUID: "1", Link: "/3"}}, "link://f.test/1 guid:2 link://f.test/3"},
		{"links that mean the same", []Entry{{Link: "http://A.test/x?utm_source=f"}, {Link: "https://a.test:443/x"}, {Link: "/y"}}, "text: text: link://f.test/y"},
		{"long GUID", []Entry{{GUID: long}}, "guid:sha256:"},
	} {
		t.Run(c.name, func(t *testing.T) {
			base, _ := url.Parse("https://f.test/feed")
			got := assignKeys(c.entries, base)
			want := strings.Fields(c.want)
			if len(got) != len(want) {
				t.Fatalf("%d entries, want %d", len(got), len(want))
			}
			for i := range got {
				if !strings.HasPrefix(got[i].Key, want[i]) || want[i] != "text:" && want[i] != "guid:sha256:" && got[i].Key != want[i] {
					t.Errorf("key %d: %s, want %s", i, got[i].Key, want[i])
				}
			}
		})
	}
}

// TestKeys_DoNotDependOnOtherEntries: an entry's key does not depend on other entries, except those with the
// same GUID.
func TestKeys_DoNotDependOnOtherEntries(t *testing.T) {
	base := &url.URL{}
	key := make(map[string]string)
	for first := range 5 {
		var entries []Entry
		for i := first; i < first+5; i++ {
			entries = append(entries, Entry{GUID: fmt.Sprint("g", i), Link: "http://a/", Title: fmt.Sprint(i)})
		}
		for _, e := range assignKeys(entries, base) {
			if old := key[e.Title]; old != "" && old != e.Key {
				t.Errorf("entry %s was %s and is %s", e.Title, old, e.Key)
			}
			key[e.Title] = e.Key
		}
	}
}

// TestHash_ChangesWithVisibleContentOnly: the hash changes with the visible content only.
func TestHash_ChangesWithVisibleContentOnly(t *testing.T) {
	hash := func(item string) string {
		doc, err := Parse([]byte("<rss xmlns:slash='http://purl.org/rss/1.0/modules/slash/' xmlns:atom='http://www.w3.org/2005/Atom'><channel><item>"+item+"</item></channel></rss>"), "", "")
		if err != nil || len(doc.Entries) != 1 {
			t.Fatalf("%s: %v", item, err)
		}
		return doc.Entries[0].Hash
	}
	plain := hash("<title>a</title>")
	for _, same := range []string{
		"<title> a </title>", "<title>a</title><guid>1</guid>", "<title>a</title><slash:comments>7</slash:comments>",
		"<title>a</title><atom:updated>2026-01-01T00:00:00Z</atom:updated>", "<title>a</title><enclosure type='image/png' url='x?token=1'/>",
	} {
		if hash(same) != plain {
			t.Errorf("%s: the hash changed", same)
		}
	}
	for _, other := range []string{
		"<title>b</title>", "<title>a</title><description>b</description>", "<title>a</title><link>b</link>", "<title>a</title><author>b</author>",
		"<title>a</title><pubDate>b</pubDate>", "<title>a</title><category>b</category>",
	} {
		if hash(other) == plain {
			t.Errorf("%s: the hash did not change", other)
		}
	}
}

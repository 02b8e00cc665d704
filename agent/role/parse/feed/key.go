package feed

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// maxKey is the length of the longest GUID or link that a key contains unhashed.
const maxKey = 256

// assignKeys gives every entry a key that is unique in the document and stable while the entry is published:
// its GUID, unless another entry has the same; else its link, likewise; else title and date; else all fields;
// else also its first file.
// Publishers are careless with each of them: they repeat one GUID in all entries, or link all entries to the
// front page. Of entries that agree in all these fields it keeps the first. The order is preserved.
func assignKeys(entries []Entry, base *url.URL) []Entry {
	entries = dropDuplicates(entries)
	keys, left := make([]string, len(entries)), len(entries)
	for _, candidate := range keyCandidates {
		if left == 0 {
			break
		}
		count := make(map[string]int, len(entries))
		for i := range entries {
			keys[i] = candidate(&entries[i], base)
			count[keys[i]]++
		}
		for i, key := range keys {
			if e := &entries[i]; e.Key == "" && key != "" && count[key] == 1 {
				e.Key = key
				left--
			}
		}
	}
	return entries
}

// dropDuplicates keeps the first of entries that no key could distinguish.
func dropDuplicates(entries []Entry) []Entry {
	type all struct{ guid, link, title, dated, html, file string }
	seen := make(map[all]bool, len(entries))
	return slices.DeleteFunc(entries, func(e Entry) bool {
		it := all{e.GUID, e.Link, e.Title, e.Dated, e.HTML, firstFile(&e)}
		duplicate := seen[it]
		seen[it] = true
		return duplicate
	})
}

// keyCandidates return an entry's possible keys, best first; "" if the entry lacks the fields. The last
// differs for all distinct entries.
var keyCandidates = []func(e *Entry, base *url.URL) string{
	func(e *Entry, _ *url.URL) string {
		if e.GUID == "" {
			return ""
		}
		return "guid:" + boundedKey(e.GUID)
	},
	func(e *Entry, base *url.URL) string {
		if e.Link == "" {
			return ""
		}
		return "link:" + boundedKey(canonicalLink(e.Link, base))
	},
	func(e *Entry, _ *url.URL) string {
		if e.Title == "" && e.Dated == "" {
			return ""
		}
		return "text:" + digest("title", e.Title, e.Dated)
	},
	func(e *Entry, _ *url.URL) string {
		return "text:" + digest("all", e.GUID, e.Link, e.Title, e.Dated, e.HTML)
	},
	func(e *Entry, _ *url.URL) string {
		return "text:" + digest("file", e.GUID, e.Link, e.Title, e.Dated, e.HTML, firstFile(e))
	},
}

// firstFile returns the address of an entry's first file, or "".
func firstFile(e *Entry) string {
	if len(e.Enclosures) == 0 {
		return ""
	}
	return e.Enclosures[0].URL
}

// canonicalLink returns a common form of a link's spellings: absolute, without scheme (sites move to https),
// default port and tracking parameters. It keeps the fragment because release pages have one for each entry.
func canonicalLink(link string, base *url.URL) string {
	u, err := base.Parse(link)
	if err != nil || u.Opaque != "" {
		return link
	}
	host := strings.ToLower(u.Host)
	host = strings.TrimSuffix(strings.TrimSuffix(host, ":80"), ":443")
	var query []string
	for _, p := range strings.Split(u.RawQuery, "&") {
		if p != "" && !strings.HasPrefix(p, "utm_") {
			query = append(query, p)
		}
	}
	s := "//" + host + "/" + strings.TrimPrefix(u.EscapedPath(), "/")
	if len(query) > 0 {
		s += "?" + strings.Join(query, "&")
	}
	if u.Fragment != "" {
		s += "#" + u.EscapedFragment()
	}
	return s
}

// boundedKey returns s, or its hash if it is too long for a key.
func boundedKey(s string) string {
	if len(s) <= maxKey {
		return s
	}
	return "sha256:" + digest(s)
}

// contentHash returns a hash of the parts of an entry whose change a reader would notice. It excludes parts
// that change by themselves: the updated date, which some feeds set on each request, addresses of images and
// files, which often contain a token, the summary if there is content, and elements such as comment counts.
// It includes the published date as written, so that the hash does not change when the date parser improves.
func contentHash(e Entry) string {
	return digest(append([]string{e.Title, e.HTML, e.Link, e.Author, e.Dated}, e.Tags...)...)
}

// digest returns a hash of strings as 32 hexadecimal digits. It joins them in a pooled buffer. The strings
// contain no U+0000, which terminates each of them.
func digest(parts ...string) string {
	b := bufferPool.Get().(*bytes.Buffer)
	defer bufferPool.Put(b)
	b.Reset()
	for _, p := range parts {
		b.WriteString(p)
		b.WriteByte(0)
	}
	hash := sha256.Sum256(b.Bytes())
	return hex.EncodeToString(hash[:16])
}

// bufferPool holds buffers in which strings are joined before hashing. They grow to the size of an entry and
// are reused many times in a document.
var bufferPool = sync.Pool{New: func() any { return new(bytes.Buffer) }}

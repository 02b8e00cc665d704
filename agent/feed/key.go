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

// maxKey is the length of the longest GUID or link that is part of a key as it
// is; of longer ones the key has a hash.
const maxKey = 256

// identify gives every entry a key that tells it from the others and stays the
// same as long as the entry is published: its GUID, if no other entry has the
// same; else its link, likewise; else title and date; else all there is.
// Publishers are careless with each of them: GUIDs that are the same in all
// entries, links that all lead to the front page. Entries that agree in all of
// them are one, of which the first is kept. The order stays.
func identify(entries []Entry, base *url.URL) []Entry {
	entries = distinct(entries)
	keys, left := make([]string, len(entries)), len(entries)
	for _, candidate := range candidates {
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

// distinct keeps the first of the entries that a key could not tell apart.
func distinct(entries []Entry) []Entry {
	type all struct{ guid, link, title, dated, html string }
	met := make(map[all]bool, len(entries))
	return slices.DeleteFunc(entries, func(e Entry) bool {
		it := all{e.GUID, e.Link, e.Title, e.Dated, e.HTML}
		again := met[it]
		met[it] = true
		return again
	})
}

// candidates are the keys that an entry could have, best first: "" where it has
// nothing to make one of. The last is another for each of distinct entries.
var candidates = []func(e *Entry, base *url.URL) string{
	func(e *Entry, _ *url.URL) string {
		if e.GUID == "" {
			return ""
		}
		return "guid:" + bounded(e.GUID)
	},
	func(e *Entry, base *url.URL) string {
		if e.Link == "" {
			return ""
		}
		return "link:" + bounded(canonical(e.Link, base))
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
}

// canonical returns the form of a link that its spellings share: absolute,
// without scheme (sites move to https), default port, and the parameters that
// only tell where a reader came from. The fragment stays: pages that list
// releases have an entry for each.
func canonical(link string, base *url.URL) string {
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

// bounded returns s, or its hash if it is too long for a key.
func bounded(s string) string {
	if len(s) <= maxKey {
		return s
	}
	return "sha256:" + digest(s)
}

// contentHash returns a hash of what a reader of the entry would see change.
// It leaves out what changes without that: the updated date, which some feeds
// set on each request, addresses of images and files, which often carry a token,
// the summary where there is content, and elements such as counts of comments. The published date is
// taken as written, so that it does not change when we learn to read it.
func contentHash(e Entry) string {
	return digest(append([]string{e.Title, e.HTML, e.Link, e.Author, e.Dated}, e.Tags...)...)
}

// digest hashes strings without U+0000, which therefore can end each of them,
// to 32 hexadecimal digits.
func digest(parts ...string) string {
	b := digested.Get().(*bytes.Buffer)
	defer digested.Put(b)
	b.Reset()
	for _, p := range parts {
		b.WriteString(p)
		b.WriteByte(0)
	}
	hash := sha256.Sum256(b.Bytes())
	return hex.EncodeToString(hash[:16])
}

// digested is where strings become bytes: as large as an entry, and many times a
// document.
var digested = sync.Pool{New: func() any { return new(bytes.Buffer) }}

package feed

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"strings"
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
	candidates := make([][4]string, len(entries))
	whole := make(map[string]bool, len(entries))
	kept := 0
	for _, e := range entries {
		c := candidateKeys(e, base)
		if whole[c[3]] {
			continue
		}
		whole[c[3]] = true
		entries[kept], candidates[kept] = e, c
		kept++
	}
	entries = entries[:kept]

	count := make(map[string]int, 4*kept)
	for _, c := range candidates[:kept] {
		for _, key := range c {
			count[key]++
		}
	}
	for i := range entries {
		for _, key := range candidates[i] {
			if key != "" && count[key] == 1 {
				entries[i].Key = key
				break
			}
		}
	}
	return entries
}

// candidateKeys returns the keys that an entry could have, best first. All but
// the last may be "".
func candidateKeys(e Entry, base *url.URL) [4]string {
	var keys [4]string
	if e.GUID != "" {
		keys[0] = "guid:" + bounded(e.GUID)
	}
	if e.Link != "" {
		keys[1] = "link:" + bounded(canonical(e.Link, base))
	}
	if e.Title != "" || e.Dated != "" {
		keys[2] = "text:" + digest("title", e.Title, e.Dated)
	}
	keys[3] = "text:" + digest("all", e.GUID, e.Link, e.Title, e.Dated, e.HTML)
	return keys
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
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(p))
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

package classify

import (
	"net/url"
	"strings"
	"unicode/utf8"

	"feedmesh/classify/rule"
	"feedmesh/classify/stem"
)

// fields holds the values of a document that are compared as a whole, and the texts that regular expressions
// run on.
type fields struct {
	values   []value
	searched [rule.FieldCount]string // in lower case
}

// fill extracts the fields of a document.
func (f *fields) fill(d *Document) {
	f.values = f.values[:0]
	for _, tag := range d.FeedTags {
		f.values = append(f.values, value{rule.FeedTags, folded(tag)})
	}
	if d.Language != "" {
		f.values = append(f.values, value{rule.Lang, folded(d.Language)})
	}
	host := hostOf(d.URL)
	for h := host; h != ""; _, h, _ = strings.Cut(h, ".") { // the host and its parent domains
		f.values = append(f.values, value{rule.Host, h})
	}
	f.searched[rule.Title] = searched(d.Title)
	f.searched[rule.FeedTitle] = searched(d.FeedTitle)
	f.searched[rule.Author] = searched(d.Author)
	f.searched[rule.URL] = searched(d.URL)
	f.searched[rule.Host] = searched(host)
}

// folded returns the form in which values are compared.
func folded(s string) string { return strings.ToLower(strings.TrimSpace(s)) }

func searched(s string) string {
	if len(s) > maxSearched {
		end := maxSearched
		for end > 0 && !utf8.RuneStart(s[end]) {
			end--
		}
		s = s[:end]
	}
	return strings.ToLower(s)
}

// hostOf returns the host of a URL in lower case, or "".
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
}

// appendSegments appends the texts of those fields in which words are searched for.
func appendSegments(list []segment, d *Document, wordy fieldSet) []segment {
	add := func(f rule.Field, text string, stems []stem.Word) {
		if text == "" && stems == nil || !wordy.has(f) {
			return
		}
		if stems == nil {
			stems = stem.Words(text, d.Language)
		}
		list = append(list, segment{f, text, stems})
	}
	add(rule.Title, d.Title, d.TitleStems)
	for _, tag := range d.Tags[:min(len(d.Tags), maxTags)] {
		add(rule.Tags, tag, nil)
	}
	add(rule.Body, d.Text, d.Stems)
	add(rule.FeedTitle, d.FeedTitle, nil)
	add(rule.Author, d.Author, nil)
	add(rule.URL, wordsOfURL(d.URL), nil)
	return list
}

// maxTags bounds the publisher's categories that are examined. Legitimate items have about ten.
const maxTags = 100

// wordsOfURL separates the words of a URL by spaces, because [stem.Words] skips URLs.
func wordsOfURL(address string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(":/?&=_-@%", r) {
			return ' '
		}
		return r
	}, address)
}

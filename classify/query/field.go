package query

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// fieldNames are what may stand before a colon.
var fieldNames = []string{"title", "author", "feed", "cat", "topic", "lang", "host", "story", "is", "after", "before", "age"}

// otherNames are names that people know from elsewhere, with ours.
var otherNames = map[string]string{
	"category": "cat", "categories": "cat", "language": "lang", "feeds": "feed", "source": "feed",
	"site": "host", "domain": "host", "url": "host", "since": "after", "until": "before", "by": "author", "intitle": "title",
}

// Flags are the values of [Flag].
var Flags = []string{"adult", "affiliate", "duplicate", "muted", "spam", "sponsored", "starred"}

var named = regexp.MustCompile(`^([A-Za-z]+):`)

// field reads a field and its value. It returns nil if what comes is words.
func (p *parser) field() (Node, *Fault) {
	pos, match := p.at, named.FindStringSubmatch(p.text[p.at:])
	if match == nil {
		return nil, nil
	}
	name, rest := strings.ToLower(match[1]), p.text[p.at+len(match[0]):]
	if !slices.Contains(fieldNames, name) {
		if meant := nearest(name); meant != "" && rest != "" && !strings.ContainsAny(rest[:1], " /:\t\n") {
			return nil, faultAt(pos, "there is no field %s:; write %s:, or put it in quotes if these are words", name, meant)
		}
		return nil, nil
	}
	p.at += len(match[0])
	start, isQuoted := p.at, strings.HasPrefix(rest, `"`)
	if strings.HasPrefix(rest, "(") {
		return nil, faultAt(start, "%s: takes one value, not a group; repeat %s: before each, or use quotes", name, name)
	}
	value := ""
	if isQuoted {
		var fault *Fault
		if value, fault = p.quoted(); fault != nil {
			return nil, fault
		}
	} else {
		value = p.bare()
	}
	if strings.TrimSpace(value) == "" {
		return nil, faultAt(start, "%s: has no value; write it right after the colon", name)
	}
	if fault := p.outOfScope(name, value, pos); fault != nil {
		return nil, fault
	}
	return p.valued(name, value, start, isQuoted)
}

// valued returns the condition that a field has a value, which stands at pos.
func (p *parser) valued(name, value string, pos int, isQuoted bool) (Node, *Fault) {
	switch name {
	case "title", "author":
		if isQuoted {
			return phrase(Part(name), value), nil
		}
		return word(Part(name), value), nil
	case "after", "before", "age":
		return p.time(name, value, pos)
	}
	value = strings.TrimSpace(value)
	switch field := Field(name); field {
	case Language:
		if value = strings.ToLower(value); !isLanguage.MatchString(value) {
			return nil, faultAt(pos, "lang: takes a code of two letters, as lang:en")
		}
	case Host:
		if value = hostOf(value); value == "" {
			return nil, faultAt(pos, "host: takes the name of a host, as host:example.org")
		}
	case Flag:
		if value = strings.ToLower(value); !slices.Contains(Flags, value) {
			return nil, faultAt(pos, "is: takes one of %s", strings.Join(Flags, ", "))
		}
	}
	return Is{Field(name), value}, nil
}

var isLanguage = regexp.MustCompile(`^[a-z]{2,3}$`)

// hostOf returns the host that a person means, who may paste an address.
func hostOf(value string) string {
	if u, err := url.Parse(value); err == nil && u.Host != "" {
		value = u.Hostname()
	}
	return plainHost(value)
}

// nearest returns the field that a name is nearly that of, or empty. Short names
// are near to too many words.
func nearest(name string) string {
	if meant := otherNames[name]; meant != "" {
		return meant
	}
	for _, field := range fieldNames {
		if len(field) >= 5 && IsNear(name, field, 1) {
			return field
		}
	}
	return ""
}

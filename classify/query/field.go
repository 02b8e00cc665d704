package query

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// fieldNames are the names allowed before a colon.
var fieldNames = []string{"title", "author", "feed", "cat", "topic", "lang", "host", "story", "is", "after", "before", "age"}

// fieldAliases maps names used by other programs to field names.
var fieldAliases = map[string]string{
	"category": "cat", "categories": "cat", "language": "lang", "feeds": "feed", "source": "feed",
	"site": "host", "domain": "host", "url": "host", "since": "after", "until": "before", "by": "author", "intitle": "title",
}

// Flags are the values of [Flag].
var Flags = []string{"adult", "affiliate", "duplicate", "muted", "spam", "sponsored", "starred"}

var fieldPattern = regexp.MustCompile(`^([A-Za-z]+):`)

// field parses a field and its value. It returns nil if the input continues with words.
func (p *parser) field() (Node, *SyntaxError) {
	pos, match := p.at, fieldPattern.FindStringSubmatch(p.text[p.at:])
	if match == nil {
		return nil, nil
	}
	name, rest := strings.ToLower(match[1]), p.text[p.at+len(match[0]):]
	if !slices.Contains(fieldNames, name) {
		if meant := suggestField(name); meant != "" && rest != "" && !strings.ContainsAny(rest[:1], " /:\t\n") {
			return nil, syntaxError(pos, "there is no field %s:; write %s:, or use quotes to search for these words", name, meant)
		}
		return nil, nil
	}
	p.at += len(match[0])
	start, isQuoted := p.at, strings.HasPrefix(rest, `"`)
	if strings.HasPrefix(rest, "(") {
		return nil, syntaxError(start, "%s: takes one value, not a group; repeat %s: before each value, or use quotes", name, name)
	}
	value := ""
	if isQuoted {
		var fault *SyntaxError
		if value, fault = p.quoted(); fault != nil {
			return nil, fault
		}
	} else {
		value = p.bare()
	}
	if strings.TrimSpace(value) == "" {
		return nil, syntaxError(start, "%s: has no value; write it directly after the colon", name)
	}
	if fault := p.outOfScope(name, value, pos); fault != nil {
		return nil, fault
	}
	return p.fieldValue(name, value, start, isQuoted)
}

// fieldValue returns the condition for a field and its value; pos is the offset of the value.
func (p *parser) fieldValue(name, value string, pos int, isQuoted bool) (Node, *SyntaxError) {
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
			return nil, syntaxError(pos, "lang: takes a two-letter code, such as lang:en")
		}
	case Host:
		if value = hostOf(value); value == "" {
			return nil, syntaxError(pos, "host: takes a host name, such as host:example.org")
		}
	case Flag:
		if value = strings.ToLower(value); !slices.Contains(Flags, value) {
			return nil, syntaxError(pos, "is: takes one of %s", strings.Join(Flags, ", "))
		}
	}
	return FieldEquals{Field(name), value}, nil
}

var isLanguage = regexp.MustCompile(`^[a-z]{2,3}$`)

// hostOf returns the host in a value, which may be a pasted URL.
func hostOf(value string) string {
	if u, err := url.Parse(value); err == nil && u.Host != "" {
		value = u.Hostname()
	}
	return normalizeHost(value)
}

// suggestField returns the field that a misspelled name resembles, or "". Short field names resemble too many
// words.
func suggestField(name string) string {
	if meant := fieldAliases[name]; meant != "" {
		return meant
	}
	for _, field := range fieldNames {
		if len(field) >= 5 && WithinEdits(name, field, 1) {
			return field
		}
	}
	return ""
}

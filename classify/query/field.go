package query

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"feedmesh/classify/expression"
)

// A fieldInfo describes a field.
type fieldInfo struct {
	name    string
	aliases string // names used by other programs
	inScope string // why a scope cannot use it; empty: it can, and package classify gives its value
}

const beforeRules = "is not available before rules run; "

var fields = []fieldInfo{
	{"title", "intitle", ""},
	{"author", "by", ""},
	{"feed", "feeds source", ""},
	{"cat", "categories", beforeRules + "use category:NAME in conditions"},
	{"topic", "", beforeRules + "use topic:NAME in conditions"},
	{"lang", "language", ""},
	{"host", "site domain url", ""},
	{"story", "", beforeRules + "remove it"},
	{"is", "", beforeRules + "remove it"},
	{"label", "labels", "belongs to a client; remove it"},
	{"after", "since", ""},
	{"before", "until", ""},
	{"age", "", "changes with time, and scopes must not; use a day, such as after:2026-03-01"},
}

// categoryField is the name of [Category] in rules, which searches accept too.
const categoryField = "category"

// fieldNames are the names allowed before a colon.
var fieldNames = func() (names []string) {
	for _, f := range fields {
		names = append(names, f.name)
	}
	return append(names, categoryField)
}()

// Flags are the values of [Flag] that items have.
var Flags = []string{"adult", "affiliate", "duplicate", "muted", "spam", "sponsored", "starred"}

// Marks are the values of [Flag] that a client gives to items; rules give stars too.
var Marks = []string{"labelled", "starred", "unread"}

// flagsAndMarks are all values of [Flag].
var flagsAndMarks = slices.Compact(slices.Sorted(slices.Values(slices.Concat(Flags, Marks))))

var fieldPattern = regexp.MustCompile(`^[A-Za-z]+:`)

// checkName fails if a word begins with a misspelled field.
func (p *parser) checkName(t expression.Token) {
	name := strings.ToLower(strings.TrimSuffix(fieldPattern.FindString(t.Text), ":"))
	if name == "" {
		return
	}
	rest := p.Source[t.Offset+len(name)+1:]
	if meant := suggestField(name); meant != "" && rest != "" && !strings.ContainsAny(rest[:1], " /:\t\n") {
		p.Fail(t.Offset, "there is no field %s:; write %s:, or use quotes to search for these words", name, meant)
	}
}

// suggestField returns the field that a misspelled name resembles, or "". Short field names resemble too many
// words.
func suggestField(name string) string {
	for _, f := range fields {
		if slices.Contains(strings.Fields(f.aliases), name) {
			return f.name
		}
	}
	for _, f := range fields {
		if len(f.name) >= 5 && WithinEdits(name, f.name, 1) {
			return f.name
		}
	}
	return ""
}

// field returns the condition for a field and its value.
func (p *parser) field(t expression.Token) Node {
	name, value, _ := strings.Cut(t.Text, ":")
	name = strings.ToLower(name)
	pos, isQuoted := t.Offset+len(name)+1, strings.HasPrefix(value, `"`)
	if isQuoted {
		value = expression.Unquote(value)
	} else if strings.HasPrefix(value, "(") {
		p.Fail(pos, "%s: takes one value, not a group; repeat %s: before each value, or use quotes", name, name)
	}
	if strings.TrimSpace(value) == "" {
		p.Fail(pos, "%s: has no value; write it directly after the colon", name)
	}
	if name == categoryField {
		name = string(Category)
	}
	if p.inScope {
		p.checkScope(t, name, value)
	}
	if part := Part(name); parts[part] != nil {
		if isQuoted {
			return phrase(part, value)
		}
		return word(part, value)
	}
	switch name {
	case "after", "before", "age":
		return p.time(name, value, pos)
	}
	value = strings.TrimSpace(value)
	switch Field(name) {
	case Language:
		if value = strings.ToLower(value); !isLanguage.MatchString(value) {
			p.Fail(pos, "lang: takes a two-letter code, such as lang:en")
		}
	case Host:
		if value = hostOf(value); value == "" {
			p.Fail(pos, "host: takes a host name, such as host:example.org")
		}
	case Flag:
		if value = strings.ToLower(value); !slices.Contains(flagsAndMarks, value) {
			p.Fail(pos, "is: takes one of %s", strings.Join(flagsAndMarks, ", "))
		}
	}
	return FieldEquals{Field(name), value}
}

var isLanguage = regexp.MustCompile(`^[a-z]{2,3}$`)

// checkScope fails if a scope cannot contain the field with this value.
func (p *parser) checkScope(t expression.Token, name, value string) {
	for _, f := range fields {
		if f.name == name && f.inScope != "" {
			p.Fail(t.Offset, "%s: %s", name, f.inScope)
		}
	}
	if (name == "after" || name == "before") && strings.HasPrefix(value, "-") {
		p.Fail(t.Offset, "%s:%s changes with time, and scopes must not; use a day, such as %s:2026-03-01", name, value, name)
	}
}

// hostOf returns the host in a value, which may be a pasted URL.
func hostOf(value string) string {
	if u, err := url.Parse(value); err == nil && u.Host != "" {
		value = u.Hostname()
	}
	return normalizeHost(value)
}

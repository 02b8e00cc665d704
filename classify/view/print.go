package view

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"feedmesh/classify/expression"
)

// String returns the view as text. [Parse] of it yields the same view if the view is valid.
func (v View) String() string {
	var b strings.Builder
	write := func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }
	write("view %s", v.Name)
	if v.Title != "" {
		write(" %s", quote(v.Title))
	}
	if v.Readers != Owner {
		write(" for %s", v.Readers)
	}
	write(" = from ")
	for i, s := range v.From {
		if i > 0 {
			write(", ")
		}
		write("%s", s)
	}
	if len(v.From) == 0 {
		write("all")
	}
	if v.Join != nil {
		write(" join %s", Source{Other, v.Join.View})
		if v.Join.Within > 0 {
			write(" within %s", v.Join.Within)
		}
	}
	if v.Where != "" {
		write(" where %s", enclosed(v.Where))
	}
	if v.Once != PerItem {
		write(" once %s", v.Once)
	}
	if v.Unique > 0 {
		write(" unique %d%%", v.Unique)
	}
	if v.Window > 0 {
		write(" window %s", v.Window)
	}
	if v.Sort != Newest {
		write(" sort %s", v.Sort)
	}
	if v.Limit > 0 {
		write(" limit %d", v.Limit)
	}
	v.Set.print(write)
	return b.String()
}

func (s Set) print(write func(format string, args ...any)) {
	if s.Prefix != "" {
		write(" prefix %s", quote(s.Prefix))
	}
	for i, label := range s.Labels {
		if i == 0 {
			write(" labels ")
		} else {
			write(", ")
		}
		write("%s", value(label))
	}
}

// enclosed returns a condition in parentheses if it contains the name of a clause. The space keeps the last word from
// including the parenthesis.
func enclosed(where string) string {
	if conditionLength(where) < len(where) {
		return "(" + where + " )"
	}
	return where
}

// String returns the source as in the text of a view.
func (s Source) String() string { return string(s.Kind) + ":" + value(s.Value) }

// MarshalText returns the source as in the text of a view.
func (s Source) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText parses a source.
func (s *Source) UnmarshalText(text []byte) error {
	p := newParser(string(text))
	*s = p.source()
	return p.end()
}

// String returns the duration in the largest unit that divides it.
func (d Duration) String() string {
	for _, u := range units {
		if d%u.length == 0 && d != 0 {
			return strconv.FormatInt(int64(d/u.length), 10) + u.name
		}
	}
	return time.Duration(d).String()
}

// MarshalText implements [encoding.TextMarshaler].
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText parses a duration such as 36h, 3d or 2w.
func (d *Duration) UnmarshalText(text []byte) error {
	p := newParser(string(text))
	*d = p.duration("a duration")
	return p.end()
}

// A unit of durations; units are the longest first.
type unit struct {
	name   string
	length Duration
}

var units = []unit{{"w", week}, {"d", day}, {"h", Duration(time.Hour)}}

// value returns a value as one token.
func value(s string) string {
	if s == "" || strings.ContainsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(`,"=`, r) }) {
		return quote(s)
	}
	return s
}

func quote(s string) string { return expression.Quote(s, `"`) }

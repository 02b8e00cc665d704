package query

import (
	"regexp"
	"strconv"
	"time"
)

// time returns the condition for after:, before: or age:; pos is the offset of the value.
func (p *parser) time(name, value string, pos int) Node {
	if name == "age" {
		return p.age(value, pos)
	}
	t, ok := p.parseTime(value)
	if !ok {
		p.Fail(pos, "%s: takes a day, such as %s:2026-03-01, a time, such as 2026-03-01T12:00:00Z, or a time before now, such as -2d", name, name)
	}
	if name == "after" {
		return TimeRange{From: t}
	}
	return TimeRange{Until: t}
}

var agePattern = regexp.MustCompile(`^([<>]?)=?(\d.*)$`)

func (p *parser) age(value string, pos int) Node {
	if match := agePattern.FindStringSubmatch(value); match != nil {
		if t, ok := parseAgo(match[2], p.now); ok {
			if match[1] == ">" {
				return TimeRange{Until: t}
			}
			return TimeRange{From: t}
		}
	}
	p.Fail(pos, "age: takes a number and h, d, w, m or y, such as age:<2d or age:>1w")
	return nil
}

// layouts are the accepted forms of days and times.
var layouts = []string{time.DateOnly, time.RFC3339, "2006-01-02T15:04", "2006-01", "2006"}

// parseTime parses an absolute or relative time, in UTC.
func (p *parser) parseTime(value string) (time.Time, bool) {
	if len(value) > 1 && value[0] == '-' {
		return parseAgo(value[1:], p.now)
	}
	for _, layout := range layouts {
		if t, err := time.Parse(layout, value); err == nil {
			return t.UTC(), inYears(t.UTC())
		}
	}
	return time.Time{}, false
}

var durationPattern = regexp.MustCompile(`^(\d{1,4})([hdwmy])$`)

// parseAgo returns the time before now by a duration such as "2d".
func parseAgo(s string, now time.Time) (time.Time, bool) {
	match := durationPattern.FindStringSubmatch(s)
	if match == nil {
		return time.Time{}, false
	}
	n, _ := strconv.Atoi(match[1])
	t := now
	switch match[2] {
	case "h":
		t = now.Add(-time.Duration(n) * time.Hour)
	case "d":
		t = now.AddDate(0, 0, -n)
	case "w":
		t = now.AddDate(0, 0, -7*n)
	case "m":
		t = now.AddDate(0, -n, 0)
	case "y":
		t = now.AddDate(-n, 0, 0)
	}
	return t, inYears(t)
}

// inYears reports whether a time can be formatted and differs from the zero time, which stands for no bound.
func inYears(t time.Time) bool { return t.Year() > 1 && t.Year() < 10_000 }

package query

import (
	"regexp"
	"strconv"
	"time"
)

// time returns the condition that after:, before: or age: is, whose value stands
// at pos.
func (p *parser) time(name, value string, pos int) (Node, *Fault) {
	if name == "age" {
		return p.age(value, pos)
	}
	t, ok := p.moment(value)
	if !ok {
		return nil, faultAt(pos, "%s: takes a day, as %s:2026-03-01, a time, as 2026-03-01T12:00:00Z, or how long ago that is, as -2d", name, name)
	}
	if name == "after" {
		return Time{From: t}, nil
	}
	return Time{Until: t}, nil
}

var aged = regexp.MustCompile(`^([<>]?)=?(\d.*)$`)

func (p *parser) age(value string, pos int) (Node, *Fault) {
	if match := aged.FindStringSubmatch(value); match != nil {
		if t, ok := ago(match[2], p.now); ok {
			if match[1] == ">" {
				return Time{Until: t}, nil
			}
			return Time{From: t}, nil
		}
	}
	return nil, faultAt(pos, "age: takes a number and h, d, w, m or y, as age:<2d or age:>1w")
}

// layouts are those of days and times, as persons write them.
var layouts = []string{time.DateOnly, time.RFC3339, "2006-01-02T15:04", "2006-01", "2006"}

// moment returns the time that a person means, in UTC.
func (p *parser) moment(value string) (time.Time, bool) {
	if len(value) > 1 && value[0] == '-' {
		return ago(value[1:], p.now)
	}
	for _, layout := range layouts {
		if t, err := time.Parse(layout, value); err == nil {
			return t.UTC(), inYears(t.UTC())
		}
	}
	return time.Time{}, false
}

var lapse = regexp.MustCompile(`^(\d{1,4})([hdwmy])$`)

// ago returns the time that lies so long before now, as "2d".
func ago(s string, now time.Time) (time.Time, bool) {
	match := lapse.FindStringSubmatch(s)
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

// inYears reports whether a time can be written, and is not the zero time, which
// is no bound.
func inYears(t time.Time) bool { return t.Year() > 1 && t.Year() < 10_000 }

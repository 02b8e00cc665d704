package console

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"feedmesh/agent/web/locale"
	"feedmesh/agent/wire"
)

// A state is the state of a search page: the URL parameters that differ from their defaults.
type state map[string]string

// A param is a URL parameter.
type param struct {
	name    string
	max     int      // maximum length in characters; 0: a number
	values  []string // allowed values; nil: any
	of      string   // kind: "filter" narrows the search; "page" selects a page of it; "typing" is set during typing
	initial string   // default value, equal to none
	isDay   bool     // a date such as 2026-03-01
}

// flags are the item flags to which a search can be filtered.
var flags = []string{"starred", "sponsored", "muted"}

var params = []param{
	{name: "q", max: 1000},
	{name: "category", max: 64, of: "filter"},
	{name: "topic", max: 64, of: "filter"},
	{name: "feed", max: 64, of: "filter"},
	{name: "language", max: 8, of: "filter"},
	{name: "time", max: 8, of: "filter", values: []string{"day", "week", "month"}},
	{name: "day", max: 10, of: "filter", isDay: true}, // in UTC; overrides time
	{name: "show", max: 16, of: "filter", values: append([]string{"duplicates", "spam"}, flags...)},
	{name: "unique", max: 3, of: "filter", values: []string{"100", "90", "80", "60", "40", "20"}},
	{name: "semantic", max: 3, of: "filter", values: []string{"50", "100"}},
	{name: "sort", max: 8, values: []string{"best", "newest"}, initial: "best"},
	{name: "stories", max: 8, values: []string{"all"}},                      // all items of each story, also with a query
	{name: "typing", max: 8, of: "typing", values: []string{"word", "end"}}, // whether the last word of q is incomplete or complete
	{name: "cursor", max: 4096, of: "page"},
	{name: "page", of: "page"},
	{name: "at", of: "page"}, // time of the first page, in Unix seconds
}

// readState parses the query of a URL; unknown parameters are ignored. On errors, which are worded for users,
// the state contains the valid parameters.
func readState(query string) (state, error) {
	values, err := readParams(query, params)
	s := state(values)
	if s["cursor"] == "" {
		s = s.first()
	}
	return s, err
}

// readParams returns the parameters of a query that differ from their defaults. On errors, which are worded
// for users, the result contains the valid parameters.
func readParams(query string, params []param) (map[string]string, error) {
	values, err := url.ParseQuery(query)
	valid := map[string]string{}
	var errs []error
	if err != nil {
		errs = append(errs, errors.New("the URL is malformed"))
	}
	for _, p := range params {
		value := strings.TrimSpace(strings.ToValidUTF8(values.Get(p.name), "\uFFFD"))
		if value == "" || value == p.initial {
			continue
		}
		if invalid := p.check(value); invalid != nil {
			errs = append(errs, invalid)
			continue
		}
		valid[p.name] = value
	}
	if errs == nil {
		return valid, nil
	}
	return valid, errors.New(strings.ReplaceAll(errors.Join(errs...).Error(), "\n", "; "))
}

// addressOf returns the URL of a page with these parameters; empty values are omitted.
func addressOf(path string, params map[string]string) string {
	values := url.Values{}
	for name, value := range params {
		if value != "" {
			values.Set(name, value)
		}
	}
	if len(values) == 0 {
		return path
	}
	return path + "?" + values.Encode()
}

func (p param) check(value string) error {
	switch {
	case p.max == 0:
		if n, err := strconv.ParseInt(value, 10, 64); err != nil || n < 1 || n > 1<<40 {
			return fmt.Errorf("“%s” is not a valid number", p.name)
		}
	case utf8.RuneCountInString(value) > p.max:
		return fmt.Errorf("“%s” is longer than %s characters", p.name, locale.Count(int64(p.max)).In(locale.English))
	case p.isDay:
		if _, err := time.Parse(time.DateOnly, value); err != nil {
			return fmt.Errorf("“%s” is not a date: write 2026-03-01", p.name)
		}
	case p.values != nil && !slices.Contains(p.values, value):
		return fmt.Errorf("“%s” must be one of: %s", p.name, strings.Join(p.values, ", "))
	}
	return nil
}

// first returns the state of the first page.
func (s state) first() state { return s.without("page") }

// unfiltered returns the state without filters, on its first page.
func (s state) unfiltered() state { return s.first().without("filter") }

// without returns the state without the parameters of a kind.
func (s state) without(of string) state {
	next := maps.Clone(s)
	for _, p := range params {
		if p.of == of {
			delete(next, p.name)
		}
	}
	return next
}

// with returns the state with a changed parameter, on its first page. An empty value removes the parameter.
func (s state) with(name, value string) state {
	next := s.first()
	if next == nil {
		next = state{}
	}
	if value == "" {
		delete(next, name)
	} else {
		next[name] = value
	}
	return next
}

// more returns the state of the page that begins at the cursor. Relative times of all pages refer to the time
// of the first page: a cursor is valid for one search only.
func (s state) more(cursor string, now time.Time) state {
	next := s.with("cursor", cursor)
	next["page"] = strconv.Itoa(s.page() + 1)
	if s["time"] != "" {
		next["at"] = strconv.FormatInt(s.at(now).Unix(), 10)
	}
	return next
}

// URL returns the URL of the state's page.
func (s state) URL() string { return addressOf("/", s) }

// page returns the number of the page, from 1.
func (s state) page() int {
	n, _ := strconv.Atoi(s["page"])
	return max(n, 1)
}

// at returns the time of the first page.
func (s state) at(now time.Time) time.Time {
	if sec, err := strconv.ParseInt(s["at"], 10, 64); err == nil {
		return time.Unix(sec, 0).UTC()
	}
	return now.UTC().Truncate(time.Second)
}

// batchSize is the number of items on a page.
const pageSize = 20

// search returns the API search of the page.
func (s state) search(now time.Time) wire.Search {
	q := wire.Search{
		Query: s["q"], Category: s["category"], Topic: s["topic"], Feed: s["feed"], Language: s["language"],
		Spam: s["show"] == "spam", Duplicates: s["show"] != "", Once: s.once(), Typing: s["typing"] != "",
		Sort: "best", Facets: true, Limit: pageSize, Cursor: s["cursor"],
	}
	if s["typing"] == "end" {
		q.Query += " " // so that the last word is not matched as a prefix
	}
	if slices.Contains(flags, s["show"]) {
		q.Flag = s["show"]
	}
	if s["sort"] == "newest" || s["q"] == "" {
		q.Sort = "newest"
	}
	q.Unique, _ = strconv.Atoi(s["unique"])
	q.Semantic, _ = strconv.Atoi(s["semantic"])
	q.After, q.Before = s.between(now)
	return q
}

// once reports whether only one item of each story is shown.
func (s state) once() bool { return s["q"] != "" && s["show"] == "" && s["stories"] == "" }

// daysOf maps values of time to days.
var daysOf = map[string]int{"day": 1, "week": 7, "month": 30}

// between returns the range of publication times, after inclusive and before exclusive. A zero time is no
// bound.
func (s state) between(now time.Time) (after, before time.Time) {
	if day, err := time.Parse(time.DateOnly, s["day"]); err == nil {
		return day, day.AddDate(0, 0, 1)
	}
	if days := daysOf[s["time"]]; days > 0 {
		after = s.at(now).AddDate(0, 0, -days)
	}
	return after, before
}

// A form is the search field with the parameters that a new search keeps.
type form struct {
	Query  string
	Keep   []field
	Faulty bool // the query has a syntax error; the page has an element with the ID "fault"
}

type field struct{ Name, Value string }

func (s state) form() form {
	f := form{Query: s["q"]}
	for _, p := range params {
		if value := s[p.name]; value != "" && p.name != "q" && p.of != "page" && p.of != "typing" {
			f.Keep = append(f.Keep, field{p.name, value})
		}
	}
	return f
}

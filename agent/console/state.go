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

	"feedmesh/agent/api"
)

// A state is what a search page shows, as its address says it: the value of
// each parameter that is not at its default.
type state map[string]string

// A param is a parameter of a search's address.
type param struct {
	name    string
	max     int      // longest value, in characters; 0: a number
	values  []string // what it may be; nil: anything
	of      string   // "filter" narrows the search; "page" says which page of it; "typing" ends with typing
	initial string   // value that is the same as none
	isDay   bool     // as in 2026-03-01
}

// flags are those of items that a search may show alone.
var flags = []string{"starred", "sponsored", "muted"}

var params = []param{
	{name: "q", max: 1000},
	{name: "category", max: 64, of: "filter"},
	{name: "topic", max: 64, of: "filter"},
	{name: "feed", max: 64, of: "filter"},
	{name: "language", max: 8, of: "filter"},
	{name: "time", max: 8, of: "filter", values: []string{"day", "week", "month"}},
	{name: "day", max: 10, of: "filter", isDay: true}, // in UTC; it goes before time
	{name: "show", max: 16, of: "filter", values: append([]string{"duplicates", "spam"}, flags...)},
	{name: "sort", max: 8, values: []string{"best", "newest"}, initial: "best"},
	{name: "stories", max: 8, values: []string{"all"}},                      // all items of each, though words were asked for
	{name: "typing", max: 8, of: "typing", values: []string{"word", "end"}}, // of q: its last word may go on, or is whole
	{name: "cursor", max: 4096, of: "page"},
	{name: "page", of: "page"},
	{name: "at", of: "page"}, // when the first page was made, in Unix seconds
}

// readState reads the query of an address. What it does not know it ignores. The
// error says what is wrong in words; the state then has what was sound.
func readState(query string) (state, error) {
	values, err := readParams(query, params)
	s := state(values)
	if s["cursor"] == "" {
		s = s.first()
	}
	return s, err
}

// readParams returns the values in an address that are not at their default. The
// error says what is wrong with it in words; the others are sound.
func readParams(query string, params []param) (map[string]string, error) {
	values, err := url.ParseQuery(query)
	sound := map[string]string{}
	var faults []error
	if err != nil {
		faults = append(faults, errors.New("its address is damaged"))
	}
	for _, p := range params {
		value := strings.TrimSpace(strings.ToValidUTF8(values.Get(p.name), "\uFFFD"))
		if value == "" || value == p.initial {
			continue
		}
		if fault := p.check(value); fault != nil {
			faults = append(faults, fault)
			continue
		}
		sound[p.name] = value
	}
	if faults == nil {
		return sound, nil
	}
	return sound, errors.New(strings.ReplaceAll(errors.Join(faults...).Error(), "\n", "; "))
}

// addressOf returns the address of a page whose parameters have these values, "" for
// none.
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
			return fmt.Errorf("“%s” is not a number that makes sense", p.name)
		}
	case utf8.RuneCountInString(value) > p.max:
		return fmt.Errorf("“%s” is longer than %s characters", p.name, count(int64(p.max)))
	case p.isDay:
		if _, err := time.Parse(time.DateOnly, value); err != nil {
			return fmt.Errorf("“%s” is no day: write it as 2026-03-01", p.name)
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

// without returns the state less the parameters of a sort.
func (s state) without(of string) state {
	next := maps.Clone(s)
	for _, p := range params {
		if p.of == of {
			delete(next, p.name)
		}
	}
	return next
}

// with returns the state with another value for a parameter, on its first page.
// An empty value takes the parameter away.
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

// more returns the state of the page that begins at the cursor. All pages
// reckon times from when the first was made: a cursor holds for one search.
func (s state) more(cursor string, now time.Time) state {
	next := s.with("cursor", cursor)
	next["page"] = strconv.Itoa(s.page() + 1)
	if s["time"] != "" {
		next["at"] = strconv.FormatInt(s.at(now).Unix(), 10)
	}
	return next
}

// URL returns the address of the state's page.
func (s state) URL() string { return addressOf("/", s) }

// page returns the number of the page, from 1.
func (s state) page() int {
	n, _ := strconv.Atoi(s["page"])
	return max(n, 1)
}

// at returns when the first page was made.
func (s state) at(now time.Time) time.Time {
	if sec, err := strconv.ParseInt(s["at"], 10, 64); err == nil {
		return time.Unix(sec, 0).UTC()
	}
	return now.UTC().Truncate(time.Second)
}

// pageSize is how many items a page has.
const pageSize = 20

// search returns the search that the page shows.
func (s state) search(now time.Time) api.Search {
	q := api.Search{
		Query: s["q"], Category: s["category"], Topic: s["topic"], Feed: s["feed"], Language: s["language"],
		Spam: s["show"] == "spam", Duplicates: s["show"] != "", Once: s.once(), Typing: s["typing"] != "",
		Sort: "best", Facets: true, Limit: pageSize, Cursor: s["cursor"],
	}
	if s["typing"] == "end" {
		q.Query += " " // so it is not taken for the begin of a word
	}
	if slices.Contains(flags, s["show"]) {
		q.Flag = s["show"]
	}
	if s["sort"] == "newest" || s["q"] == "" {
		q.Sort = "newest"
	}
	q.After, q.Before = s.between(now)
	return q
}

// once reports whether of each story only one item is shown.
func (s state) once() bool { return s["q"] != "" && s["show"] == "" && s["stories"] == "" }

// daysOf says how many days back a value of time reaches.
var daysOf = map[string]int{"day": 1, "week": 7, "month": 30}

// between returns when what is shown was published: at or after, and before. Zero
// is no bound.
func (s state) between(now time.Time) (after, before time.Time) {
	if day, err := time.Parse(time.DateOnly, s["day"]); err == nil {
		return day, day.AddDate(0, 0, 1)
	}
	if days := daysOf[s["time"]]; days > 0 {
		after = s.at(now).AddDate(0, 0, -days)
	}
	return after, before
}

// A form is the search field and what a new search keeps of the state.
type form struct {
	Query  string
	Keep   []field
	Faulty bool // the query can't be understood; the page has an element with the ID "fault"
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

// Package view implements the language of views. A [View] is a named selection of items from feeds and from other
// views, which others may subscribe to and build on. It is written as text ([Parse], [View.String]) or as JSON; both
// describe the same view:
//
//	view security-ru = from tag:Хабр, view:it-news where cat:security lang:ru once story window 24h
//
// [Order] sorts views so that each follows those that it reads. Package network finds the views of an item.
//
// Source: the algebra of filter, union, window and join of RoSeS (Creus Tomàs, Amann, Travers, Vodislav: RoSeS: A
// continuous content-based query engine for RSS feeds, 2011).
package view

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"feedmesh/classify/expression"
	"feedmesh/classify/query"
)

// A View selects items. Its fields are those of its text form, in their order there. An item is a member of the view if
// one of From has it, its story is that of an item of Join, and Where matches; Once and Unique leave out repetitions,
// Window ends a membership.
type View struct {
	Name    string   `json:"name,omitempty"`
	Title   string   `json:"title,omitempty"` // shown instead of the name
	Readers Readers  `json:"readers,omitempty"`
	From    []Source `json:"from,omitempty"` // empty: all items
	Join    *Join    `json:"join,omitempty"`
	Where   string   `json:"where,omitempty"`  // in the search language; empty: all. Spam, muted items and duplicates only if it selects them; duplicates with Once too
	Once    Once     `json:"once,omitempty"`   // only the first item of each
	Unique  int      `json:"unique,omitempty"` // percentage of common shingles from which an item repeats a member, 1 to 100; 0: off
	Window  Duration `json:"window,omitempty"` // after their publication, items leave; 0: never
	Sort    Sort     `json:"sort,omitempty"`
	Limit   int      `json:"limit,omitempty"` // members that are shown, the first by Sort; 0: all
	Set     Set      `json:"set,omitzero"`
}

// Readers are the people who may read a view, and build on it.
type Readers string

const (
	Owner    Readers = "" // only the person who made it
	People   Readers = "people"
	Everyone Readers = "everyone" // clients without a login too
)

// A Source has items that a view reads.
type Source struct {
	Kind  Kind
	Value string
}

// A Kind is a kind of [Source].
type Kind string

const (
	Feed  Kind = "feed" // by its ID
	Tag   Kind = "tag"  // feeds with this tag
	Host  Kind = "host" // items whose address is on this host or below it
	Other Kind = "view" // members of another view
)

var kinds = []Kind{Feed, Tag, Host, Other}

// A Join restricts a view to items whose story is also that of a member of another view.
type Join struct {
	View   string   `json:"view"`
	Within Duration `json:"within,omitempty"` // between the publication of both items; 0: any time
}

// Once selects one of several items.
type Once string

const (
	PerItem      Once = ""
	PerDuplicate Once = "duplicate" // the first of an item and its duplicates
	PerStory     Once = "story"     // the first of a story
)

// A Sort is an order of members.
type Sort string

const (
	Newest Sort = "" // last published first
	Oldest Sort = "oldest"
	Best   Sort = "best" // by rule score and coverage of the story
)

// A Set changes how members are shown.
type Set struct {
	Prefix string   `json:"prefix,omitempty"` // before each title
	Labels []string `json:"labels,omitempty"`
}

// A Duration is a number of hours, days or weeks, in text such as 36h, 3d or 2w.
type Duration time.Duration

const (
	day  = Duration(24 * time.Hour)
	week = 7 * day
)

// Limits of a view.
const (
	MaxName    = 64   // bytes
	MaxTitle   = 200  // characters, of titles and prefixes
	MaxSources = 1000 //
	maxValue   = 200  // bytes of a tag, host or ID
	maxLabels  = 20   //
	maxLimit   = 1000 //
	maxText    = 128 << 10
	maxWindow  = 520 * week
)

var isName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]*$`)

// Check returns an error that states what is wrong with a view by itself; [Order] checks what it reads.
func (v View) Check() error {
	if err := checkName(v.Name); err != nil {
		return err
	}
	if err := cmp.Or(checkTitle(v.Title), checkTitle(v.Set.Prefix)); err != nil {
		return err
	}
	if len(v.From) > MaxSources {
		return fmt.Errorf("a view reads at most %d sources, this one %d: give the feeds a tag", MaxSources, len(v.From))
	}
	for _, s := range v.From {
		if err := s.check(); err != nil {
			return err
		}
	}
	if v.Join != nil {
		if err := checkName(v.Join.View); err != nil {
			return err
		}
		if err := v.Join.Within.check("within"); err != nil {
			return err
		}
	}
	if _, err := v.Condition(time.Now()); err != nil {
		return fmt.Errorf("where: %w", err)
	}
	return v.checkOutput()
}

// checkOutput checks the clauses after Where.
func (v View) checkOutput() error {
	switch {
	case !slices.Contains([]Readers{Owner, People, Everyone}, v.Readers):
		return fmt.Errorf("readers are people or everyone, not %q", v.Readers)
	case !slices.Contains([]Once{PerItem, PerDuplicate, PerStory}, v.Once):
		return fmt.Errorf("once is duplicate or story, not %q", v.Once)
	case !slices.Contains([]Sort{Newest, Oldest, Best}, v.Sort):
		return fmt.Errorf("sort is oldest or best, or absent for the newest first, not %q", v.Sort)
	case v.Unique < 0 || v.Unique > 100:
		return fmt.Errorf("unique is a percentage from 1 to 100, not %d", v.Unique)
	case v.Limit < 0 || v.Limit > maxLimit:
		return fmt.Errorf("limit is a number from 1 to %d, not %d", maxLimit, v.Limit)
	case len(v.Set.Labels) > maxLabels:
		return fmt.Errorf("a view sets at most %d labels", maxLabels)
	}
	for _, label := range v.Set.Labels {
		if err := checkLabel(label); err != nil {
			return err
		}
	}
	return v.Window.check("window")
}

func checkName(name string) error {
	if len(name) > MaxName || !isName.MatchString(name) {
		return fmt.Errorf("%q is no name of a view: it has lower-case letters, digits and hyphens, at most %d", name, MaxName)
	}
	return nil
}

func checkTitle(title string) error {
	if utf8.RuneCountInString(title) > MaxTitle {
		return fmt.Errorf("a title or prefix has at most %d characters", MaxTitle)
	}
	return nil
}

func checkLabel(label string) error {
	if strings.TrimSpace(label) != label || label == "" || len(label) > maxValue {
		return fmt.Errorf("%q is no label: it has 1 to %d bytes and no space around it", label, maxValue)
	}
	return nil
}

func (s Source) check() error {
	switch {
	case !slices.Contains(kinds, s.Kind):
		return fmt.Errorf("%q is no source: a view reads feed:ID, tag:NAME, host:NAME or view:NAME", s)
	case s.Kind == Other:
		return checkName(s.Value)
	case strings.TrimSpace(s.Value) != s.Value || s.Value == "" || len(s.Value) > maxValue:
		return fmt.Errorf("%s: takes a value of 1 to %d bytes without space around it", s.Kind, maxValue)
	case s.Kind == Host && !slices.Contains(query.Hosts("//"+s.Value), s.Value):
		return fmt.Errorf("%q is no host: write example.org, without www., scheme and path", s.Value)
	}
	return nil
}

func (d Duration) check(clause string) error {
	if d < 0 || d > maxWindow || d%Duration(time.Hour) != 0 {
		return fmt.Errorf("%s takes whole hours, days or weeks, such as 36h, 3d or 2w, at most %s", clause, maxWindow)
	}
	return nil
}

// Condition returns the tree of Where, nil for all items. now is the reference time of relative values. The error is a
// [*expression.SyntaxError].
func (v View) Condition(now time.Time) (query.Node, error) {
	n, err := query.Parse(v.Where, now)
	if err != nil {
		return nil, err
	}
	for n := range expression.Walk(n) {
		f, is := n.(query.FieldEquals)
		if is && (f.Field == query.Label || f.Field == query.Flag && slices.Contains(personalMarks, f.Value)) {
			return nil, &expression.SyntaxError{Message: f.String() + " depends on the person who reads; a view has the same items for all: remove it"}
		}
	}
	return n, nil
}

// personalMarks are the marks that only a person gives to an item. Rules give stars too.
var personalMarks = slices.DeleteFunc(slices.Clone(query.Marks), func(mark string) bool { return slices.Contains(query.Flags, mark) })

// Reads returns the names of the views that v reads, in order, each once.
func (v View) Reads() (names []string) {
	for _, s := range v.From {
		if s.Kind == Other {
			names = append(names, s.Value)
		}
	}
	if v.Join != nil {
		names = append(names, v.Join.View)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

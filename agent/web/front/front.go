// Package front serves the front page, the page of what a client follows and mutes, and briefings. [Handler] returns the handler of
// all, in the layout of the console. They work without scripts.
package front

import (
	"embed"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"feedmesh/agent/service"
	"feedmesh/agent/service/front"
	"feedmesh/agent/web/console"
	"feedmesh/agent/web/locale"
	"feedmesh/agent/wire"
	"feedmesh/classify/language"
	"feedmesh/storage"
)

//go:embed templates
var templates embed.FS

// maxForm bounds a form in bytes.
const maxForm = 16 << 10

type pages struct {
	*service.Service
	*console.Layout
}

// Handler returns the handler of all pages. Forms change data: the caller must reject cross-site requests, as package
// rest does.
func Handler(s *service.Service) http.Handler {
	p := &pages{s, console.NewLayout(s, templates)}
	mux := http.NewServeMux()
	mux.HandleFunc(console.NewsPath, p.news)
	mux.HandleFunc(console.FollowsPath, p.follows)
	mux.HandleFunc("POST "+console.FollowsPath, p.change)
	mux.HandleFunc("GET "+BriefingPath, p.briefing(s.Briefings.Cached))
	mux.HandleFunc("POST "+BriefingPath, p.briefing(s.Briefings.Get))
	return p.Handler(mux, "POST "+BriefingPath)
}

// A newsPage is a front page.
type newsPage struct {
	Heading locale.Text
	Day     string // date of an earlier day, such as 2026-03-01; empty: today
	Days    []link
	Since   *locale.Timestamp
	You     []card
	Lead    []card
	Parts   []section
	Hidden  locale.Text // number of muted stories; nil: none
	NoIndex bool
	Back    string // URL of this page
	Follows string // URL of the page of follows and mutes
}

type link struct {
	Label locale.Text
	URL   string
	Here  bool
}

// A section has the stories of something.
type section struct {
	ID, Title, URL string
	Kind           locale.Text
	Key            string // kind and value, for forms
	Followed       bool
	Cards          []card
}

// A card is a story, or an item without one.
type card struct {
	front.Card
	Title    locale.Text
	NewItems locale.Text // their number
	URL      string
	Lang     string
	Number   int64 // of items
	Age      *locale.Timestamp
	Language locale.Text // of the linked story
	LinkURL  string
	Lines    []line // newest events of a followed story
	Follow   bool   // it is among the followed stories
	Large    bool
}

type line struct {
	Title locale.Text
	At    *locale.Timestamp
	New   bool
}

const dayFormat = "2006-01-02"

// news shows the front page of today or of the day in the parameter day.
func (p *pages) news(w http.ResponseWriter, r *http.Request) {
	now := p.Now().UTC()
	day, begin := r.FormValue("day"), storage.Day(now)
	if day != "" {
		var err error
		begin, err = time.Parse(dayFormat, day)
		if oldest := storage.Day(now).AddDate(0, 0, 1-front.Days); err != nil || begin.Before(oldest) || begin.After(now) {
			http.Redirect(w, r, console.NewsPath, http.StatusSeeOther)
			return
		}
	}
	today := begin.Equal(storage.Day(now))
	var found front.Page
	var err error
	if today {
		found, err = p.Front.Today(r.Context())
	} else {
		found, err = p.Front.Day(r.Context(), begin)
	}
	if err != nil {
		p.Error(w, r, err, locale.T("The store"), locale.T("News"), console.NewsPath)
		return
	}
	main := view(found, now, console.ShowsPictures(r))
	main.Heading, main.Back = locale.T("News"), console.NewsPath
	if !today {
		main.Day = day
		main.Heading, main.Back = locale.T("News of %s", locale.Date(begin, "Monday, 2 January")), dayURL(begin)
	}
	for n := range front.Days {
		at := storage.Day(now).AddDate(0, 0, -n)
		label := locale.Date(at, "Mon 2 Jan")
		switch n {
		case 0:
			label = locale.T("Today")
		case 1:
			label = locale.T("Yesterday")
		}
		main.Days = append(main.Days, link{label, dayURL(at), at.Equal(begin)})
	}
	main.Days[0].URL = console.NewsPath
	p.Render(w, r, http.StatusOK, "news", main.Heading, main)
}

func dayURL(day time.Time) string {
	return console.NewsPath + "?" + url.Values{"day": {day.Format(dayFormat)}}.Encode()
}

// view returns a front page as it is shown.
func view(found front.Page, now time.Time, pictures bool) newsPage {
	page := newsPage{Since: locale.NewTimestamp(found.Since, now), NoIndex: found.NoIndex, Follows: console.FollowsPath}
	if found.Hidden > 0 {
		page.Hidden = locale.N(int64(found.Hidden), "%d story hidden by", "%d stories hidden by")
	}
	cards := func(all []front.Card) (list []card) {
		for n, c := range all {
			if !pictures {
				c.Picture = ""
			}
			shown := cardOf(c, now)
			shown.Large = n == 0
			list = append(list, shown)
		}
		return list
	}
	page.You, page.Lead = cards(found.Followed), cards(found.Lead)
	for n := range page.You {
		page.You[n].Follow = true
	}
	for n, s := range found.Sections {
		page.Parts = append(page.Parts, section{
			ID: "section-" + string(rune('a'+n)), Title: s.Title, URL: listURL(s.Kind, s.Value), Kind: kindName(s.Kind), Key: s.Kind + " " + s.Value,
			Followed: !s.Chosen, Cards: cards(s.Cards),
		})
	}
	return page
}

func cardOf(c front.Card, now time.Time) card {
	shown := card{Card: c, URL: storyURL(c.StoryID), Lang: console.Lang(c.Partition), Number: int64(c.Items), Age: locale.NewTimestamp(c.Last, now)}
	shown.Title, shown.NewItems = console.TitleOrDefault(c.Title), locale.N(int64(c.New), "%d new", "%d new")
	if c.NewMore {
		shown.NewItems = locale.N(int64(c.New), "%d+ new", "%d+ new")
	}
	if c.StoryID == "" {
		shown.URL = "/items/" + url.PathEscape(c.ItemID)
	}
	if c.Link != nil {
		shown.Language, shown.LinkURL = locale.Composed(language.Name(c.Link.Language)), storyURL(c.Link.ID)
	}
	for _, e := range c.Events {
		shown.Lines = append(shown.Lines, line{console.TitleOrDefault(e.Title), locale.NewTimestamp(e.At, now), e.New})
	}
	return shown
}

func storyURL(id string) string { return "/stories/" + url.PathEscape(id) }

// listURL returns the page with all stories or items of a section.
func listURL(kind, value string) string {
	switch kind {
	case storage.FollowStory:
		return storyURL(value)
	case storage.FollowCategory, storage.FollowTopic:
		return "/stories?" + url.Values{kind: {value}}.Encode()
	case storage.FollowFeed:
		return "/?" + url.Values{"feed": {value}}.Encode()
	case storage.FollowPublisher:
		return "/?" + url.Values{"q": {"host:" + value}}.Encode()
	}
	return "/?" + url.Values{"q": {`title:"` + strings.ReplaceAll(value, `"`, " ") + `"`}}.Encode()
}

// A followKind is a kind of what can be followed.
type followKind struct {
	kind string
	name locale.Text
}

// kinds are what can be followed, in the order of the form.
var kinds = []followKind{
	{storage.FollowCategory, locale.T("Category")}, {storage.FollowTopic, locale.T("Topic")}, {storage.FollowWord, locale.T("Word")},
	{storage.FollowPublisher, locale.T("Publisher")}, {storage.FollowFeed, locale.T("Feed")}, {storage.FollowStory, locale.T("Story")},
}

func kindName(kind string) locale.Text {
	for _, k := range kinds {
		if k.kind == kind {
			return k.name
		}
	}
	return locale.Data(kind)
}

// A followsPage shows what a client follows and mutes.
type followsPage struct {
	Problem         locale.Text
	Kinds           []link // label and value of the kinds that can be typed
	Kind, Value     string
	Followed, Muted []row
	Back            string
}

type row struct {
	Kind       locale.Text
	Title, URL string
	Key        string // kind and value, for forms
}

func (p *pages) follows(w http.ResponseWriter, r *http.Request) {
	p.showFollows(w, r, http.StatusOK, followsPage{})
}

func (p *pages) showFollows(w http.ResponseWriter, r *http.Request, status int, main followsPage) {
	all, err := p.Front.Follows(r.Context())
	if err != nil {
		p.Error(w, r, err, locale.T("The store"), locale.T("News"), console.NewsPath)
		return
	}
	titles, err := p.Front.Titles(r.Context(), all)
	if err != nil {
		p.Error(w, r, err, locale.T("The store"), locale.T("News"), console.NewsPath)
		return
	}
	for n, f := range all {
		shown := row{kindName(f.Kind), titles[n], listURL(f.Kind, f.Value), f.Kind + " " + f.Value}
		if f.Mute {
			main.Muted = append(main.Muted, shown)
		} else {
			main.Followed = append(main.Followed, shown)
		}
	}
	for _, k := range kinds {
		if k.kind != storage.FollowStory && k.kind != storage.FollowFeed { // their pages have forms
			main.Kinds = append(main.Kinds, link{k.name, k.kind, k.kind == main.Kind})
		}
	}
	main.Back = console.FollowsPath
	p.Render(w, r, status, "follows", locale.T("Follow and mute"), main)
}

// change follows, mutes or removes something. The field change has "follow", "mute" or "remove", a kind and a value;
// without kind and value, these are fields.
func (p *pages) change(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	kind, value := r.PostFormValue("kind"), strings.TrimSpace(r.PostFormValue("value"))
	do, rest, named := strings.Cut(r.PostFormValue("change"), " ")
	if named {
		kind, value, _ = strings.Cut(rest, " ")
	}
	known := slices.ContainsFunc(kinds, func(k followKind) bool { return k.kind == kind })
	if !known || len(value) > maxValue || !slices.Contains([]string{"follow", "mute", "remove"}, do) {
		p.showFollows(w, r, http.StatusUnprocessableEntity, followsPage{Problem: locale.T("This can't be followed or muted."), Kind: kind, Value: value})
		return
	}
	var err error
	if do == "remove" {
		_, err = p.Follows.Remove(r.Context(), wire.FollowName{Kind: kind, Value: value})
	} else {
		_, err = p.Follows.Put(r.Context(), wire.PutFollowRequest{Kind: kind, Value: value, Body: wire.FollowSetting{Mute: do == "mute"}})
	}
	switch {
	case service.KindOf(err) == service.KindInvalid:
		p.showFollows(w, r, http.StatusUnprocessableEntity, followsPage{Problem: locale.T("Type a word, a name, or the host of a publisher."), Kind: kind, Value: value})
	case err != nil && (do != "remove" || !isMissing(err)):
		p.Error(w, r, err, locale.T("The store"), locale.T("Follow and mute"), console.FollowsPath)
	default:
		http.Redirect(w, r, backTo(r.PostFormValue("back")), http.StatusSeeOther)
	}
}

// maxValue bounds the value of a follow in bytes.
const maxValue = 200

// isMissing reports that what is removed does not exist, as after a second click.
func isMissing(err error) bool { return errors.Is(err, storage.ErrNotFound) }

// backTo returns the URL of a page with these forms, given as a field: no other page is redirected to.
func backTo(address string) string {
	u, err := url.Parse(address)
	if err == nil && u.Host == "" && u.Scheme == "" && (u.Path == console.NewsPath || u.Path == console.FollowsPath || strings.HasPrefix(u.Path, "/stories/")) {
		return u.String()
	}
	return console.NewsPath
}

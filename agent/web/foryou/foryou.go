// Package foryou serves the page of suggestions: what a person may want to read, why, and what was learned. [Handler]
// returns the handler of all its pages, in the layout of the console. They work without scripts.
package foryou

import (
	"embed"
	"encoding/json"
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"feedmesh/agent/chart"
	"feedmesh/agent/service"
	"feedmesh/agent/web/console"
	"feedmesh/agent/web/locale"
	"feedmesh/agent/wire"
	"feedmesh/storage"
)

//go:embed templates
var templates embed.FS

// Path is the path of the page. Those of its forms begin with it.
const Path = "/for-you"

const (
	maxForm  = 4 << 10 // bytes
	listed   = 50      // items of the list
	charted  = 10      // bars of a chart
	timeForm = "2 Jan 2006, 15:04 UTC"
)

type pages struct {
	*service.Service
	*console.Layout
}

// Handler returns the handler of all pages. Forms change data: the caller must reject cross-site requests, as package
// rest does.
func Handler(s *service.Service) http.Handler {
	p := &pages{s, console.NewLayout(s, templates)}
	mux := http.NewServeMux()
	mux.HandleFunc(Path, p.list)
	mux.HandleFunc(Path+"/interests.json", p.export)
	mux.HandleFunc("POST "+Path+"/signal", p.form(func(r *http.Request) error {
		signal := wire.InterestSignal{ID: r.PostFormValue("id"), Signal: r.PostFormValue("signal")}
		_, err := s.Interests.Signal(r.Context(), wire.InterestSignalRequest{Body: signal})
		return err
	}))
	mux.HandleFunc("POST "+Path+"/switch", p.form(func(r *http.Request) error {
		on := wire.InterestSwitch{On: r.PostFormValue("on") == "yes"}
		_, err := s.Interests.Switch(r.Context(), wire.SwitchInterestsRequest{Body: on})
		return err
	}))
	mux.HandleFunc("POST "+Path+"/forget", p.form(func(r *http.Request) error {
		_, err := s.Interests.Forget(r.Context(), wire.None{})
		return err
	}))
	return p.Handler(mux)
}

// form returns the handler of a form, which leads back to the page.
func (p *pages) form(change func(*http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
		if err := change(r); err != nil {
			p.fail(w, r, err)
			return
		}
		http.Redirect(w, r, Path, http.StatusSeeOther)
	}
}

// fail shows the page with an error in place of the list.
func (p *pages) fail(w http.ResponseWriter, r *http.Request, err error) {
	if errors.Is(err, storage.ErrConflict) {
		p.Render(w, r, http.StatusConflict, "for-you", locale.T("For you"), page{Problem: locale.Composed(err.Error()), Stored: true})
		return
	}
	p.Log.Error("suggestions failed", "err", err)
	p.Render(w, r, http.StatusServiceUnavailable, "for-you", locale.T("For you"), page{Problem: locale.T("the store cannot be reached at the moment, retry in a minute")})
}

// A page shows suggestions and what was learned.
type page struct {
	On      bool
	Stored  bool // something was learned
	Problem locale.Text
	Items   []row
	Days    int64 // with opened items
	Opened  int64 // on these days
	ByDay   template.HTML
	Charts  []barChart
	Silent  []silentRow
}

type row struct {
	ID, URL, Lang, Why, ISO string
	Title, Feed, Time       locale.Text
	New                     bool
}

// A silentRow is a feed that published nothing for unusually long.
type silentRow struct {
	URL           string
	Title         locale.Text
	Silent, Usual float64 // seconds
}

type barChart struct {
	Heading locale.Text
	SVG     template.HTML
}

// list shows the suggestions.
func (p *pages) list(w http.ResponseWriter, r *http.Request) {
	learned, err := p.Interests.Export(r.Context(), wire.None{})
	if err != nil {
		p.fail(w, r, err)
		return
	}
	l := locale.From(r)
	main := page{On: learned.On, Stored: len(learned.Signals) > 0, Days: int64(len(learned.Days)), Charts: charts(learned, l)}
	main.ByDay, main.Opened = byDay(learned.Days, l)
	suggested, err := p.Interests.Suggest(r.Context(), wire.SuggestionQuery{Limit: listed})
	if err != nil {
		p.fail(w, r, err)
		return
	}
	silent, err := p.Interests.Silent(r.Context())
	if err != nil {
		p.fail(w, r, err)
		return
	}
	for _, f := range silent {
		main.Silent = append(main.Silent, silentRow{"/feeds/" + url.PathEscape(f.ID), console.TitleOrDefault(f.Title), f.Silent.Seconds(), f.Usual.Seconds()})
	}
	ids := make([]string, len(suggested.Items))
	for n, s := range suggested.Items {
		ids[n] = s.ID
		main.Items = append(main.Items, newRow(s))
	}
	if main.On {
		p.Interests.Listed(r.Context(), ids)
	}
	p.Render(w, r, http.StatusOK, "for-you", locale.T("For you"), main)
}

func newRow(s wire.Suggestion) row {
	address := "/read?" + url.Values{"show": {wire.ShowAll}, "open": {s.ID}}.Encode()
	return row{
		ID: s.ID, URL: address, Title: console.TitleOrDefault(s.Title), Lang: s.Language, Feed: console.TitleOrDefault(s.FeedTitle),
		Why: strings.Join(s.Because, ", "), New: s.New, ISO: s.Time.UTC().Format(time.RFC3339), Time: locale.Date(s.Time.UTC(), timeForm),
	}
}

// export writes all that was learned as JSON.
func (p *pages) export(w http.ResponseWriter, r *http.Request) {
	learned, err := p.Interests.Export(r.Context(), wire.None{})
	if err != nil {
		p.fail(w, r, err)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Disposition", `attachment; filename="interests.json"`)
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	if err := e.Encode(learned); err != nil {
		p.Log.Debug("export of interests interrupted", "err", err)
	}
}

// byDay returns a chart of the items opened on each day, by their sentiment, and their number.
func byDay(days []wire.InterestDay, l *locale.Language) (svg template.HTML, opened int64) {
	columns := make([]chart.Column, len(days))
	for n, d := range days {
		columns[n] = chart.Column{Label: d.Day[len("2006-"):], Values: []int64{int64(d.Bad), int64(max(d.Opened-d.Good-d.Bad, 0)), int64(d.Good)}}
		opened += int64(d.Opened)
	}
	if opened == 0 {
		return "", 0
	}
	sentiments := []string{locale.T("negative").In(l), locale.T("neutral").In(l), locale.T("positive").In(l)}
	return chart.Columns(locale.T("Items opened on each day, by sentiment").In(l), sentiments, columns), opened
}

// charts returns the categories and the feeds that were opened most, and the topics.
func charts(learned wire.Interests, l *locale.Language) []barChart {
	var all []barChart
	for _, kind := range []struct {
		name           string
		heading, title locale.Text
	}{
		{"category", locale.T("Categories"), locale.T("Categories of opened items")},
		{"topic", locale.T("Topics"), locale.T("Topics of opened items")},
		{"publisher", locale.T("Feeds"), locale.T("Feeds of opened items")},
	} {
		var bars []chart.Bar
		for _, f := range learned.Features {
			if f.Kind == kind.name && f.Liked >= 0.5 && f.Name != "" && len(bars) < charted {
				bars = append(bars, chart.Bar{Label: f.Name, Value: int64(f.Liked*10 + 0.5), ValueText: strconv.FormatFloat(f.Liked, 'f', 1, 64)})
			}
		}
		if bars != nil {
			all = append(all, barChart{kind.heading, chart.Bars(kind.title.In(l), bars)})
		}
	}
	return all
}

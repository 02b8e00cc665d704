// Package foryou serves the page of suggestions: what a person may want to read, why, and what was learned. [Handler]
// returns the handler of all its pages, in the layout of the console. They work without scripts.
package foryou

import (
	"cmp"
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
	noTitle  = "Untitled"
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
		p.Render(w, r, http.StatusConflict, "for-you", "For you", page{Problem: err.Error(), Stored: true})
		return
	}
	p.Log.Error("suggestions failed", "err", err)
	p.Render(w, r, http.StatusServiceUnavailable, "for-you", "For you", page{Problem: "the store cannot be reached at the moment, retry in a minute"})
}

// A page shows suggestions and what was learned.
type page struct {
	On      bool
	Stored  bool // something was learned
	Problem string
	Items   []row
	Days    int64 // with opened items
	Opened  int64 // on these days
	ByDay   template.HTML
	Charts  []barChart
	Silent  []silentRow
}

type row struct {
	ID, URL, Title, Lang, Feed, Why string
	ISO, Time                       string
	New                             bool
}

// A silentRow is a feed that published nothing for unusually long.
type silentRow struct {
	URL, Title    string
	Silent, Usual float64 // seconds
}

type barChart struct {
	Heading string
	SVG     template.HTML
}

// list shows the suggestions.
func (p *pages) list(w http.ResponseWriter, r *http.Request) {
	learned, err := p.Interests.Export(r.Context(), wire.None{})
	if err != nil {
		p.fail(w, r, err)
		return
	}
	main := page{On: learned.On, Stored: len(learned.Signals) > 0, Days: int64(len(learned.Days)), Charts: charts(learned)}
	main.ByDay, main.Opened = byDay(learned.Days)
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
		main.Silent = append(main.Silent, silentRow{"/feeds/" + url.PathEscape(f.ID), cmp.Or(f.Title, noTitle), f.Silent.Seconds(), f.Usual.Seconds()})
	}
	ids := make([]string, len(suggested.Items))
	for n, s := range suggested.Items {
		ids[n] = s.ID
		main.Items = append(main.Items, newRow(s))
	}
	if main.On {
		p.Interests.Listed(r.Context(), ids)
	}
	p.Render(w, r, http.StatusOK, "for-you", "For you", main)
}

func newRow(s wire.Suggestion) row {
	address := "/read?" + url.Values{"show": {wire.ShowAll}, "open": {s.ID}}.Encode()
	return row{
		ID: s.ID, URL: address, Title: cmp.Or(s.Title, noTitle), Lang: s.Language, Feed: cmp.Or(s.FeedTitle, noTitle),
		Why: strings.Join(s.Because, ", "), New: s.New, ISO: s.Time.UTC().Format(time.RFC3339), Time: s.Time.UTC().Format(timeForm),
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
func byDay(days []wire.InterestDay) (svg template.HTML, opened int64) {
	columns := make([]chart.Column, len(days))
	for n, d := range days {
		columns[n] = chart.Column{Label: d.Day[len("2006-"):], Values: []int64{int64(d.Bad), int64(max(d.Opened-d.Good-d.Bad, 0)), int64(d.Good)}}
		opened += int64(d.Opened)
	}
	if opened == 0 {
		return "", 0
	}
	return chart.Columns("Items opened on each day, by sentiment", []string{"negative", "neutral", "positive"}, columns), opened
}

// charts returns the categories and the feeds that were opened most, and the topics.
func charts(learned wire.Interests) []barChart {
	var all []barChart
	for _, kind := range []struct{ name, heading string }{{"category", "Categories"}, {"topic", "Topics"}, {"publisher", "Feeds"}} {
		var bars []chart.Bar
		for _, f := range learned.Features {
			if f.Kind == kind.name && f.Liked >= 0.5 && f.Name != "" && len(bars) < charted {
				bars = append(bars, chart.Bar{Label: f.Name, Value: int64(f.Liked*10 + 0.5), ValueText: strconv.FormatFloat(f.Liked, 'f', 1, 64)})
			}
		}
		if bars != nil {
			all = append(all, barChart{kind.heading, chart.Bars(kind.heading+" of opened items", bars)})
		}
	}
	return all
}

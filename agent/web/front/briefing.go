package front

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"feedmesh/agent/service"
	"feedmesh/agent/web/console"
	"feedmesh/agent/web/locale"
	"feedmesh/agent/wire"
)

// BriefingPath is the path of the page of briefings. Its form requests a text of the model; a visit requests none.
const BriefingPath = "/briefing"

// reasons are the reasons why a briefing is not written by the model, or older, in words.
var reasons = map[string]locale.Text{
	wire.BriefingOff:         locale.T("No model is set to write briefings (briefing.url)."),
	wire.BriefingUnrequested: locale.T("The model has written nothing about these items yet."),
	wire.BriefingOlder:       locale.T("Items have changed since it was written."),
	wire.BriefingRunning:     locale.T("The model is still writing. Reload the page in a minute."),
	wire.BriefingBudget:      locale.T("The requests of this day are used up."),
	wire.BriefingBusy:        locale.T("The model is writing other briefings. Retry in a minute."),
	wire.BriefingPaused:      locale.T("The last request to the model failed. Retry in a minute."),
	wire.BriefingTimeout:     locale.T("The model did not answer in time."),
	wire.BriefingUnreachable: locale.T("The model can't be reached."),
	wire.BriefingRefused:     locale.T("The endpoint of the model refused the request."),
	wire.BriefingUnreadable:  locale.T("The answer of the model can't be read."),
	wire.BriefingUncited:     locale.T("No sentence of the model cites an item."),
}

// A briefingPage shows a briefing with the form that requests one.
type briefingPage struct {
	Problem   locale.Text // nil: none
	View      string      // empty: the top stories
	ViewURL   string
	Hours     int
	Language  string // to write in
	On        bool   // there is a model
	ByModel   bool
	Model     string
	Reason    locale.Text // nil: none
	Written   *locale.Timestamp
	Sentences []briefingSentence
	LeftOut   locale.Text // number of sentences; nil: none
	Items     []briefingItem
}

type briefingSentence struct {
	Text  string
	Items []briefingItem
}

// A briefingItem links to a stored item, never to an address of the model.
type briefingItem struct {
	Number    int
	URL, Lang string
	Title     locale.Text
	Publisher string
	At        *locale.Timestamp
}

// briefing returns the handler of the page. get returns the briefing.
func (p *pages) briefing(get func(context.Context, wire.BriefingRequest) (wire.Briefing, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
		main := briefingPage{View: r.FormValue("view"), Hours: 24, Language: r.FormValue("language"), On: p.Briefings.IsOn()}
		if !r.Form.Has("language") {
			main.Language = locale.From(r).Code
		}
		in := wire.BriefingRequest{View: main.View, Language: main.Language}
		if hours := r.FormValue("hours"); hours != "" {
			main.Hours, _ = strconv.Atoi(hours)
		}
		status := http.StatusOK
		if main.View == "" {
			in.Hours = main.Hours
			if in.Hours == 0 { // the service would take it as no number of hours
				in.Hours = -1
			}
		} else {
			main.ViewURL = "/views/show/" + url.PathEscape(main.View)
		}
		found, err := get(r.Context(), in)
		switch {
		case service.KindOf(err) == service.KindInvalid:
			status, main.Problem = http.StatusUnprocessableEntity, locale.T("Hours are a number from 1 to 336, and the language is a name or a code of letters, such as English or ru.")
		case err != nil:
			p.Error(w, r, err, locale.T("The store"), locale.T("News"), console.NewsPath)
			return
		default:
			main.show(found, p.Now())
		}
		p.Render(w, r, status, "briefing", locale.T("Briefing"), main)
	}
}

// show adds a briefing to the page.
func (m *briefingPage) show(b wire.Briefing, now time.Time) {
	m.ByModel, m.Model, m.Reason, m.Written = b.By == wire.ByModel, b.Model, reasons[b.Reason], locale.NewTimestamp(b.Written, now)
	if b.LeftOut > 0 {
		m.LeftOut = locale.N(int64(b.LeftOut), "%d sentence of the model was left out, since it cites no item of the list.", "%d sentences of the model were left out, since they cite no item of the list.")
	}
	byNumber := map[int]briefingItem{}
	for _, i := range b.Items {
		at := i.Published
		if at.IsZero() {
			at = i.Seen
		}
		shown := briefingItem{Number: i.Number, URL: "/items/" + url.PathEscape(i.ID), Lang: i.Language, Title: console.TitleOrDefault(i.Title), Publisher: i.Publisher, At: locale.NewTimestamp(at, now)}
		byNumber[i.Number], m.Items = shown, append(m.Items, shown)
	}
	for _, s := range b.Sentences {
		shown := briefingSentence{Text: s.Text}
		for _, n := range s.Items {
			shown.Items = append(shown.Items, byNumber[n])
		}
		m.Sentences = append(m.Sentences, shown)
	}
}

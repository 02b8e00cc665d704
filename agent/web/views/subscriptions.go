package views

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"feedmesh/agent/role/deliver"
	"feedmesh/agent/web/locale"
	"feedmesh/agent/wire"
	"feedmesh/storage"
)

const (
	subscriptionsPath = deliver.SubscriptionsPath
	attemptsPage      = 50 // attempts of a page
)

// A subscriptionRow is a subscription in the list.
type subscriptionRow struct {
	wire.SubscriptionState
	URL, Turn, Remove string
	Reads             []link
	Sent, Failing     *locale.Timestamp // nil: never
}

func (p *pages) subscriptionRowOf(s wire.SubscriptionState) subscriptionRow {
	path := subscriptionsPath + "/" + url.PathEscape(s.ID)
	row := subscriptionRow{SubscriptionState: s, URL: path, Turn: path + "/turn", Remove: path + "/remove"}
	for _, name := range s.Views {
		row.Reads = append(row.Reads, link{name, itemsPath(name)})
	}
	if !s.Sent.IsZero() {
		row.Sent = locale.NewTimestamp(s.Sent, p.Now())
	}
	if !s.FailingSince.IsZero() {
		row.Failing = locale.NewTimestamp(s.FailingSince, p.Now())
	}
	return row
}

// A subscriptionsMain is the list of subscriptions, with the form for another one.
type subscriptionsMain struct {
	Rows    []subscriptionRow
	Form    subscriptionForm
	Problem locale.Text // nil: none
	Added   bool
	Secret  string // of the webhook that was just added
}

type subscriptionForm struct{ Views, Channel, Receiver, Schedule, Alert string }

// Channels are the names of the channels to choose from.
func (subscriptionForm) Channels() []string { return []string{"webhook", "mail", "chat", "nats"} }

// Alerts are examples of the conditions of alerts, one of each kind.
func (subscriptionForm) Alerts() []string {
	return []string{"story reaches 5 publishers", "new event", "more than 20 in 1h", "burst", "silence of 6h", "feed fails", "sentiment falls by 0.3 in 24h"}
}

func (p *pages) subscriptions(w http.ResponseWriter, r *http.Request) {
	p.showSubscriptions(w, r, http.StatusOK, subscriptionsMain{Form: subscriptionForm{Views: r.URL.Query().Get("view")}})
}

func (p *pages) showSubscriptions(w http.ResponseWriter, r *http.Request, status int, main subscriptionsMain) {
	all, err := p.Subscriptions.List(r.Context(), wire.None{})
	if err != nil {
		p.Error(w, r, err, locale.T("The store"), locale.T("Views"), Path)
		return
	}
	for _, s := range all.Subscriptions {
		main.Rows = append(main.Rows, p.subscriptionRowOf(s))
	}
	p.Render(w, r, status, "subscriptions", locale.T("Subscriptions"), main)
}

// subscribe adds a subscription. The page that follows shows the secret of a webhook.
func (p *pages) subscribe(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	form := subscriptionForm{
		Views: r.PostFormValue("views"), Channel: r.PostFormValue("channel"), Receiver: strings.TrimSpace(r.PostFormValue("receiver")), Schedule: strings.TrimSpace(r.PostFormValue("schedule")),
		Alert: strings.TrimSpace(r.PostFormValue("alert")),
	}
	in := wire.AddSubscriptionRequest{}
	in.Body.Views = strings.FieldsFunc(form.Views, func(c rune) bool { return c == ',' || c == ' ' })
	in.Body.Channel, in.Body.Receiver, in.Body.Schedule, in.Body.Alert = form.Channel, form.Receiver, form.Schedule, form.Alert
	var added wire.AddedSubscription
	err := error(nil)
	if len(in.Body.Views) == 0 {
		err = errors.New("name at least one view")
	} else {
		added, err = p.Subscriptions.Add(r.Context(), in)
	}
	switch {
	case errors.Is(err, storage.ErrUnavailable):
		p.Error(w, r, err, locale.T("The store"), locale.T("Views"), Path)
	case err != nil:
		p.showSubscriptions(w, r, http.StatusConflict, subscriptionsMain{Form: form, Problem: locale.Composed(err.Error())})
	default:
		w.Header().Set("Cache-Control", "no-store")
		p.showSubscriptions(w, r, http.StatusOK, subscriptionsMain{Added: true, Secret: added.Secret})
	}
}

// An attemptRow is an attempt in the log.
type attemptRow struct {
	wire.DeliveryAttempt
	URL, Took string
	At, Again *locale.Timestamp
}

// A logPage is the log of a subscription.
type logPage struct {
	subscriptionRow
	Attempts []attemptRow
	Repeat   string
	Next     string // URL of the next page; empty on the last
}

func (p *pages) log(w http.ResponseWriter, r *http.Request) {
	id := wire.ByID{ID: r.PathValue("id")}
	before, _ := strconv.ParseInt(r.URL.Query().Get("before"), 10, 64)
	s, err := p.Subscriptions.Get(r.Context(), id)
	var log wire.DeliveryAttempts
	if err == nil {
		log, err = p.Subscriptions.Attempts(r.Context(), wire.ListAttemptsRequest{ByID: id, Before: max(before, 0), Limit: attemptsPage})
	}
	if err != nil {
		p.Error(w, r, err, locale.T("The store"), locale.T("Subscriptions"), subscriptionsPath)
		return
	}
	page := logPage{subscriptionRow: p.subscriptionRowOf(s)}
	page.Repeat = page.URL + "/repeat"
	for _, a := range log.Attempts {
		row := attemptRow{DeliveryAttempt: a, URL: "/items/" + url.PathEscape(a.ItemID), Took: fmt.Sprintf("%.0f ms", a.Took*1000), At: locale.NewTimestamp(a.At, p.Now())}
		if !a.Next.IsZero() {
			row.Again = locale.NewTimestamp(a.Next, p.Now())
		}
		page.Attempts = append(page.Attempts, row)
	}
	if log.Next > 0 {
		page.Next = page.URL + "?before=" + strconv.FormatInt(log.Next, 10)
	}
	p.Render(w, r, http.StatusOK, "subscription", locale.Data(s.Title), page)
}

// turn turns a subscription on or off.
func (p *pages) turn(w http.ResponseWriter, r *http.Request) {
	in := wire.ChangeSubscriptionRequest{ByID: wire.ByID{ID: r.PathValue("id")}}
	in.Body.On = r.PostFormValue("do") == "on"
	_, err := p.Subscriptions.Change(r.Context(), in)
	p.afterChange(w, r, err, subscriptionsPath+"/"+url.PathEscape(in.ID))
}

// repeat sends an item of the log again.
func (p *pages) repeat(w http.ResponseWriter, r *http.Request) {
	in := wire.RepeatRequest{ByID: wire.ByID{ID: r.PathValue("id")}}
	in.Body.Item = r.PostFormValue("item")
	_, err := p.Subscriptions.Repeat(r.Context(), in)
	p.afterChange(w, r, err, subscriptionsPath+"/"+url.PathEscape(in.ID))
}

// removeSubscription removes a subscription. A missing one is no error.
func (p *pages) removeSubscription(w http.ResponseWriter, r *http.Request) {
	_, err := p.Subscriptions.Remove(r.Context(), wire.ByID{ID: r.PathValue("id")})
	if errors.Is(err, storage.ErrNotFound) {
		err = nil
	}
	p.afterChange(w, r, err, subscriptionsPath)
}

func (p *pages) afterChange(w http.ResponseWriter, r *http.Request, err error, to string) {
	if err != nil {
		p.Error(w, r, fmt.Errorf("change the subscription: %w", err), locale.T("The store"), locale.T("Subscriptions"), subscriptionsPath)
		return
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
}

// An unsubscribePage ends a subscription to mails by the link in one of them.
type unsubscribePage struct {
	Title   string // of the subscription; empty: there is none for the link
	ID, Key string
	Removed bool
}

func (p *pages) showUnsubscribe(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	p.answerUnsubscribe(w, r, unsubscribePage{ID: query.Get("id"), Key: query.Get("key")})
}

// unsubscribe removes the subscription, by the form of the page or by a mail program (RFC 8058), which sends the link with
// another form.
func (p *pages) unsubscribe(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	p.answerUnsubscribe(w, r, unsubscribePage{ID: r.FormValue("id"), Key: r.FormValue("key"), Removed: true})
}

func (p *pages) answerUnsubscribe(w http.ResponseWriter, r *http.Request, page unsubscribePage) {
	title, err := p.Subscriptions.Unsubscribed(r.Context(), page.ID, page.Key, page.Removed)
	status := http.StatusOK
	switch {
	case errors.Is(err, storage.ErrNotFound):
		status = http.StatusNotFound
	case err != nil:
		p.Error(w, r, fmt.Errorf("unsubscribe: %w", err), locale.T("The store"), locale.T("Subscriptions"), subscriptionsPath)
		return
	default:
		page.Title = title
	}
	p.Render(w, r, status, "unsubscribe", locale.T("Unsubscribe"), page)
}

package account

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"feedmesh/agent/access"
	"feedmesh/agent/web/locale"
	"feedmesh/storage"
)

// ownTokensPath is the path of the page with the tokens of the person who is logged in.
const ownTokensPath = accountPath + "/tokens"

func (p *pages) tokenRoutes(mux *http.ServeMux) {
	mux.HandleFunc(ownTokensPath, func(w http.ResponseWriter, r *http.Request) {
		p.showOwnTokens(w, r, http.StatusOK, ownTokensPage{})
	})
	mux.HandleFunc("POST "+ownTokensPath, p.addOwnToken)
	mux.HandleFunc("POST "+ownTokensPath+"/remove", p.removeOwnToken)
}

type ownTokensPage struct {
	Problem   locale.Text
	Made      *secret // new token
	Name      string  // of the token to make
	IsPerson  bool
	Scopes    []scopeChoice
	Lifetimes []lifetime
	Tokens    []tokenRow
	Limit     int
}

// A secret is shown once.
type secret struct {
	Label locale.Text
	Value string
}

func newToken(value string) *secret { return &secret{locale.T("The new token:"), value} }

// A scopeChoice is a scope that a token can have.
type scopeChoice struct {
	Scope    access.Scope
	Means    locale.Text
	Selected bool
}

// scopeMeanings describe the scopes, each with those before it.
var scopeMeanings = map[access.Scope]locale.Text{
	access.Metrics: locale.T("readiness and metrics only"), access.Search: locale.T("search, items, stories, outputs"),
	access.Read: locale.T("read everything, mark items: feed readers need it"), access.Write: locale.T("also change feeds, items and stories"),
	access.Rules: locale.T("also change rules"), access.Admin: locale.T("everything"),
}

// scopeChoices returns those of the scopes that a client has. Read is selected.
func scopeChoices(c access.Client, scopes []access.Scope) (all []scopeChoice) {
	for _, s := range scopes {
		if c.May(s) {
			all = append(all, scopeChoice{s, scopeMeanings[s], s == access.Read})
		}
	}
	return all
}

// A lifetime is how long a token is valid.
type lifetime struct {
	Days  int // 0: without end
	Label locale.Text
}

var lifetimes = []lifetime{{0, locale.T("never")}, {30, locale.T("after 30 days")}, {90, locale.T("after 90 days")}, {365, locale.T("after a year")}}

// A tokenRow is a token in a list.
type tokenRow struct {
	Key, Name, Scope       string
	Created, Used, Expires locale.Text
	Expired                bool
}

func (p *pages) showOwnTokens(w http.ResponseWriter, r *http.Request, status int, page ownTokensPage) {
	c := access.From(r.Context())
	page.IsPerson, page.Scopes, page.Lifetimes, page.Limit = c.Person, scopeChoices(c, access.Scopes), lifetimes, storage.MaxPersonTokens
	if c.Person {
		all, err := p.people.Tokens(r.Context(), c.ID)
		if err != nil {
			status, page.Problem = p.problem(w, err)
		}
		for _, t := range all {
			row := tokenRow{Key: t.Hash, Name: t.Name, Scope: strings.Join(t.Scopes, ", "), Created: day(t.Created), Used: dayOr(t.Used, locale.T("never")), Expires: dayOr(t.Expires, nil)}
			row.Expired = access.HasExpired(t, time.Now())
			page.Tokens = append(page.Tokens, row)
		}
	}
	p.Render(w, r, status, "own-tokens", locale.T("Tokens for programs"), page)
}

// dayOr returns a time for a page, or other for none.
func dayOr(t time.Time, other locale.Text) locale.Text {
	if t.IsZero() {
		return other
	}
	return day(t)
}

// addOwnToken makes a token and shows its secret. Only people who are logged in may: a token can't make others.
func (p *pages) addOwnToken(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	c := access.From(r.Context())
	if !c.Person {
		p.showOwnTokens(w, r, http.StatusConflict, ownTokensPage{})
		return
	}
	page := ownTokensPage{Name: r.PostFormValue("name")}
	days, err := strconv.Atoi(r.PostFormValue("days"))
	if err != nil || days < 0 || days > 3660 {
		days = 30
	}
	made, err := p.people.AddToken(r.Context(), c, page.Name, access.Scope(r.PostFormValue("scope")), time.Duration(days)*24*time.Hour)
	status := http.StatusOK
	switch {
	case err == nil:
		p.Log.Info("token of a person made", "person", c.Name, "address", access.Address(r))
		page.Made, page.Name = newToken(made), ""
	case errors.Is(err, access.ErrBadTokenName):
		status, page.Problem = http.StatusUnprocessableEntity, locale.T("A token needs a name of up to 64 characters, on one line.")
	case errors.Is(err, access.ErrTokenScope):
		status, page.Problem = http.StatusForbidden, locale.T("A token can't have more scopes than your role.")
	case errors.Is(err, storage.ErrTooMany):
		status, page.Problem = http.StatusConflict, locale.T("You have as many tokens as there may be. Remove one first.")
	default:
		status, page.Problem = p.problem(w, err)
	}
	p.showOwnTokens(w, r, status, page)
}

// removeOwnToken removes a token of the person.
func (p *pages) removeOwnToken(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if c := access.From(r.Context()); c.Person {
		if err := p.people.RemoveToken(r.Context(), c.ID, r.PostFormValue("token")); err != nil {
			status, problem := p.problem(w, err)
			p.showOwnTokens(w, r, status, ownTokensPage{Problem: problem})
			return
		}
	}
	http.Redirect(w, r, ownTokensPath, http.StatusSeeOther)
}

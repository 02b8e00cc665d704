package account

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"feedmesh/agent/access"
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
	Problem   string
	Made      *secret // new token
	Name      string  // of the token to make
	IsPerson  bool
	Scopes    []scopeChoice
	Lifetimes []lifetime
	Tokens    []tokenRow
	Limit     int
}

// A secret is shown once.
type secret struct{ Label, Value string }

func newToken(value string) *secret { return &secret{"The new token:", value} }

// A scopeChoice is a scope that a token can have.
type scopeChoice struct {
	Scope    access.Scope
	Means    string
	Selected bool
}

// scopeMeanings describe the scopes, each with those before it.
var scopeMeanings = map[access.Scope]string{
	access.Metrics: "readiness and metrics only", access.Search: "search, items, stories, outputs", access.Read: "read everything, mark items: feed readers need it",
	access.Write: "also change feeds, items and stories", access.Rules: "also change rules", access.Admin: "everything",
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
	Label string
}

var lifetimes = []lifetime{{0, "never"}, {30, "after 30 days"}, {90, "after 90 days"}, {365, "after a year"}}

// A tokenRow is a token in a list.
type tokenRow struct {
	Key, Name, Scope, Created, Used, Expires string
	Expired                                  bool
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
			row := tokenRow{Key: t.Hash, Name: t.Name, Scope: strings.Join(t.Scopes, ", "), Created: day(t.Created), Used: dayOr(t.Used, "never"), Expires: dayOr(t.Expires, "")}
			row.Expired = access.HasExpired(t, time.Now())
			page.Tokens = append(page.Tokens, row)
		}
	}
	p.Render(w, r, status, "own-tokens", "Tokens for programs", page)
}

// dayOr returns a time for a page, or other for none.
func dayOr(t time.Time, other string) string {
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
		status, page.Problem = http.StatusUnprocessableEntity, "A token needs a name of up to 64 characters, on one line."
	case errors.Is(err, access.ErrTokenScope):
		status, page.Problem = http.StatusForbidden, "A token can't have more scopes than your role."
	case errors.Is(err, storage.ErrTooMany):
		status, page.Problem = http.StatusConflict, "You have as many tokens as there may be. Remove one first."
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

// Package account serves the pages of people: login, logout, the first password by a link, and the account with
// password, passkeys and sessions. [Handler] returns the handler of all pages, in the layout of the console. They work
// without scripts, except logging in with a passkey and adding one.
package account

import (
	"embed"
	"errors"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"

	"feedmesh/agent/access"
	"feedmesh/agent/access/passkey"
	"feedmesh/agent/service"
	"feedmesh/agent/web/console"
	"feedmesh/agent/web/locale"
	"feedmesh/agent/wire"
	"feedmesh/storage"
)

//go:embed templates
var templates embed.FS

// Paths of the pages.
const (
	LoginPath   = "/login"
	accountPath = "/account"
)

// maxForm bounds a form in bytes.
const maxForm = 16 << 10

// smallForms store a session of less than a kilobyte, or remove something: people can log in, and end what they have to, while
// the disk has too little space for other changes. If it has none, they fail, and [pages.problem] states why.
var smallForms = []string{
	"POST " + LoginPath, "POST " + service.LinkPath, "POST /logout", "POST " + accountPath + "/password", "POST " + accountPath + "/end",
	"POST " + passkeyBegin, "POST " + passkeyLogin, "POST " + firstBegin, "POST " + firstPasskey, "POST " + passkeysPath + "/remove",
	"POST " + ownTokensPath + "/remove", "POST " + peoplePath + "/remove", "POST " + tokensPath + "/remove",
	"POST " + languagePath,
}

type pages struct {
	*service.Service
	*console.Layout
	people *access.People
}

// Handler returns the handler of all pages. Forms change data: the caller must reject cross-site requests, as package
// rest does, and authenticate requests for paths other than [LoginPath] and [service.LinkPath].
func Handler(s *service.Service) http.Handler {
	p := &pages{s, console.NewLayout(s, templates), s.People.Access}
	mux := http.NewServeMux()
	mux.HandleFunc(LoginPath, func(w http.ResponseWriter, r *http.Request) {
		p.showLogin(w, r, http.StatusOK, loginForm{Next: localPath(r.FormValue("next"))})
	})
	p.handlePasskeys(mux)
	p.handleProvider(mux)
	mux.HandleFunc("POST "+LoginPath, p.login)
	mux.HandleFunc(service.LinkPath, p.first)
	mux.HandleFunc("POST "+service.LinkPath, p.claim)
	mux.HandleFunc("POST /logout", p.logout)
	mux.HandleFunc(accountPath, func(w http.ResponseWriter, r *http.Request) { p.showAccount(w, r, http.StatusOK, nil) })
	mux.HandleFunc("POST "+accountPath+"/password", p.changePassword)
	mux.HandleFunc("POST "+accountPath+"/end", p.end)
	mux.HandleFunc("POST "+accountPath+"/fever", p.setFever)
	mux.HandleFunc("POST "+accountPath+"/fever/remove", p.removeFever)
	mux.HandleFunc("POST "+languagePath, chooseLanguage)
	p.tokenRoutes(mux)
	p.ownerRoutes(mux)
	return p.Handler(mux, smallForms...)
}

// localPath returns a path of this server from a form, "/" for anything that browsers could take for another server's.
func localPath(path string) string {
	u, err := url.Parse(path)
	if err != nil || u.Scheme != "" || u.Host != "" || !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") || strings.ContainsAny(path, "\\\t\r\n") {
		return "/"
	}
	return path
}

// problem returns the status and the sentence for an error that a person caused; 503 for others, which are logged.
func (p *pages) problem(w http.ResponseWriter, err error) (status int, sentence locale.Text) {
	var guess *access.GuessError
	switch {
	case errors.As(err, &guess):
		wait := int(math.Ceil(guess.Wait.Seconds()))
		w.Header().Set("Retry-After", strconv.Itoa(wait))
		return http.StatusTooManyRequests, locale.N(int64(wait),
			"Too many wrong passwords came from your address. Retry in %d second.", "Too many wrong passwords came from your address. Retry in %d seconds.")
	case errors.Is(err, access.ErrWrongPassword):
		return http.StatusUnauthorized, locale.T("The name or the password is wrong.")
	case errors.Is(err, access.ErrBadPassword):
		return http.StatusUnprocessableEntity, locale.T("The password must have at least %s characters, and no more than %s bytes.",
			strconv.Itoa(access.MinPassword), strconv.Itoa(access.MaxPassword))
	case errors.Is(err, access.ErrInvalidLink):
		return http.StatusGone, locale.T("The link was used, was replaced, or is older than a day. An owner can make another.")
	case errors.Is(err, access.ErrExpired):
		return http.StatusGone, locale.T("The login took longer than five minutes, or was finished already. Begin again.")
	case errors.Is(err, access.ErrWrongPasskey):
		return http.StatusUnauthorized, locale.T("The passkey is unknown here, or was removed.")
	case errors.Is(err, errNoPerson):
		return http.StatusForbidden, locale.T("You are not logged in as a person.")
	case errors.Is(err, passkey.ErrRefused):
		return http.StatusUnprocessableEntity, locale.T("The passkey was not accepted: it is for another address, or its answer is damaged.")
	case errors.Is(err, passkey.ErrNoHostName):
		return http.StatusConflict, locale.T("Passkeys need a host name in the address, such as localhost.")
	case errors.Is(err, storage.ErrTooMany):
		return http.StatusConflict, locale.T("There are as many as there may be. Remove one first.")
	case errors.Is(err, access.ErrBusy):
		w.Header().Set("Retry-After", "5")
		return http.StatusServiceUnavailable, locale.T("Too many logins are in progress. Retry in a few seconds.")
	}
	p.Log.Error("login failed", "err", err)
	if errors.Is(err, syscall.ENOSPC) || p.CheckSpace() != nil {
		return http.StatusInsufficientStorage, locale.T("The disk of the server is full: sessions and passwords can't be stored. Free some space on it, then retry.")
	}
	return http.StatusServiceUnavailable, locale.T("The store cannot be reached at the moment. Retry in a minute.")
}

type loginForm struct {
	Name, Next string
	Problem    locale.Text
	Passkeys   bool   // browsers can have passkeys for this address
	Provider   string // host of the OpenID provider; empty: none
}

func (p *pages) showLogin(w http.ResponseWriter, r *http.Request, status int, form loginForm) {
	form.Passkeys, form.Provider = passkey.IsSupported(r), p.providerHost()
	p.Render(w, r, status, "login", locale.T("Log in"), form)
}

// login checks name and password. A login always begins another session and ends that of the browser, against session
// fixation.
func (p *pages) login(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	form := loginForm{Name: r.PostFormValue("name"), Next: localPath(r.PostFormValue("next"))}
	c, secret, limited, err := p.people.Login(r.Context(), form.Name, r.PostFormValue("password"), access.Address(r), r.UserAgent())
	if limited {
		p.Log.Warn("too many wrong passwords from one address", "address", access.Address(r))
	}
	if err != nil {
		status, problem := p.problem(w, err)
		form.Problem = problem
		p.showLogin(w, r, status, form)
		return
	}
	p.enter(w, r, c, secret, form.Next)
}

// enter stores the secret of a new session in the browser, ends the session that it had, and shows a page.
func (p *pages) enter(w http.ResponseWriter, r *http.Request, c access.Client, secret, next string) {
	p.store(w, r, c, secret)
	http.Redirect(w, r, next, http.StatusSeeOther)
}

// store stores the secret of a new session in the browser, and ends the session that it had.
func (p *pages) store(w http.ResponseWriter, r *http.Request, c access.Client, secret string) {
	if old, err := p.people.Session(r.Context(), access.SessionCookie(r)); err == nil {
		p.endOrLog(r, old)
	}
	p.Log.Info("person logged in", "person", c.Name, "address", access.Address(r))
	access.SetSessionCookie(w, r, secret)
}

func (p *pages) endOrLog(r *http.Request, c access.Client) {
	if err := p.people.End(r.Context(), c.ID, c.Session); err != nil {
		p.Log.Error("end of session failed", "err", err)
	}
}

// logout ends the session of the browser.
func (p *pages) logout(w http.ResponseWriter, r *http.Request) {
	if c := access.From(r.Context()); c.Session != "" {
		p.endOrLog(r, c)
	}
	access.SetSessionCookie(w, r, "")
	w.Header().Set("Clear-Site-Data", `"storage"`) // the items that the browser keeps for reading offline
	http.Redirect(w, r, LoginPath, http.StatusSeeOther)
}

type firstForm struct {
	Name, Link string
	Problem    locale.Text
	Passkeys   bool
}

// first shows the form for the password of a link. The link stays valid until the form is sent.
func (p *pages) first(w http.ResponseWriter, r *http.Request) {
	p.showFirst(w, r, r.FormValue("link"), nil)
}

func (p *pages) showFirst(w http.ResponseWriter, r *http.Request, link string, err error) {
	form, status := firstForm{Link: link, Passkeys: passkey.IsSupported(r)}, http.StatusOK
	name, invalid := p.people.LinkName(r.Context(), link)
	if invalid != nil {
		err, form.Link = invalid, ""
	}
	form.Name = name
	if err != nil {
		status, form.Problem = p.problem(w, err)
	}
	p.Render(w, r, status, "first", locale.T("Set your password"), form)
}

// claim sets the password of the person of a link.
func (p *pages) claim(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	link, password := r.PostFormValue("link"), r.PostFormValue("password")
	c, secret, err := p.people.Claim(r.Context(), link, &password, r.UserAgent())
	if err != nil {
		p.showFirst(w, r, link, err)
		return
	}
	p.enter(w, r, c, secret, "/")
}

type accountPage struct {
	Name     string
	Problem  locale.Text
	IsPerson bool
	Password bool // one is set
	Passkeys passkeysPart
	Sessions []sessionRow
	Fever    feverForm
}

type sessionRow struct {
	Hash, Browser string
	Created, Used locale.Text
	Here          bool
}

func (p *pages) showAccount(w http.ResponseWriter, r *http.Request, status int, problem locale.Text) {
	page, status := p.accountOf(w, r, status, problem)
	p.Render(w, r, status, "account", locale.T("Account"), page)
}

// accountOf returns the page of the client, and the status of an error that it shows.
func (p *pages) accountOf(w http.ResponseWriter, r *http.Request, status int, problem locale.Text) (accountPage, int) {
	c := access.From(r.Context())
	page := accountPage{Name: c.Name, Problem: problem, IsPerson: c.Person}
	if c.Person {
		all, err := p.people.Sessions(r.Context(), c.ID)
		if err != nil {
			status, page.Problem = p.problem(w, err)
		}
		for _, s := range all {
			page.Sessions = append(page.Sessions, sessionRow{s.Hash, s.Browser, day(s.Created), day(s.Used), s.Hash == c.Session})
		}
		person, err := p.people.Find(r.Context(), c.ID)
		if err == nil {
			page.Password = person.Hash != ""
			page.Passkeys, err = p.passkeysOf(r, person)
		}
		fever, failed := p.Tokens.Fever(r.Context(), wire.None{})
		if err = errors.Join(err, failed); err != nil {
			status, page.Problem = p.problem(w, err)
		}
		page.Fever = newFeverForm(fever)
	}
	return page, status
}

func day(t time.Time) locale.Text { return locale.Date(t.UTC(), "2 January 2006 15:04 MST") }

// A feverForm is the state of the person's password of the Fever API.
type feverForm struct {
	Name, Password string      // Password only in the answer that generates it
	Created, Used  locale.Text // nil: there is no password, or it was not used
}

func newFeverForm(f wire.FeverPassword) feverForm {
	form := feverForm{Name: f.Name, Password: f.Password}
	if !f.Created.IsZero() {
		form.Created = day(f.Created)
	}
	if !f.Used.IsZero() {
		form.Used = day(f.Used)
	}
	return form
}

// setFever generates the password of the Fever API, and shows it once.
func (p *pages) setFever(w http.ResponseWriter, r *http.Request) {
	if !access.From(r.Context()).Person {
		p.showAccount(w, r, http.StatusConflict, nil)
		return
	}
	made, err := p.Tokens.SetFever(r.Context(), wire.None{})
	if err != nil {
		status, problem := p.problem(w, err)
		p.showAccount(w, r, status, problem)
		return
	}
	page, status := p.accountOf(w, r, http.StatusOK, nil)
	page.Fever = newFeverForm(made)
	p.Render(w, r, status, "account", locale.T("Account"), page)
}

// removeFever removes the password of the Fever API.
func (p *pages) removeFever(w http.ResponseWriter, r *http.Request) {
	if _, err := p.Tokens.RemoveFever(r.Context(), wire.None{}); err != nil {
		status, problem := p.problem(w, err)
		p.showAccount(w, r, status, problem)
		return
	}
	http.Redirect(w, r, accountPath, http.StatusSeeOther)
}

// changePassword sets another password, after a check of the present one. It ends all other sessions.
func (p *pages) changePassword(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	c := access.From(r.Context())
	if !c.Person {
		p.showAccount(w, r, http.StatusConflict, nil)
		return
	}
	_, err := p.people.Verify(r.Context(), c.Name, r.PostFormValue("password"), access.Address(r))
	secret := ""
	if err == nil {
		_, secret, err = p.people.ChangePassword(r.Context(), c.Name, r.PostFormValue("new"), r.UserAgent())
	}
	if err != nil {
		status, problem := p.problem(w, err)
		if errors.Is(err, access.ErrWrongPassword) {
			problem = locale.T("The present password is wrong.")
		}
		p.showAccount(w, r, status, problem)
		return
	}
	access.SetSessionCookie(w, r, secret)
	http.Redirect(w, r, accountPath, http.StatusSeeOther)
}

// end ends a session of the person.
func (p *pages) end(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if c := access.From(r.Context()); c.Person {
		if err := p.people.End(r.Context(), c.ID, r.PostFormValue("session")); err != nil {
			status, problem := p.problem(w, err)
			p.showAccount(w, r, status, problem)
			return
		}
	}
	http.Redirect(w, r, accountPath, http.StatusSeeOther)
}

package account

import (
	"encoding/json"
	"errors"
	"net/http"

	"feedmesh/agent/access"
	"feedmesh/agent/access/passkey"
	"feedmesh/agent/web/locale"
	"feedmesh/storage"
)

// Paths of requests of passkey.js. Each login and each addition begins with the options for the browser, and ends with the
// browser's answer.
const (
	passkeyBegin    = "/login/passkey/begin"
	passkeyLogin    = "/login/passkey"
	firstBegin      = "/login/first/passkey/begin"
	firstPasskey    = "/login/first/passkey"
	passkeysPath    = accountPath + "/passkeys"
	maxPasskeyReply = 64 << 10 // bytes
)

// errNoPerson reports a request of a token, also one of a person: its scopes may be fewer than those of the person.
var errNoPerson = errors.New("passkeys are added by people who are logged in")

func (p *pages) handlePasskeys(mux *http.ServeMux) {
	mux.HandleFunc("POST "+passkeyBegin, p.beginPasskeyLogin)
	mux.HandleFunc("POST "+passkeyLogin, p.passkeyLogin)
	mux.HandleFunc("POST "+firstBegin, p.beginFirstPasskey)
	mux.HandleFunc("POST "+firstPasskey, p.firstPasskey)
	mux.HandleFunc("POST "+passkeysPath+"/begin", p.beginPasskey)
	mux.HandleFunc("POST "+passkeysPath, p.addPasskey)
	mux.HandleFunc("POST "+passkeysPath+"/remove", p.removePasskey)
}

// reply answers a script with a value, or with the sentence for an error, which it shows.
func (p *pages) reply(w http.ResponseWriter, r *http.Request, value any, err error) {
	status := http.StatusOK
	if err != nil {
		var sentence locale.Text
		status, sentence = p.problem(w, err)
		value = map[string]string{"problem": sentence.In(locale.From(r))}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value) // the client has gone
}

// next is the answer that makes a script show a page.
func next(path string) map[string]string { return map[string]string{"next": path} }

func (p *pages) beginPasskeyLogin(w http.ResponseWriter, r *http.Request) {
	options, err := p.People.Passkeys.BeginLogin(w, r)
	p.reply(w, r, options, err)
}

func (p *pages) passkeyLogin(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxPasskeyReply)
	c, secret, limited, err := p.People.Passkeys.FinishLogin(w, r, r.Body)
	if limited {
		p.Log.Warn("too many wrong passkeys from one address", "address", access.Address(r))
	}
	if err == nil {
		p.store(w, r, c, secret)
	}
	p.reply(w, r, next(localPath(r.URL.Query().Get("next"))), err)
}

// beginFirstPasskey begins the addition of a passkey by a link.
func (p *pages) beginFirstPasskey(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	link := r.PostFormValue("link")
	if link == "" {
		p.reply(w, r, nil, access.ErrInvalidLink)
		return
	}
	options, err := p.People.Passkeys.BeginAdd(w, r, "", link, r.PostFormValue("label"))
	p.reply(w, r, options, err)
}

func (p *pages) firstPasskey(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxPasskeyReply)
	c, secret, err := p.People.Passkeys.FinishAdd(w, r, "", r.Body)
	if err == nil {
		p.store(w, r, c, secret)
	}
	p.reply(w, r, next("/"), err)
}

// A passkeysPart is the part of the account page about passkeys.
type passkeysPart struct {
	Supported bool // browsers can have passkeys for this address
	Password  bool // adding one requires the password
	Full      bool
	Rows      []passkeyRow
}

type passkeyRow struct {
	ID, Name      string
	Created, Used locale.Text // nil: it was not used
}

func (p *pages) passkeysOf(r *http.Request, person storage.Person) (passkeysPart, error) {
	part := passkeysPart{Supported: passkey.IsSupported(r), Password: person.Hash != ""}
	all, err := p.People.Passkeys.List(r.Context(), person.ID)
	for _, k := range all {
		row := passkeyRow{ID: k.ID, Name: k.Name, Created: day(k.Created)}
		if !k.Used.IsZero() {
			row.Used = day(k.Used)
		}
		part.Rows = append(part.Rows, row)
	}
	part.Full = len(all) >= storage.MaxPasskeys
	return part, err
}

// beginPasskey begins the addition of a passkey, after a check of the present password if there is one: without it, a
// passkey would give lasting access to anyone who finds an open session.
func (p *pages) beginPasskey(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	c := access.From(r.Context())
	if !c.Person {
		p.reply(w, r, nil, errNoPerson)
		return
	}
	person, err := p.people.Find(r.Context(), c.ID)
	if err == nil && person.Hash != "" {
		_, err = p.people.Verify(r.Context(), person.Name, r.PostFormValue("password"), access.Address(r))
	}
	if err != nil {
		p.reply(w, r, nil, err)
		return
	}
	options, err := p.People.Passkeys.BeginAdd(w, r, c.ID, "", r.PostFormValue("label"))
	p.reply(w, r, options, err)
}

func (p *pages) addPasskey(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxPasskeyReply)
	c := access.From(r.Context())
	if !c.Person {
		p.reply(w, r, nil, errNoPerson)
		return
	}
	_, _, err := p.People.Passkeys.FinishAdd(w, r, c.ID, r.Body)
	p.reply(w, r, next(accountPath), err)
}

// removePasskey removes a passkey of the person, and ends all other sessions, as a change of the password does: they
// may have been opened with the passkey.
func (p *pages) removePasskey(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if c := access.From(r.Context()); c.Person {
		err := p.People.Passkeys.Remove(r.Context(), c.ID, r.PostFormValue("passkey"))
		secret := ""
		if err == nil {
			_, secret, err = p.people.EndOthers(r.Context(), c.Name, r.UserAgent())
		}
		if err != nil {
			status, problem := p.problem(w, err)
			p.showAccount(w, r, status, problem)
			return
		}
		access.SetSessionCookie(w, r, secret)
	}
	http.Redirect(w, r, accountPath, http.StatusSeeOther)
}

package account

import (
	"cmp"
	"errors"
	"net/http"
	"slices"

	"feedmesh/agent/access"
	"feedmesh/agent/service"
	"feedmesh/agent/web/locale"
	"feedmesh/agent/web/problem"
	"feedmesh/agent/wire"
	"feedmesh/storage"
)

// Paths of the pages of owners. The caller requires the scope admin.
const (
	peoplePath = "/people"
	tokensPath = "/tokens"
)

func (p *pages) ownerRoutes(mux *http.ServeMux) {
	mux.HandleFunc(peoplePath, func(w http.ResponseWriter, r *http.Request) { p.showPeople(w, r, http.StatusOK, peoplePage{}) })
	mux.HandleFunc("POST "+peoplePath, p.addPerson)
	mux.HandleFunc("POST "+peoplePath+"/role", p.setRole)
	mux.HandleFunc("POST "+peoplePath+"/link", p.newLink)
	mux.HandleFunc(peoplePath+"/remove", func(w http.ResponseWriter, r *http.Request) {
		p.Render(w, r, http.StatusOK, "person-remove", locale.T("Remove a person"), r.FormValue("name"))
	})
	mux.HandleFunc("POST "+peoplePath+"/remove", p.removePerson)
	mux.HandleFunc(tokensPath, func(w http.ResponseWriter, r *http.Request) { p.showTokens(w, r, http.StatusOK, tokensPage{}) })
	mux.HandleFunc("POST "+tokensPath, p.addToken)
	mux.HandleFunc("POST "+tokensPath+"/remove", p.removeToken)
}

// refusal is [pages.problem] for the errors of the service.
func (p *pages) refusal(w http.ResponseWriter, err error) (status int, sentence locale.Text) {
	var refused *service.Error
	switch {
	case errors.As(err, &refused):
		return problem.StatusOf(refused.Kind), locale.T("This can't be done: %s.", locale.Composed(refused.Error()))
	case errors.Is(err, storage.ErrNotFound):
		return http.StatusNotFound, locale.T("It has been removed.")
	}
	return p.problem(w, err)
}

type peoplePage struct {
	Problem locale.Text
	Made    *secret // link of a person
	Name    string  // of the person to add
	Adds    access.Role
	Roles   []roleChoice
	People  []personRow
}

// A roleChoice is a role that a person can have.
type roleChoice struct {
	Role  access.Role
	Label locale.Text
}

func roleChoices(roles ...access.Role) (all []roleChoice) {
	for _, r := range roles {
		all = append(all, roleChoice{r, locale.Composed(string(r))})
	}
	return all
}

type personRow struct {
	wire.ListedPerson
	LastUse locale.Text
}

func (p *pages) showPeople(w http.ResponseWriter, r *http.Request, status int, page peoplePage) {
	page.Roles, page.Adds = roleChoices(access.Roles...), cmp.Or(page.Adds, access.Reader)
	all, err := p.People.List(r.Context(), wire.None{})
	if err != nil {
		status, page.Problem = p.refusal(w, err)
	} else if len(all.People) == 0 {
		page.Roles, page.Adds = roleChoices(access.Owner), access.Owner
	}
	for _, person := range all.People {
		page.People = append(page.People, personRow{person, dayOr(person.Used, locale.T("never"))})
	}
	p.Render(w, r, status, "people", locale.T("People"), page)
}

// showLink shows the page of people with the link of a person, or the error.
func (p *pages) showLink(w http.ResponseWriter, r *http.Request, person wire.Person, err error, page peoplePage) {
	status := http.StatusOK
	if err != nil {
		status, page.Problem = p.refusal(w, err)
	} else {
		scheme := "http"
		if access.IsSecure(r) {
			scheme = "https"
		}
		page = peoplePage{Made: &secret{locale.T("Send this link to %s. It sets the password once, within a day:", person.Name), scheme + "://" + r.Host + person.Link}}
	}
	p.showPeople(w, r, status, page)
}

func (p *pages) addPerson(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	page := peoplePage{Name: r.PostFormValue("name"), Adds: cmp.Or(roleIn(r), access.Reader)}
	made, err := p.People.Add(r.Context(), wire.AddPersonRequest{Body: wire.NewPerson{Name: page.Name, Role: page.Adds}})
	p.showLink(w, r, made, err, page)
}

// roleIn returns the role in a form, empty for an unknown role.
func roleIn(r *http.Request) access.Role {
	role := access.Role(r.PostFormValue("role"))
	if !slices.Contains(access.Roles, role) {
		return ""
	}
	return role
}

// newLink makes a link that sets a password, instead of an earlier link.
func (p *pages) newLink(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	made, err := p.People.Set(r.Context(), wire.SetPersonRequest{ByName: wire.ByName{Name: r.PostFormValue("name")}, Body: wire.PersonSetting{Link: true}})
	p.showLink(w, r, made, err, peoplePage{})
}

func (p *pages) setRole(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	set := wire.SetPersonRequest{ByName: wire.ByName{Name: r.PostFormValue("name")}, Body: wire.PersonSetting{Role: roleIn(r)}}
	_, err := p.People.Set(r.Context(), set)
	p.peopleOr(w, r, err)
}

func (p *pages) removePerson(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	_, err := p.People.Remove(r.Context(), wire.ByName{Name: r.PostFormValue("name")})
	p.peopleOr(w, r, err)
}

// peopleOr sends the browser to the page of people, or shows the error there.
func (p *pages) peopleOr(w http.ResponseWriter, r *http.Request, err error) {
	if err != nil {
		status, sentence := p.refusal(w, err)
		p.showPeople(w, r, status, peoplePage{Problem: sentence})
		return
	}
	http.Redirect(w, r, peoplePath, http.StatusSeeOther)
}

type tokensPage struct {
	Problem locale.Text
	Made    *secret // new token
	Name    string  // of the token to make
	Scopes  []scopeChoice
	Tokens  []tokenRow
	People  []wire.ListedPerson // those with tokens
}

func (p *pages) showTokens(w http.ResponseWriter, r *http.Request, status int, page tokensPage) {
	page.Scopes = scopeChoices(access.From(r.Context()), append([]access.Scope{access.Metrics}, access.Scopes...))
	all, err := p.Tokens.List(r.Context(), wire.None{})
	people, failed := p.People.List(r.Context(), wire.None{})
	if err = cmp.Or(err, failed); err != nil {
		status, page.Problem = p.refusal(w, err)
	}
	for _, t := range all.Tokens {
		scope := access.Client{Scopes: t.Scopes}.Largest()
		page.Tokens = append(page.Tokens, tokenRow{Key: t.ID, Name: t.Name, Scope: string(scope), Created: day(t.Created), Used: dayOr(t.Used, locale.T("never"))})
	}
	for _, person := range people.People {
		if person.Tokens > 0 {
			page.People = append(page.People, person)
		}
	}
	p.Render(w, r, status, "tokens", locale.T("Tokens"), page)
}

func (p *pages) addToken(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	page, status := tokensPage{Name: r.PostFormValue("name")}, http.StatusOK
	scope := access.Scope(r.PostFormValue("scope"))
	if scopeMeanings[scope] == nil {
		scope = access.Read
	}
	made, err := p.Tokens.Add(r.Context(), wire.AddTokenRequest{Body: wire.TokenSetting{Name: page.Name, Scopes: []access.Scope{scope}}})
	if err != nil {
		status, page.Problem = p.refusal(w, err)
	} else {
		page = tokensPage{Made: newToken(made.Secret)}
	}
	p.showTokens(w, r, status, page)
}

func (p *pages) removeToken(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if _, err := p.Tokens.Remove(r.Context(), wire.ByID{ID: r.PostFormValue("token")}); err != nil {
		status, sentence := p.refusal(w, err)
		p.showTokens(w, r, status, tokensPage{Problem: sentence})
		return
	}
	http.Redirect(w, r, tokensPath, http.StatusSeeOther)
}

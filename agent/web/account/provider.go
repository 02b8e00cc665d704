package account

import (
	"errors"
	"net/http"
	"net/url"

	"feedmesh/agent/access"
	"feedmesh/agent/access/oidc"
	"feedmesh/agent/service"
	"feedmesh/agent/web/locale"
	"feedmesh/storage"
)

func (p *pages) handleProvider(mux *http.ServeMux) {
	if p.People.Provider == nil {
		return
	}
	mux.HandleFunc(oidc.LoginPath, func(w http.ResponseWriter, r *http.Request) {
		address, err := p.People.Provider.Begin(w, r, localPath(r.FormValue("next")))
		if err != nil {
			p.explain(w, r, err)
			return
		}
		http.Redirect(w, r, address, http.StatusSeeOther)
	})
	mux.HandleFunc(oidc.CallbackPath, func(w http.ResponseWriter, r *http.Request) {
		c, secret, next, err := p.People.Provider.Finish(w, r)
		if err != nil {
			p.explain(w, r, err)
			return
		}
		p.enter(w, r, c, secret, next)
	})
}

// Public returns the paths of pages that need no token and no login.
func Public() []string {
	return []string{LoginPath, service.LinkPath, passkeyBegin, passkeyLogin, firstBegin, firstPasskey, oidc.LoginPath, oidc.CallbackPath, languagePath}
}

// providerHost returns the host of the OpenID provider, empty if there is none.
func (p *pages) providerHost() string {
	if p.People.Provider == nil {
		return ""
	}
	u, err := url.Parse(p.People.Provider.Issuer)
	if err != nil {
		return ""
	}
	return u.Host
}

// explain shows the login with the reason why the provider's failed.
func (p *pages) explain(w http.ResponseWriter, r *http.Request, err error) {
	status, host := http.StatusForbidden, p.providerHost()
	var problem locale.Text
	switch {
	case errors.Is(err, oidc.ErrUnreachable):
		status, problem = http.StatusBadGateway, locale.T("%s cannot be reached at the moment. Retry, or log in with a password.", host)
	case errors.Is(err, oidc.ErrRefused):
		problem = locale.T("%s did not confirm the login. Begin again.", host)
	case errors.Is(err, access.ErrNoAccount):
		problem = locale.T("There is no person for your account at %s. An owner can add one.", host)
	case errors.Is(err, access.ErrOtherAccount):
		problem = locale.T("The person of this name does not log in with your account at %s. An owner can allow it.", host)
	case errors.Is(err, access.ErrBadName), errors.Is(err, storage.ErrTooMany), errors.Is(err, storage.ErrNoOwner):
		problem = locale.T("No person can be added for your account at %s. An owner finds the reason in the log.", host)
	default:
		status, problem = p.problem(w, err)
	}
	p.Log.Warn("login by the OpenID provider failed", "address", access.Address(r), "err", err)
	p.showLogin(w, r, status, loginForm{Next: "/", Problem: problem})
}

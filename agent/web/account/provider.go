package account

import (
	"errors"
	"net/http"
	"net/url"

	"feedmesh/agent/access"
	"feedmesh/agent/access/oidc"
	"feedmesh/agent/service"
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
	return []string{LoginPath, service.LinkPath, passkeyBegin, passkeyLogin, firstBegin, firstPasskey, oidc.LoginPath, oidc.CallbackPath}
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
	status, problem := http.StatusForbidden, ""
	switch {
	case errors.Is(err, oidc.ErrUnreachable):
		status, problem = http.StatusBadGateway, p.providerHost()+" cannot be reached at the moment. Retry, or log in with a password."
	case errors.Is(err, oidc.ErrRefused):
		problem = p.providerHost() + " did not confirm the login. Begin again."
	case errors.Is(err, access.ErrNoAccount):
		problem = "There is no person for your account at " + p.providerHost() + ". An owner can add one."
	case errors.Is(err, access.ErrOtherAccount):
		problem = "The person of this name does not log in with your account at " + p.providerHost() + ". An owner can allow it."
	case errors.Is(err, access.ErrBadName), errors.Is(err, storage.ErrTooMany), errors.Is(err, storage.ErrNoOwner):
		problem = "No person can be added for your account at " + p.providerHost() + ". An owner finds the reason in the log."
	default:
		status, problem = p.problem(w, err)
	}
	p.Log.Warn("login by the OpenID provider failed", "address", access.Address(r), "err", err)
	p.showLogin(w, r, status, loginForm{Next: "/", Problem: problem})
}

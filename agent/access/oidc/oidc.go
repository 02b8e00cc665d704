// Package oidc lets people log in with accounts of an OpenID provider: [Provider] sends the browser there, and verifies the
// account with which it returns. It is the only package that uses the libraries of OpenID Connect.
package oidc

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	connect "github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"feedmesh/agent/access"
	"feedmesh/storage"
)

// Paths of the login.
const (
	LoginPath    = "/login/oidc"
	CallbackPath = "/login/oidc/callback"
)

// Bounds of requests to the provider.
const (
	timeout     = 10 * time.Second
	maxBody     = 1 << 20 // bytes
	maxParallel = 8       // logins that are verified at a time; further ones get [access.ErrBusy]
	maxAge      = time.Hour
	retryAfter  = 10 * time.Second // after a failed discovery
)

// ErrUnreachable reports that the provider did not answer as one.
var ErrUnreachable = errors.New("the OpenID provider cannot be reached")

// ErrRefused reports a login that the provider refused, or an answer that is not the provider's.
var ErrRefused = errors.New("the OpenID provider did not confirm the login")

// Options configure a [Provider].
type Options struct {
	Issuer   string // URL
	ClientID string
	Secret   string      // of the client; empty: a public client
	Role     access.Role // of people who are added at their first login; empty: none are added
}

// A Provider is an OpenID provider. Its document is fetched at a login, so that no start depends on it. Its
// methods may be called concurrently.
type Provider struct {
	Options
	people *access.People
	sealer *access.Sealer
	client *http.Client
	slots  chan struct{} // pool of logins that are verified

	mu       sync.Mutex
	provider *connect.Provider // as of the last discovery that succeeded
	fetched  time.Time
	tried    time.Time
	err      error // of the last discovery
}

// New returns a provider, nil without an issuer.
func New(o Options, people *access.People, sealer *access.Sealer) *Provider {
	if o.Issuer == "" {
		return nil
	}
	return &Provider{Options: o, people: people, sealer: sealer, client: newClient(), slots: make(chan struct{}, maxParallel)}
}

// newClient returns a client for requests to the provider. It follows no redirects: they could carry the client's secret
// elsewhere.
func newClient() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxConnsPerHost, transport.MaxResponseHeaderBytes = maxParallel, 64<<10
	return &http.Client{
		Timeout: timeout, Transport: limited{transport},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// limited bounds the bodies of responses.
type limited struct{ http.RoundTripper }

// RoundTrip implements [http.RoundTripper].
func (l limited) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := l.RoundTripper.RoundTrip(r)
	if err == nil {
		answer.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(answer.Body, maxBody), answer.Body}
	}
	return answer, err
}

// Check returns an error unless a provider answers under the issuer's URL.
func Check(ctx context.Context, issuer string) error {
	_, err := connect.NewProvider(connect.ClientContext(ctx, newClient()), issuer)
	return err
}

// discover returns the provider by its document, which is cached for maxAge, or longer while it can't be fetched. The
// error wraps [ErrUnreachable].
func (p *Provider) discover(ctx context.Context) (*connect.Provider, error) {
	p.mu.Lock() // also during the fetch, so that concurrent logins share it
	defer p.mu.Unlock()
	if time.Since(p.fetched) > maxAge && time.Since(p.tried) > retryAfter {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout/2)
		defer cancel()
		found, err := connect.NewProvider(connect.ClientContext(ctx, p.client), p.Issuer)
		p.tried, p.err = time.Now(), err
		if err == nil {
			p.provider, p.fetched = found, p.tried
		}
	}
	if p.provider == nil {
		return nil, fmt.Errorf("%w: %w", ErrUnreachable, p.err)
	}
	return p.provider, nil
}

// loginKind is the kind of state of [access.Sealer].
const loginKind = "oidc"

// A login is the state of a login.
type login struct {
	State, Nonce, Verifier string
	Next                   string // path to show after the login
}

// config returns the client of the provider for the address of a request.
func (p *Provider) config(r *http.Request, provider *connect.Provider) oauth2.Config {
	return oauth2.Config{
		ClientID: p.ClientID, ClientSecret: p.Secret, Endpoint: provider.Endpoint(), RedirectURL: access.Origin(r) + CallbackPath,
		Scopes: []string{connect.ScopeOpenID, connect.ScopeProfile, connect.ScopeEmail},
	}
}

// Begin returns the address of the provider where the browser logs in. next is the path to show then.
func (p *Provider) Begin(w http.ResponseWriter, r *http.Request, next string) (string, error) {
	provider, err := p.discover(r.Context())
	if err != nil {
		return "", err
	}
	l := login{State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(), Next: next}
	if err := p.sealer.Set(w, r, loginKind, l); err != nil {
		return "", err
	}
	config := p.config(r, provider)
	return config.AuthCodeURL(l.State, connect.Nonce(l.Nonce), oauth2.S256ChallengeOption(l.Verifier)), nil
}

// Finish verifies the answer with which the provider sent the browser back, and begins a session. The error may wrap
// [access.ErrExpired], [access.ErrBusy], [ErrUnreachable], [ErrRefused], or those of [access.People.OfAccount].
func (p *Provider) Finish(w http.ResponseWriter, r *http.Request) (c access.Client, secret, next string, err error) {
	var l login
	if _, err := p.sealer.Take(w, r, loginKind, &l); err != nil {
		return c, "", "", err
	}
	answer := r.URL.Query()
	issuer := answer.Get("iss") // RFC 9207; optional
	switch {
	case subtle.ConstantTimeCompare([]byte(answer.Get("state")), []byte(l.State)) != 1:
		return c, "", "", fmt.Errorf("%w: the state is another login's", ErrRefused)
	case issuer != "" && issuer != p.Issuer:
		return c, "", "", fmt.Errorf("%w: it is the answer of another provider", ErrRefused)
	case answer.Get("error") != "":
		return c, "", "", fmt.Errorf("%w: %.100q", ErrRefused, answer.Get("error"))
	}
	select {
	case p.slots <- struct{}{}:
		defer func() { <-p.slots }()
	default:
		return c, "", "", access.ErrBusy
	}
	person, err := p.person(r, l, answer.Get("code"))
	if err != nil {
		return c, "", "", err
	}
	c, secret, err = p.people.Enter(r.Context(), person, r.UserAgent())
	return c, secret, l.Next, err
}

// person exchanges a code for the tokens of an account, verifies them, and returns the account's person.
func (p *Provider) person(r *http.Request, l login, code string) (person storage.Person, err error) {
	provider, err := p.discover(r.Context())
	if err != nil {
		return person, err
	}
	ctx := connect.ClientContext(r.Context(), p.client)
	config := p.config(r, provider)
	tokens, err := config.Exchange(ctx, code, oauth2.VerifierOption(l.Verifier))
	if err != nil {
		if errors.As(err, new(*oauth2.RetrieveError)) {
			return person, fmt.Errorf("%w: %w", ErrRefused, err)
		}
		return person, fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	text, _ := tokens.Extra("id_token").(string)
	token, err := provider.Verifier(&connect.Config{ClientID: p.ClientID}).Verify(ctx, text)
	if err != nil {
		return person, fmt.Errorf("%w: %w", ErrRefused, err)
	}
	if token.Subject == "" { // is stored for people whose account is not known yet
		return person, fmt.Errorf("%w: the account has no subject", ErrRefused)
	}
	if subtle.ConstantTimeCompare([]byte(token.Nonce), []byte(l.Nonce)) != 1 {
		return person, fmt.Errorf("%w: the nonce is another login's", ErrRefused)
	}
	return p.people.OfAccount(r.Context(), p.Issuer, token.Subject, func() (string, error) {
		return nameOf(ctx, provider, token, oauth2.StaticTokenSource(tokens))
	}, p.Role)
}

// claims are the claims of which a name is made.
type claims struct {
	Username string `json:"preferred_username"`
	Email    string `json:"email"`
	Verified bool   `json:"email_verified"`
}

func (c claims) name() string {
	if c.Username == "" && c.Verified {
		return c.Email
	}
	return c.Username
}

// nameOf returns the name of an account: preferred_username, else the address if it is verified, else the subject. Claims
// that the token lacks are those of the provider's user info.
func nameOf(ctx context.Context, provider *connect.Provider, token *connect.IDToken, source oauth2.TokenSource) (string, error) {
	var c claims
	if err := token.Claims(&c); err != nil {
		return "", fmt.Errorf("%w: %w", ErrRefused, err)
	}
	if c.name() == "" && provider.UserInfoEndpoint() != "" {
		info, err := provider.UserInfo(ctx, source)
		if err != nil {
			return "", fmt.Errorf("%w: %w", ErrUnreachable, err)
		}
		if info.Subject != token.Subject {
			return "", fmt.Errorf("%w: the user info is another account's", ErrRefused)
		}
		if err := info.Claims(&c); err != nil {
			return "", fmt.Errorf("%w: %w", ErrRefused, err)
		}
	}
	if name := c.name(); name != "" {
		return name, nil
	}
	return token.Subject, nil
}

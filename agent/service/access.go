package service

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"feedmesh/agent/access"
	"feedmesh/agent/access/oidc"
	"feedmesh/agent/access/passkey"
	"feedmesh/agent/service/interest"
	"feedmesh/agent/wire"
	"feedmesh/storage"
)

// Tokens answers requests about access tokens.
type Tokens struct {
	*core
	TokenStore *access.TokenStore // checks secrets
	interests  *interest.Interests

	subscriptions *Subscriptions
}

// tokenOfStore returns a token as clients see it.
func tokenOfStore(t storage.Token) wire.Token {
	scopes := convert(t.Scopes, func(s string) access.Scope { return access.Scope(s) })
	return wire.Token{ID: t.ID, Name: t.Name, Scopes: scopes, Created: t.Created, Used: t.Used}
}

// List returns all tokens but the owner's, without their secrets.
func (t *Tokens) List(ctx context.Context, _ wire.None) (wire.Tokens, error) {
	all, err := t.TokenStore.Tokens(ctx)
	if err != nil {
		return wire.Tokens{}, err
	}
	return wire.Tokens{Tokens: convert(all, tokenOfStore)}, nil
}

// Add creates a token. Its secret is in this answer only.
func (t *Tokens) Add(ctx context.Context, in wire.AddTokenRequest) (wire.NewToken, error) {
	name, err := access.TokenName(in.Body.Name)
	if err != nil {
		return wire.NewToken{}, &Error{KindInvalid, "the token is wrong, none was made", []FieldError{fieldf("body.name", "%v", err)}}
	}
	token, secret, err := t.TokenStore.Create(ctx, name, in.Body.Scopes, t.Now())
	if errors.Is(err, storage.ErrTooMany) {
		return wire.NewToken{}, errorf(KindConflict, "there are %d tokens, as many as there may be: remove one first", storage.MaxTokens)
	}
	return wire.NewToken{Token: tokenOfStore(token), Secret: secret}, err
}

// Remove removes a token with the marks, annotations, interests and subscriptions of its client and what the client follows.
func (t *Tokens) Remove(ctx context.Context, in wire.ByID) (wire.None, error) {
	if err := t.TokenStore.Remove(ctx, in.ID); err != nil {
		return wire.None{}, fmt.Errorf("token %s: %w", in.ID, err)
	}
	return wire.None{}, errors.Join(t.TokenStore.RemoveFeverPassword(ctx, in.ID), t.Store.DeleteMarks(ctx, in.ID), t.interests.Remove(ctx, in.ID), t.subscriptions.removeOf(ctx, in.ID))
}

// Fever returns whether the client has a password for apps that use the Fever API.
func (t *Tokens) Fever(ctx context.Context, _ wire.None) (wire.FeverPassword, error) {
	c := access.From(ctx)
	out := wire.FeverPassword{Name: access.FeverName(c)}
	key, err := t.TokenStore.FeverPassword(ctx, c)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return out, nil
	case err != nil:
		return wire.FeverPassword{}, err
	}
	out.Created, out.Used = key.Created, key.Used
	return out, nil
}

// SetFever generates a password for apps that use the Fever API. It is in this answer only.
func (t *Tokens) SetFever(ctx context.Context, _ wire.None) (wire.FeverPassword, error) {
	c := access.From(ctx)
	if c.ID == access.LocalID {
		return wire.FeverPassword{}, errorf(KindConflict, "apps on this machine need no password as long as there are no people and no token")
	}
	now := t.Now()
	password, err := t.TokenStore.SetFeverPassword(ctx, c, now)
	if err != nil {
		return wire.FeverPassword{}, err
	}
	return wire.FeverPassword{Name: access.FeverName(c), Password: password, Created: now}, nil
}

// RemoveFever removes the client's password for apps that use the Fever API.
func (t *Tokens) RemoveFever(ctx context.Context, _ wire.None) (wire.None, error) {
	return wire.None{}, t.TokenStore.RemoveFeverPassword(ctx, access.From(ctx).ID)
}

// People answers requests about the users who log in.
type People struct {
	*core
	Access    *access.People   // checks passwords and sessions
	Passkeys  *passkey.Service // checks passkeys
	Provider  *oidc.Provider   // nil: none is configured
	tokens    *access.TokenStore
	interests *interest.Interests

	subscriptions *Subscriptions
}

func newPeople(c *core, tokens *access.TokenStore, interests *interest.Interests, subscriptions *Subscriptions) *People {
	people, sealer := tokens.People, access.NewSealer(c.Store)
	people.Issuer = c.OIDC.Issuer
	return &People{c, people, passkey.New(people, c.Store, sealer, c.Log), oidc.New(c.OIDC, people, sealer), tokens, interests, subscriptions}
}

// LinkPath is the path of the page that sets the password of a person, with the parameter link.
const LinkPath = "/login/first"

// personOf returns a person as clients see it, with the link of a secret unless that is empty.
func personOf(p storage.Person, secret string) wire.Person {
	person := wire.Person{Name: p.Name, Role: access.Role(p.Role), Created: p.Created, Password: p.Hash != "", Provider: wire.ProviderNone}
	switch {
	case p.Subject != "":
		person.Provider = wire.ProviderBound
	case p.Issuer != "":
		person.Provider = wire.ProviderAllowed
	}
	if secret != "" {
		person.Link = LinkPath + "?" + url.Values{"link": {secret}}.Encode()
	}
	return person
}

// List returns all people, ordered by name.
func (p *People) List(ctx context.Context, _ wire.None) (wire.People, error) {
	all, err := p.Access.List(ctx)
	if err != nil {
		return wire.People{}, err
	}
	uses, err := p.Access.Uses(ctx, all)
	if err != nil {
		return wire.People{}, err
	}
	return wire.People{People: convert(all, func(o storage.Person) wire.ListedPerson {
		use := uses[o.ID]
		return wire.ListedPerson{Person: personOf(o, ""), Sessions: use.Sessions, Tokens: use.Tokens, Used: use.Used}
	})}, nil
}

// Add adds a person.
func (p *People) Add(ctx context.Context, in wire.AddPersonRequest) (wire.Person, error) {
	person, secret, err := p.Access.Add(ctx, in.Body.Name, access.PersonChange{Role: in.Body.Role, Password: in.Body.Password, OIDC: in.Body.OIDC}, p.Now())
	if err != nil {
		return wire.Person{}, refused(err)
	}
	return personOf(person, secret), nil
}

// Set changes a person.
func (p *People) Set(ctx context.Context, in wire.SetPersonRequest) (wire.Person, error) {
	person, secret, err := p.Access.Set(ctx, in.Name, access.PersonChange(in.Body))
	if err != nil {
		return wire.Person{}, refused(err)
	}
	return personOf(person, secret), nil
}

// Remove removes a person with the person's passkeys, tokens, sessions, marks, annotations and interests, and what the person follows.
func (p *People) Remove(ctx context.Context, in wire.ByName) (wire.None, error) {
	person, err := p.Access.Remove(ctx, in.Name)
	if err != nil {
		return wire.None{}, refused(err)
	}
	return wire.None{}, errors.Join(p.tokens.RemoveFeverPassword(ctx, person.ID), p.Store.DeleteMarks(ctx, person.ID), p.interests.Remove(ctx, person.ID), p.subscriptions.removeOf(ctx, person.ID))
}

// refused returns the error of a change of people as an [*Error] if the user caused it.
func refused(err error) error {
	switch {
	case errors.Is(err, access.ErrBadName):
		return &Error{KindInvalid, "the name is wrong", []FieldError{fieldf("body.name", "%v", access.ErrBadName)}}
	case errors.Is(err, access.ErrBadPassword):
		return &Error{KindInvalid, "the password is wrong", []FieldError{fieldf("body.password", "%v", access.ErrBadPassword)}}
	case errors.Is(err, access.ErrExists), errors.Is(err, access.ErrNoProvider):
		return errorf(KindConflict, "%v", err)
	case errors.Is(err, storage.ErrNoOwner):
		return errorf(KindConflict, "%v: make another person an owner first", err)
	case errors.Is(err, storage.ErrTooMany):
		return errorf(KindConflict, "there are %d people, as many as there may be: remove one first", storage.MaxPeople)
	case errors.Is(err, access.ErrBusy):
		return errorf(KindBusy, "%v", err)
	}
	return err
}

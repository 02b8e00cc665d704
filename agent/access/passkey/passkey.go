// Package passkey lets people log in with passkeys: [Service] makes the options for the browser, and verifies its answers.
// It is the only package that uses the library of WebAuthn.
package passkey

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"
	"unicode"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"feedmesh/agent/access"
	"feedmesh/storage"
)

// maxName is the maximum length of a passkey's name, in characters.
const maxName = 64

// ErrRefused reports an answer of a browser from which no passkey can be made.
var ErrRefused = errors.New("the passkey was not accepted: it is for another address, or its answer is damaged")

// ErrNoHostName reports a request to an IP address: passkeys belong to a host name.
var ErrNoHostName = errors.New("passkeys need a host name in the address, such as localhost")

// A Service verifies the passkeys of people. Its methods may be called concurrently.
//
// A challenge is in a cookie that [access.Sealer] seals, so that the answer may reach any agent of the mesh. It is accepted
// within [access.LoginTimeout] and once: the record of a passkey has the time of the last challenge that was accepted, and
// only a later one is. A credential is added once.
type Service struct {
	people *access.People
	store  storage.Records
	sealer *access.Sealer
	log    *slog.Logger
}

// New returns the passkeys of a store.
func New(people *access.People, store storage.Records, sealer *access.Sealer, log *slog.Logger) *Service {
	return &Service{people, store, sealer, log}
}

// Kinds of state of [access.Sealer].
const (
	loginKind = "passkey-login"
	addKind   = "passkey-add"
)

// An addition is the state of a passkey that is being added.
type addition struct {
	Session webauthn.SessionData
	Name    string
	Link    string // secret of the link by which it is added; empty: the person is logged in
}

// IsSupported reports whether a browser can have passkeys for the address of the request.
func IsSupported(r *http.Request) bool { return hostName(r) != "" }

// hostName returns the host name of a request, empty for an IP address.
func hostName(r *http.Request) string {
	name, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		name = r.Host
	}
	if _, err := netip.ParseAddr(strings.Trim(name, "[]")); err == nil {
		return ""
	}
	return strings.ToLower(name)
}

// relyingParty returns the relying party of a request: its ID is the host name, and only pages of the request's own origin
// may use its passkeys.
func relyingParty(r *http.Request) (*webauthn.WebAuthn, error) {
	name := hostName(r)
	if name == "" {
		return nil, ErrNoHostName
	}
	timeout := webauthn.TimeoutConfig{Enforce: true, Timeout: access.LoginTimeout, TimeoutUVD: access.LoginTimeout}
	return webauthn.New(&webauthn.Config{
		RPID: name, RPDisplayName: "feedmesh", RPOrigins: []string{access.Origin(r)},
		AttestationPreference: protocol.PreferNoAttestation,
		AuthenticatorSelection: protocol.AuthenticatorSelection{
			ResidentKey: protocol.ResidentKeyRequirementRequired, RequireResidentKey: protocol.ResidentKeyRequired(), UserVerification: protocol.VerificationPreferred,
		},
		Timeouts: webauthn.TimeoutsConfig{Login: timeout, Registration: timeout},
	})
}

// A user is a person with passkeys, for the library.
type user struct {
	person      storage.Person
	credentials []webauthn.Credential
}

func (u user) WebAuthnID() []byte                         { return []byte(u.person.ID) }
func (u user) WebAuthnName() string                       { return u.person.Name }
func (u user) WebAuthnDisplayName() string                { return u.person.Name }
func (u user) WebAuthnCredentials() []webauthn.Credential { return u.credentials }

// userOf returns a person with the stored passkeys, which it reads from the store. An unreadable passkey is left out and
// logged.
func (s *Service) userOf(ctx context.Context, person storage.Person) (u user, passkeys []storage.Passkey, err error) {
	u.person = person
	all, err := s.List(ctx, person.ID)
	for _, p := range all {
		var credential webauthn.Credential
		if err := json.Unmarshal(p.Credential, &credential); err != nil {
			s.log.Warn("passkey unreadable", "person", person.Name, "passkey", p.Name, "err", err)
			continue
		}
		passkeys, u.credentials = append(passkeys, p), append(u.credentials, credential)
	}
	return u, passkeys, err
}

// List returns the passkeys of a person, the newest first.
func (s *Service) List(ctx context.Context, person string) ([]storage.Passkey, error) {
	return storage.Passkeys(s.store).List(ctx, person)
}

// Remove removes a passkey of a person; a missing one is no error. It ends no session: see [access.People.EndOthers].
func (s *Service) Remove(ctx context.Context, person, id string) error {
	err := storage.Passkeys(s.store).Remove(ctx, person, id)
	if errors.Is(err, storage.ErrNotFound) {
		return nil
	}
	return err
}

// BeginLogin returns the options of a login for the browser, as JSON, and stores the challenge in its cookie.
func (s *Service) BeginLogin(w http.ResponseWriter, r *http.Request) (options any, err error) {
	rp, err := relyingParty(r)
	if err != nil {
		return nil, err
	}
	assertion, session, err := rp.BeginDiscoverableLogin()
	if err != nil {
		return nil, err
	}
	return assertion.Response, s.sealer.Set(w, r, loginKind, session)
}

// FinishLogin verifies the answer of a browser and begins a session. The error may be [access.ErrExpired],
// [access.ErrWrongPasskey] or an [*access.GuessError]. limited is that of [access.People.Attempt].
func (s *Service) FinishLogin(w http.ResponseWriter, r *http.Request, answer io.Reader) (c access.Client, secret string, limited bool, err error) {
	var session webauthn.SessionData
	issued, err := s.sealer.Take(w, r, loginKind, &session)
	if err != nil {
		return c, "", false, err
	}
	var person storage.Person
	limited, err = s.people.Attempt(r.Context(), access.Address(r), access.ErrWrongPasskey, func() (err error) {
		person, err = s.verify(r, session, issued, answer)
		return err
	})
	if err != nil {
		return c, "", limited, err
	}
	c, secret, err = s.people.Enter(r.Context(), person, r.UserAgent())
	return c, secret, false, err
}

// verify returns the person whose passkey answered the challenge, and records its use.
func (s *Service) verify(r *http.Request, session webauthn.SessionData, issued time.Time, answer io.Reader) (storage.Person, error) {
	rp, err := relyingParty(r)
	if err != nil {
		return storage.Person{}, err
	}
	parsed, err := protocol.ParseCredentialRequestResponseBody(answer)
	if err != nil {
		return storage.Person{}, access.ErrWrongPasskey
	}
	var u user
	var passkeys []storage.Passkey
	var failed error // of the store
	find := func(_, handle []byte) (webauthn.User, error) {
		person, err := s.people.Find(r.Context(), string(handle))
		if err == nil {
			u, passkeys, err = s.userOf(r.Context(), person)
		}
		if err != nil && !errors.Is(err, storage.ErrNotFound) {
			failed = err
		}
		return u, err
	}
	_, credential, err := rp.ValidatePasskeyLogin(find, session, parsed)
	switch {
	case failed != nil:
		return storage.Person{}, failed
	case err != nil:
		s.log.Info("passkey rejected", "address", access.Address(r), "err", err)
		return storage.Person{}, access.ErrWrongPasskey
	}
	for i, p := range passkeys {
		if string(u.credentials[i].ID) == string(credential.ID) {
			return u.person, s.use(r.Context(), u.person, p, credential, issued)
		}
	}
	return storage.Person{}, access.ErrWrongPasskey
}

// use records the use of a passkey.
func (s *Service) use(ctx context.Context, person storage.Person, p storage.Passkey, credential *webauthn.Credential, issued time.Time) (err error) {
	if credential.Authenticator.CloneWarning {
		s.log.Warn("sign count of a passkey did not increase: the passkey may have been copied", "person", person.Name, "passkey", p.Name)
	}
	if p.Credential, err = json.Marshal(credential); err != nil {
		return err
	}
	p.Used, p.Challenged = time.Now(), issued
	err = storage.Passkeys(s.store).Use(ctx, p)
	switch {
	case errors.Is(err, storage.ErrConflict):
		return access.ErrExpired
	case errors.Is(err, storage.ErrNotFound):
		return access.ErrWrongPasskey
	}
	return err
}

// BeginAdd returns the options of a new passkey with a name for the browser, as JSON, and stores the challenge in its
// cookie. The passkey is for a person who is logged in, or for the person of a link unless that is empty. The error may be
// [access.ErrInvalidLink] or [storage.ErrTooMany].
func (s *Service) BeginAdd(w http.ResponseWriter, r *http.Request, id, link, name string) (options any, err error) {
	rp, err := relyingParty(r)
	if err != nil {
		return nil, err
	}
	person, err := s.person(r.Context(), id, link)
	if err != nil {
		return nil, err
	}
	u, passkeys, err := s.userOf(r.Context(), person)
	if err != nil {
		return nil, err
	}
	if len(passkeys) >= storage.MaxPasskeys {
		return nil, storage.ErrTooMany
	}
	creation, session, err := rp.BeginRegistration(u, webauthn.WithExclusions(webauthn.Credentials(u.credentials).CredentialDescriptors()))
	if err != nil {
		return nil, err
	}
	return creation.Response, s.sealer.Set(w, r, addKind, addition{*session, cleanName(name), link})
}

// person returns the person of a link, or of an ID without a link.
func (s *Service) person(ctx context.Context, id, link string) (storage.Person, error) {
	if link != "" {
		return s.people.OfLink(ctx, link)
	}
	return s.people.Find(ctx, id)
}

// cleanName returns the stored form of a passkey's name.
func cleanName(name string) string {
	name = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(name, ""), func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	if name == "" {
		return "Passkey"
	}
	runes := []rune(name)
	return string(runes[:min(len(runes), maxName)])
}

// FinishAdd verifies the answer of a browser and stores the passkey of a person who is logged in. With a link, which works
// once, it begins a session instead. The error may be [access.ErrExpired], [access.ErrInvalidLink], [ErrRefused] or
// [storage.ErrTooMany].
func (s *Service) FinishAdd(w http.ResponseWriter, r *http.Request, id string, answer io.Reader) (c access.Client, secret string, err error) {
	var begun addition
	if _, err := s.sealer.Take(w, r, addKind, &begun); err != nil {
		return c, "", err
	}
	person, err := s.person(r.Context(), id, begun.Link)
	if err != nil {
		return c, "", err
	}
	p, err := verified(r, user{person: person}, begun.Session, answer)
	if err != nil {
		s.log.Info("passkey refused", "person", person.Name, "address", access.Address(r), "err", err)
		return c, "", ErrRefused
	}
	p.Name = begun.Name
	err = storage.Passkeys(s.store).Add(r.Context(), p)
	switch {
	case errors.Is(err, storage.ErrConflict):
		return c, "", access.ErrExpired
	case err != nil:
		return c, "", err
	case begun.Link == "":
		s.log.Info("passkey added", "person", person.Name, "passkey", p.Name)
		return c, "", nil
	}
	c, secret, err = s.people.Claim(r.Context(), begun.Link, nil, r.UserAgent())
	if err != nil {
		err = errors.Join(err, s.Remove(r.Context(), person.ID, p.ID))
	}
	return c, secret, err
}

// verified returns the passkey of an answer.
func verified(r *http.Request, u user, session webauthn.SessionData, answer io.Reader) (p storage.Passkey, err error) {
	rp, err := relyingParty(r)
	if err != nil {
		return p, err
	}
	parsed, err := protocol.ParseCredentialCreationResponseBody(answer)
	if err != nil {
		return p, err
	}
	credential, err := rp.CreateCredential(u, session, parsed)
	if err != nil {
		return p, err
	}
	credential.Attestation = webauthn.CredentialAttestation{} // none was requested
	p = storage.Passkey{Person: u.person.ID, ID: base64.RawURLEncoding.EncodeToString(credential.ID), Created: time.Now()}
	p.Credential, err = json.Marshal(credential)
	return p, err
}

package access

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/text/secure/precis"

	"feedmesh/storage"
)

// A Role is what a person may do.
type Role string

// The roles.
const (
	Owner  Role = storage.RoleOwner // everything
	Editor Role = "editor"          // also change feeds, items, stories, spam, rules
	Reader Role = "reader"          // read everything
)

// Roles lists the roles.
var Roles = []Role{Owner, Editor, Reader}

// scopes returns the scopes of a role, none for an unknown role.
func (r Role) scopes() []Scope {
	switch r {
	case Owner:
		return Scopes
	case Editor:
		return []Scope{Search, Read, Write, Rules}
	case Reader:
		return []Scope{Search, Read}
	}
	return nil
}

// May reports whether people of the role have a scope.
func (r Role) May(s Scope) bool { return Client{Scopes: r.scopes()}.May(s) }

const (
	sessionLifetime = 30 * 24 * time.Hour // without use
	linkLifetime    = 24 * time.Hour
	maxBrowser      = 200 // bytes of the description of a browser
)

// Errors of [People].
var (
	ErrWrongPassword = errors.New("the name or the password is wrong")
	ErrWrongPasskey  = errors.New("the passkey is unknown, or was removed")
	ErrNoAccount     = errors.New("there is no such person: an owner can add one")
	ErrOtherAccount  = errors.New("the person does not log in with this account of the provider: an owner can allow it")
	ErrNoProvider    = errors.New("no OpenID provider is configured: set oidc-issuer")
	ErrBadName       = errors.New("a name has up to 64 letters and digits, without spaces")
	ErrExists        = errors.New("there is a person of this name already")
	ErrInvalidLink   = errors.New("the link was used, was replaced, or is older than a day: an owner can make another")
)

// People are the people of a store, who log in with passwords, passkeys or a provider, and get sessions. Roles, passwords
// and removals that change on another node take effect within five seconds, within ten if the store can't be read. Its
// methods may be called concurrently.
type People struct {
	Issuer string // OpenID provider whose accounts people may have; empty: none

	store   storage.FencedRecords // nil: there are no people
	guesses *guesses
	hasher  passwordHasher
	cache   recordCache[storage.Person] // by ID

	sessions keyCache[storage.Session]     // by hash
	tokens   keyCache[storage.PersonToken] // by hash
}

func newPeople(store storage.FencedRecords, g *guesses) *People {
	p := &People{store: store, guesses: g}
	p.hasher = passwordHasher{queue: make(chan struct{}, maxHashing+maxQueued), slots: make(chan struct{}, maxHashing), dummy: sync.OnceValue(func() string {
		return phc{argonMemory, argonTime, argonThreads, make([]byte, saltSize), make([]byte, keySize)}.String()
	})}
	if store != nil {
		p.cache.list, p.cache.key = storage.People(store).List, func(p storage.Person) string { return p.ID }
	}
	return p
}

// Any reports whether there are people, so that a login is required. While the store can't be read, it is as at the
// last read; the error reports that there was none.
func (p *People) Any(ctx context.Context) (bool, error) {
	if p.store == nil {
		return false, nil
	}
	_, is, err := p.cache.search(ctx, refreshAfter, func(storage.Person) bool { return true })
	return is, err
}

// NormalName returns the stored form of a name, in lower case, or [ErrBadName].
//
// Source: RFC 8265, UsernameCaseMapped.
func NormalName(name string) (string, error) {
	name, err := precis.UsernameCaseMapped.String(name)
	if err != nil || name == "" || len([]rune(name)) > 64 || strings.ContainsAny(name, "/%?#") {
		return "", ErrBadName
	}
	return name, nil
}

// named returns the person of a name from the cache, false if there is none.
func (p *People) named(ctx context.Context, name string) (person storage.Person, is bool, err error) {
	name, err = NormalName(name)
	if err != nil || p.store == nil {
		return person, false, nil
	}
	return p.cache.search(ctx, minReload, func(o storage.Person) bool { return o.Name == name })
}

// clientOfPerson returns the client of a person.
func clientOfPerson(person storage.Person, session string) Client {
	return Client{ID: person.ID, Name: person.Name, Role: Role(person.Role), Scopes: Role(person.Role).scopes(), Person: true, Session: session}
}

// Named returns the client of the person of a name, or [ErrInvalidToken]. The caller has authenticated the person.
func (p *People) Named(ctx context.Context, name string) (Client, error) {
	person, is, err := p.named(ctx, name)
	switch {
	case err != nil:
		return Client{}, err
	case !is:
		return Client{}, ErrInvalidToken
	}
	return clientOfPerson(person, ""), nil
}

// Login begins a session of a person in a browser. The errors are those of [People.Verify].
func (p *People) Login(ctx context.Context, name, password, address, browser string) (c Client, secret string, limited bool, err error) {
	person, limited, err := p.verify(ctx, name, password, address)
	if err != nil {
		return Client{}, "", limited, err
	}
	c, secret, err = p.begin(ctx, person, browser)
	return c, secret, false, err
}

// Verify checks a password. The error may be [ErrWrongPassword], [ErrBusy], or a [*GuessError]. limited reports that the
// address has reached its limit with this password.
func (p *People) Verify(ctx context.Context, name, password, address string) (limited bool, err error) {
	_, limited, err = p.verify(ctx, name, password, address)
	return limited, err
}

// verify takes the same time for unknown names, people without a password, and wrong passwords.
func (p *People) verify(ctx context.Context, name, password, address string) (person storage.Person, limited bool, err error) {
	if err := p.guesses.delay(ctx, address); err != nil {
		return person, false, err
	}
	person, _, err = p.named(ctx, name)
	if err != nil {
		return person, false, err
	}
	is, err := p.hasher.matches(ctx, person.Hash, password)
	if err != nil || is {
		return person, false, err
	}
	limited, err = p.wrong(address, ErrWrongPassword)
	return storage.Person{}, limited, err
}

// wrong counts a wrong secret of an address. It returns the reason, or a [*GuessError] over the limit.
func (p *People) wrong(address string, reason error) (limited bool, err error) {
	limited, err = p.guesses.wrong(address)
	if errors.Is(err, ErrInvalidToken) {
		err = reason
	}
	return limited, err
}

// Attempt runs a check of another secret than a password, with the delays and limits of wrong passwords: an error of check
// that is reason counts as one. limited and the error are those of [People.Verify], with reason for a wrong secret.
func (p *People) Attempt(ctx context.Context, address string, reason error, check func() error) (limited bool, err error) {
	if err := p.guesses.delay(ctx, address); err != nil {
		return false, err
	}
	if err = check(); errors.Is(err, reason) {
		return p.wrong(address, reason)
	}
	return false, err
}

// Find returns the person with an ID from the cache, or [storage.ErrNotFound].
func (p *People) Find(ctx context.Context, id string) (storage.Person, error) {
	if p.store == nil {
		return storage.Person{}, storage.ErrNotFound
	}
	person, is, err := p.cache.find(ctx, id, nil)
	if err == nil && !is {
		err = storage.ErrNotFound
	}
	return person, err
}

// Enter begins a session of a person whom the caller has authenticated.
func (p *People) Enter(ctx context.Context, person storage.Person, browser string) (c Client, secret string, err error) {
	return p.begin(ctx, person, browser)
}

// begin stores a new session, and deletes those of the person that have expired.
func (p *People) begin(ctx context.Context, person storage.Person, browser string) (c Client, secret string, err error) {
	now, sessions := time.Now(), storage.Sessions(p.store)
	secret = newSecretOf(person.ID)
	s := storage.Session{
		Person: person.ID, Hash: Hash(secret), Browser: strings.ToValidUTF8(browser[:min(len(browser), maxBrowser)], ""),
		Passwords: person.Passwords, Created: now, Used: now, Expires: now.Add(sessionLifetime),
	}
	all, err := sessions.List(ctx, person.ID)
	for _, old := range all {
		if err == nil && !now.Before(old.Expires) {
			err = ignoreNotFound(sessions.Remove(ctx, person.ID, old.Hash))
		}
	}
	if err == nil {
		err = sessions.Add(ctx, s)
	}
	if err != nil {
		return Client{}, "", err
	}
	return clientOfPerson(person, s.Hash), secret, nil
}

func ignoreNotFound(err error) error {
	if errors.Is(err, storage.ErrNotFound) {
		return nil
	}
	return err
}

// personOf returns the person whose ID a secret contains, or [ErrInvalidToken], from the cache: guesses of IDs cost no read
// of the store.
func (p *People) personOf(ctx context.Context, secret string) (storage.Person, error) {
	id, is := personIn(secret)
	if !is || p.store == nil {
		return storage.Person{}, ErrInvalidToken
	}
	person, is, err := p.cache.find(ctx, id, nil)
	if err == nil && !is {
		err = ErrInvalidToken
	}
	return person, err
}

// Session returns the client of a session's secret, or [ErrInvalidToken]. Any other error reports that the store can't be
// read.
func (p *People) Session(ctx context.Context, secret string) (Client, error) {
	person, err := p.personOf(ctx, secret)
	if err != nil {
		return Client{}, err
	}
	id, hash := person.ID, Hash(secret)
	s, err := p.sessions.get(ctx, hash, func(ctx context.Context) (storage.Session, error) {
		return storage.Sessions(p.store).Read(ctx, id, hash)
	})
	if errors.Is(err, storage.ErrNotFound) {
		err = ErrInvalidToken
	}
	if err != nil {
		return Client{}, err
	}
	now := time.Now()
	if !isValid(s, person, now) {
		return Client{}, ErrInvalidToken
	}
	if now.Sub(s.Used) >= usedInterval {
		s.Used, s.Expires = now, now.Add(sessionLifetime)
		p.sessions.change(hash, s)
		// The last use must not reject the person; it is recorded again in a minute.
		_ = storage.Sessions(p.store).Use(ctx, s)
	}
	return clientOfPerson(person, s.Hash), nil
}

// Sessions returns the valid sessions of a person, the one used last first.
func (p *People) Sessions(ctx context.Context, id string) ([]storage.Session, error) {
	person, is, err := p.cache.find(ctx, id, nil)
	if err != nil || !is {
		return nil, err
	}
	all, err := storage.Sessions(p.store).List(ctx, id)
	now := time.Now()
	return slices.DeleteFunc(all, func(s storage.Session) bool { return !isValid(s, person, now) }), err
}

// isValid reports whether a session of a person has not ended.
func isValid(s storage.Session, person storage.Person, now time.Time) bool {
	return s.Passwords >= person.Passwords && now.Before(s.Expires)
}

// End ends a session of a person. This process rejects it immediately, others within ten seconds. A session that has
// ended is no error.
func (p *People) End(ctx context.Context, id, hash string) error {
	defer p.sessions.drop(hash)
	return ignoreNotFound(storage.Sessions(p.store).Remove(ctx, id, hash))
}

// List returns all people, ordered by name.
func (p *People) List(ctx context.Context) ([]storage.Person, error) {
	return storage.People(p.store).List(ctx)
}

// A PersonChange changes a person.
type PersonChange struct {
	Role     Role    // empty: unchanged
	Password *string // nil: unchanged; another password ends all sessions
	Link     bool    // makes a link that sets a password, instead of an earlier link
	OIDC     bool    // lets the next account of the person's name at the provider log in, instead of an earlier account
	Revoke   bool    // ends all sessions, and removes tokens, passkeys, account of the provider and link; the password stays
}

// Add adds a person. secret is that of a link which sets the password, empty if the change has a password. The error may be
// [ErrBadName], [ErrExists], [ErrBadPassword], [ErrNoProvider], [storage.ErrTooMany], or [storage.ErrNoOwner].
func (p *People) Add(ctx context.Context, name string, change PersonChange, now time.Time) (person storage.Person, secret string, err error) {
	name, err = NormalName(name)
	if err != nil {
		return person, "", err
	}
	change.Link = change.Password == nil && !change.OIDC
	return p.change(ctx, name, change, func(stored *storage.Person) (*storage.Person, error) {
		if stored != nil {
			return nil, ErrExists
		}
		return &storage.Person{Name: name, ID: newPersonID(), Created: now}, nil
	})
}

// Set changes a person. The errors are those of [People.Add], and [storage.ErrNotFound].
func (p *People) Set(ctx context.Context, name string, change PersonChange) (person storage.Person, secret string, err error) {
	name, err = NormalName(name)
	if err != nil {
		return person, "", storage.ErrNotFound
	}
	return p.change(ctx, name, change, existing)
}

// existing returns a copy of the stored person, or [storage.ErrNotFound].
func existing(stored *storage.Person) (*storage.Person, error) {
	if stored == nil {
		return nil, storage.ErrNotFound
	}
	person := *stored
	return &person, nil
}

// change applies a change to the person that begin returns for the stored one.
func (p *People) change(ctx context.Context, name string, change PersonChange, begin func(stored *storage.Person) (*storage.Person, error)) (person storage.Person, secret string, err error) {
	if change.OIDC && p.Issuer == "" {
		return person, "", ErrNoProvider
	}
	hash := ""
	if change.Password != nil {
		if hash, err = p.hasher.hash(ctx, *change.Password); err != nil {
			return person, "", err
		}
	}
	defer p.cache.invalidate()
	err = storage.People(p.store).Change(ctx, name, func(stored *storage.Person) (*storage.Person, error) {
		changed, err := begin(stored)
		if err != nil {
			return nil, err
		}
		if change.Role != "" {
			changed.Role = string(change.Role)
		}
		if hash != "" {
			changed.Hash, changed.Passwords, changed.Link, changed.LinkUntil = hash, changed.Passwords+1, "", time.Time{}
		}
		if change.Revoke {
			changed.Passwords++
			changed.Link, changed.LinkUntil, changed.Issuer, changed.Subject = "", time.Time{}, "", ""
		}
		if change.OIDC {
			changed.Issuer, changed.Subject = p.Issuer, ""
		}
		if change.Link {
			secret = newSecretOf(changed.ID)
			changed.Link, changed.LinkUntil = Hash(secret), time.Now().Add(linkLifetime)
		}
		person = *changed
		return changed, nil
	})
	if err != nil {
		return storage.Person{}, "", fmt.Errorf("person %s: %w", name, err)
	}
	if change.Revoke {
		err = errors.Join(p.removeTokens(ctx, person.ID), p.removePasskeys(ctx, person.ID))
	}
	return person, secret, err
}

func (p *People) removePasskeys(ctx context.Context, id string) error {
	passkeys := storage.Passkeys(p.store)
	all, err := passkeys.List(ctx, id)
	for _, passkey := range all {
		err = errors.Join(err, ignoreNotFound(passkeys.Remove(ctx, id, passkey.ID)))
	}
	return err
}

func (p *People) removeTokens(ctx context.Context, id string) error {
	all, err := storage.PersonTokens(p.store).List(ctx, id)
	for _, t := range all {
		err = errors.Join(err, ignoreNotFound(p.RemoveToken(ctx, id, t.Hash)))
	}
	return err
}

// EndOthers ends all sessions of a person who is logged in, and begins another.
func (p *People) EndOthers(ctx context.Context, name, browser string) (c Client, secret string, err error) {
	person, _, err := p.change(ctx, name, PersonChange{}, func(stored *storage.Person) (*storage.Person, error) {
		changed, err := existing(stored)
		if err == nil {
			changed.Passwords++
		}
		return changed, err
	})
	if err != nil {
		return Client{}, "", err
	}
	return p.begin(ctx, person, browser)
}

// OfAccount returns the person of an account at an OpenID provider, which the caller has verified. An unknown account is
// stored with the person of the name if an owner allowed it; without such a person, one with the role is added unless the
// role is empty. The error may be [ErrBadName], [ErrNoAccount], [ErrOtherAccount], [storage.ErrTooMany] or
// [storage.ErrNoOwner].
func (p *People) OfAccount(ctx context.Context, issuer, subject string, name func() (string, error), role Role) (storage.Person, error) {
	person, is, err := p.cache.search(ctx, minReload, func(o storage.Person) bool { return o.Issuer == issuer && o.Subject == subject })
	if err != nil || is {
		return person, err
	}
	text, err := name()
	if err == nil {
		text, err = NormalName(text)
	}
	if err != nil {
		return person, err
	}
	person, _, err = p.change(ctx, text, PersonChange{}, func(stored *storage.Person) (*storage.Person, error) {
		switch {
		case stored == nil && role == "":
			return nil, ErrNoAccount
		case stored == nil:
			return &storage.Person{Name: text, ID: newPersonID(), Role: string(role), Created: time.Now(), Issuer: issuer, Subject: subject}, nil
		case stored.Issuer != issuer || stored.Subject != "" && stored.Subject != subject:
			return nil, ErrOtherAccount
		}
		changed := *stored
		changed.Subject = subject
		return &changed, nil
	})
	return person, err
}

// newPersonID returns a random ID.
func newPersonID() string { return strings.ToLower(rand.Text()[:16]) }

// Remove removes a person with the person's passkeys, tokens and sessions; caches of other processes follow within ten seconds. The error
// may be [storage.ErrNotFound] or [storage.ErrNoOwner].
func (p *People) Remove(ctx context.Context, name string) (storage.Person, error) {
	var person storage.Person
	defer p.cache.invalidate()
	name, err := NormalName(name)
	if err != nil {
		return person, storage.ErrNotFound
	}
	err = storage.People(p.store).Change(ctx, name, func(stored *storage.Person) (*storage.Person, error) {
		changed, err := existing(stored)
		if err == nil {
			person = *changed
		}
		return nil, err
	})
	if err != nil {
		return person, fmt.Errorf("person %s: %w", name, err)
	}
	all, err := storage.Sessions(p.store).List(ctx, person.ID)
	for _, s := range all {
		err = errors.Join(err, p.End(ctx, person.ID, s.Hash))
	}
	return person, errors.Join(err, p.removeTokens(ctx, person.ID), p.removePasskeys(ctx, person.ID))
}

// ChangePassword sets the password of a person who is logged in, which ends all sessions, and begins another.
func (p *People) ChangePassword(ctx context.Context, name, password, browser string) (c Client, secret string, err error) {
	person, _, err := p.Set(ctx, name, PersonChange{Password: &password})
	if err != nil {
		return Client{}, "", err
	}
	return p.begin(ctx, person, browser)
}

// LinkName returns the name of the person whose password a link may set, from the cache, or [ErrInvalidLink].
func (p *People) LinkName(ctx context.Context, secret string) (string, error) {
	person, err := p.OfLink(ctx, secret)
	return person.Name, err
}

// OfLink returns the person whose password a link may set, from the cache, or [ErrInvalidLink].
func (p *People) OfLink(ctx context.Context, secret string) (storage.Person, error) {
	id, is := personIn(secret)
	if !is || p.store == nil {
		return storage.Person{}, ErrInvalidLink
	}
	person, is, err := p.cache.find(ctx, id, nil)
	if err == nil && (!is || !linkIs(person, secret)) {
		err = ErrInvalidLink
	}
	return person, err
}

func linkIs(person storage.Person, secret string) bool {
	return person.Link == Hash(secret) && time.Now().Before(person.LinkUntil)
}

// Claim sets the password of the person of a link, which works once, and begins a session. A nil password sets none and
// ends all sessions: the caller has stored a passkey. The error may be [ErrInvalidLink], [ErrBadPassword] or [ErrBusy].
func (p *People) Claim(ctx context.Context, secret string, password *string, browser string) (c Client, session string, err error) {
	name, err := p.LinkName(ctx, secret)
	if err != nil {
		return Client{}, "", err
	}
	person, _, err := p.change(ctx, name, PersonChange{Password: password}, func(stored *storage.Person) (*storage.Person, error) {
		changed, err := existing(stored)
		if err != nil || !linkIs(*changed, secret) {
			return nil, ErrInvalidLink
		}
		if password == nil {
			changed.Passwords++
			changed.Link, changed.LinkUntil = "", time.Time{}
		}
		return changed, nil
	})
	if err != nil {
		return Client{}, "", err
	}
	return p.begin(ctx, person, browser)
}

package storage

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"
)

// MaxTokens is the maximum number of tokens, low enough that every process can cache all of them.
const MaxTokens = 1000

// A Token is a client's secret and its permissions.
type Token struct {
	ID      string
	Name    string   // display name
	Hash    string   // of the secret, computed by package agent/access; the secret itself is not stored
	Scopes  []string // see package agent/access
	Created time.Time
	Used    time.Time // time of last use, accurate to about a minute; zero: never
}

var tokenTable = tableOf(Table{Name: "tokens", Keys: 1, Order: "created, id", Max: MaxTokens}, func(t *Token) []Column {
	return []Column{
		{Name: "id", Field: &t.ID}, {Name: "name", Field: &t.Name}, {Name: "hash", Field: &t.Hash}, {Name: "scopes", Field: &t.Scopes},
		{Name: "created", Field: &t.Created}, {Name: "used", Field: &t.Used, Nullable: true},
	}
})

// Tokens returns the API tokens of a [Store].
func Tokens(of Records) TokenRecords { return TokenRecords{of} }

// TokenRecords are the API tokens of a [Store].
type TokenRecords struct{ records Records }

// List returns all tokens, ordered by Created, then ID.
func (t TokenRecords) List(ctx context.Context) ([]Token, error) {
	return listRecords[Token](ctx, t.records, tokenTable, allRecords)
}

// Add stores an unused token. A token with the same ID stays unchanged. If [MaxTokens] are stored, it returns
// [ErrTooMany].
func (t TokenRecords) Add(ctx context.Context, token Token) error {
	token.Used = time.Time{}
	return changeRecord(ctx, t.records, tokenTable, func(stored *Token) (*Token, error) {
		if stored != nil {
			return stored, nil
		}
		return &token, nil
	}, token.ID)
}

// Use records the time of last use, unless a later use is recorded. A missing token is ignored.
func (t TokenRecords) Use(ctx context.Context, id string, at time.Time) error {
	return changeRecord(ctx, t.records, tokenTable, func(stored *Token) (*Token, error) {
		if stored != nil && at.After(stored.Used) {
			stored.Used = at
		}
		return stored, nil
	}, id)
}

// Remove deletes the token with the given ID, or returns [ErrNotFound].
func (t TokenRecords) Remove(ctx context.Context, id string) error {
	return removeRecord[Token](ctx, t.records, tokenTable, id)
}

// MaxPeople is the maximum number of people, low enough that every process can cache all of them.
const MaxPeople = 300

// ErrNoOwner reports a change of people that would leave no owner.
var ErrNoOwner = errors.New("there must be an owner")

// RoleOwner is the role of which there is always at least one person.
const RoleOwner = "owner"

// A Person is a user who logs in with a password, a passkey or an account of an OpenID provider.
type Person struct {
	Name      string // unique
	ID        string // random; owns the person's marks, sessions, passkeys and interests
	Role      string // [RoleOwner] or another role of package agent/access
	Hash      string // of the password, computed by package agent/access; empty: none was set
	Passwords int64  // how often all sessions were ended, such as by another password
	Link      string // hash of the secret of the link that sets a password; empty: none
	LinkUntil time.Time
	Created   time.Time

	Issuer  string // OpenID provider with whose account the person may log in; empty: none
	Subject string // that account; empty with an issuer: none yet, the next account of the person's name is stored
}

var personTable = tableOf(Table{Name: "people", Keys: 1, Order: "name", Max: MaxPeople}, func(p *Person) []Column {
	return []Column{
		{Name: "name", Field: &p.Name}, {Name: "id", Field: &p.ID}, {Name: "role", Field: &p.Role}, {Name: "hash", Field: &p.Hash},
		{Name: "passwords", Field: &p.Passwords}, {Name: "link", Field: &p.Link}, {Name: "link_until", Field: &p.LinkUntil, Nullable: true},
		{Name: "created", Field: &p.Created}, {Name: "issuer", Field: &p.Issuer}, {Name: "subject", Field: &p.Subject},
	}
})

// A FencedRecords is the part of a [Store] that [People] needs.
type FencedRecords interface {
	Records
	Fences
}

// People returns the people of a [Store].
func People(of FencedRecords) PeopleRecords { return PeopleRecords{of} }

// PeopleRecords are the people of a [Store].
type PeopleRecords struct{ records FencedRecords }

// List returns all people, ordered by name.
func (p PeopleRecords) List(ctx context.Context) ([]Person, error) {
	return listRecords[Person](ctx, p.records, personTable, allRecords)
}

// peopleFence is the name of the fence of all changes of people.
const peopleFence = "people"

const (
	// maxPeopleAttempts bounds the attempts of a change beside concurrent changes.
	maxPeopleAttempts = 10

	// peopleBackoff, times the number of attempts, is the longest wait before a retry. Without waits of random length two
	// changes can fence each other again and again.
	peopleBackoff = 10 * time.Millisecond
)

// Change stores what apply makes of the person with the name, nil for none. stored is nil if there is no such person.
// It returns the error of apply, [ErrTooMany], or [ErrNoOwner] if no owner would be left. apply may run again.
func (p PeopleRecords) Change(ctx context.Context, name string, apply func(stored *Person) (*Person, error)) error {
	for attempt := 1; ; attempt++ {
		if err := p.change(ctx, name, apply); !errors.Is(err, ErrFenced) || attempt == maxPeopleAttempts {
			return err
		}
		select {
		case <-time.After(rand.N(time.Duration(attempt) * peopleBackoff)):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// change is an attempt of Change. A later change takes a newer fence before it reads the owners, so that this one
// fails if it is not committed by then: two changes never rely on the same owner.
func (p PeopleRecords) change(ctx context.Context, name string, apply func(stored *Person) (*Person, error)) error {
	fence, err := p.records.NextFence(ctx, peopleFence)
	if err != nil {
		return err
	}
	all, err := p.List(ctx)
	if err != nil {
		return err
	}
	others := slices.ContainsFunc(all, func(o Person) bool { return o.Role == RoleOwner && o.Name != name })
	return p.records.ChangeRecord(ctx, personTable, RecordChange{Key: []any{name}, Fence: fence, Apply: func(record any) (any, error) {
		stored, _ := record.(*Person)
		changed, err := apply(stored)
		switch {
		case err != nil:
			return nil, err
		case !others && (changed == nil || changed.Role != RoleOwner):
			return nil, ErrNoOwner
		case changed == nil:
			return nil, nil
		}
		return changed, nil
	}})
}

// MaxSessions is the number of sessions that are stored of a person. Another replaces the one that is unused longest.
const MaxSessions = 100

// A Session is a login of a person in a browser or another program.
type Session struct {
	Person    string // ID
	Hash      string // of the secret, computed by package agent/access; the secret itself is not stored
	Browser   string // description of the program
	Passwords int64  // [Person.Passwords] at the time of the login
	Created   time.Time
	Used      time.Time // time of last use, accurate to about a minute
	Expires   time.Time
}

var sessionTable = tableOf(Table{Name: "sessions", Keys: 2, Order: "used DESC, hash", Keep: MaxSessions}, func(s *Session) []Column {
	return []Column{
		{Name: "person", Field: &s.Person}, {Name: "hash", Field: &s.Hash}, {Name: "browser", Field: &s.Browser}, {Name: "passwords", Field: &s.Passwords},
		{Name: "created", Field: &s.Created}, {Name: "used", Field: &s.Used}, {Name: "expires", Field: &s.Expires},
	}
})

// Sessions returns the sessions of people of a [Store].
func Sessions(of Records) SessionRecords { return SessionRecords{of} }

// SessionRecords are the sessions of people of a [Store].
type SessionRecords struct{ records Records }

// List returns all sessions of a person, the one used last first.
func (s SessionRecords) List(ctx context.Context, person string) ([]Session, error) {
	return listRecords[Session](ctx, s.records, sessionTable, allRecords, person)
}

// Read returns a session, or [ErrNotFound].
func (s SessionRecords) Read(ctx context.Context, person, hash string) (Session, error) {
	return readRecord[Session](ctx, s.records, sessionTable, person, hash)
}

// Add stores a session.
func (s SessionRecords) Add(ctx context.Context, session Session) error {
	return putRecord(ctx, s.records, sessionTable, session, session.Person, session.Hash)
}

// Use records the time of last use and the new end of a session, unless a later use is recorded. A missing session is ignored.
func (s SessionRecords) Use(ctx context.Context, session Session) error {
	return changeRecord(ctx, s.records, sessionTable, func(stored *Session) (*Session, error) {
		if stored != nil && session.Used.After(stored.Used) {
			stored.Used, stored.Expires = session.Used, session.Expires
		}
		return stored, nil
	}, session.Person, session.Hash)
}

// Remove deletes a session, or returns [ErrNotFound].
func (s SessionRecords) Remove(ctx context.Context, person, hash string) error {
	return removeRecord[Session](ctx, s.records, sessionTable, person, hash)
}

// All returns the sessions of all people, at most [MaxPeople] times [MaxSessions].
func (s SessionRecords) All(ctx context.Context) ([]Session, error) {
	return listRecords[Session](ctx, s.records, sessionTable, allRecords)
}

// MaxPersonTokens is the maximum number of tokens of a person. Beside [MaxTokens] it has a bound of its own, so that no
// person can use up the tokens of others.
const MaxPersonTokens = 50

// A PersonToken is the secret of a program that acts as a person.
type PersonToken struct {
	Person  string   // ID
	Hash    string   // of the secret, computed by package agent/access; the secret itself is not stored
	Name    string   // display name
	Scopes  []string // see package agent/access; the role of the person may allow less
	Created time.Time
	Used    time.Time // time of last use, accurate to about a minute; zero: never
	Expires time.Time // zero: never
}

var personTokenTable = tableOf(Table{Name: "person_tokens", Keys: 2, Order: "created, hash", Max: MaxPersonTokens, Per: 1}, func(t *PersonToken) []Column {
	return []Column{
		{Name: "person", Field: &t.Person}, {Name: "hash", Field: &t.Hash}, {Name: "name", Field: &t.Name}, {Name: "scopes", Field: &t.Scopes},
		{Name: "created", Field: &t.Created}, {Name: "used", Field: &t.Used, Nullable: true}, {Name: "expires", Field: &t.Expires, Nullable: true},
	}
})

// PersonTokens returns the tokens of people of a [Store].
func PersonTokens(of Records) PersonTokenRecords { return PersonTokenRecords{of} }

// PersonTokenRecords are the tokens of people of a [Store].
type PersonTokenRecords struct{ records Records }

// All returns the tokens of all people, at most [MaxPeople] times [MaxPersonTokens], ordered by Created.
func (t PersonTokenRecords) All(ctx context.Context) ([]PersonToken, error) {
	return listRecords[PersonToken](ctx, t.records, personTokenTable, allRecords)
}

// List returns all tokens of a person, ordered by Created.
func (t PersonTokenRecords) List(ctx context.Context, person string) ([]PersonToken, error) {
	return listRecords[PersonToken](ctx, t.records, personTokenTable, allRecords, person)
}

// Read returns a token, or [ErrNotFound].
func (t PersonTokenRecords) Read(ctx context.Context, person, hash string) (PersonToken, error) {
	return readRecord[PersonToken](ctx, t.records, personTokenTable, person, hash)
}

// Add stores a token. If the person has [MaxPersonTokens], it returns [ErrTooMany].
func (t PersonTokenRecords) Add(ctx context.Context, token PersonToken) error {
	return putRecord(ctx, t.records, personTokenTable, token, token.Person, token.Hash)
}

// Use records the time of last use, unless a later use is recorded. A missing token is ignored.
func (t PersonTokenRecords) Use(ctx context.Context, person, hash string, at time.Time) error {
	return changeRecord(ctx, t.records, personTokenTable, func(stored *PersonToken) (*PersonToken, error) {
		if stored != nil && at.After(stored.Used) {
			stored.Used = at
		}
		return stored, nil
	}, person, hash)
}

// Remove deletes a token, or returns [ErrNotFound].
func (t PersonTokenRecords) Remove(ctx context.Context, person, hash string) error {
	return removeRecord[PersonToken](ctx, t.records, personTokenTable, person, hash)
}

// A FeverKey is the credential of a client's apps that use the Fever API. A client has one.
type FeverKey struct {
	Client    string // ID of a person or a token
	Hash      string // of the key, computed by package agent/access; the key itself is not stored
	Passwords int64  // [Person.Passwords] when it was made; 0 for a token
	Created   time.Time
	Used      time.Time // time of last use, accurate to about a minute; zero: never
}

var feverTable = tableOf(Table{Name: "fever_keys", Keys: 1, Order: "client", Max: MaxTokens + MaxPeople + 1}, func(k *FeverKey) []Column {
	return []Column{
		{Name: "client", Field: &k.Client}, {Name: "hash", Field: &k.Hash}, {Name: "passwords", Field: &k.Passwords},
		{Name: "created", Field: &k.Created}, {Name: "used", Field: &k.Used, Nullable: true},
	}
})

// FeverKeys returns the Fever credentials of a [Store].
func FeverKeys(of Records) FeverRecords { return FeverRecords{of} }

// FeverRecords are the Fever credentials of a [Store].
type FeverRecords struct{ records Records }

// List returns all credentials, ordered by client.
func (f FeverRecords) List(ctx context.Context) ([]FeverKey, error) {
	return listRecords[FeverKey](ctx, f.records, feverTable, allRecords)
}

// Read returns the credential of a client, or [ErrNotFound].
func (f FeverRecords) Read(ctx context.Context, client string) (FeverKey, error) {
	return readRecord[FeverKey](ctx, f.records, feverTable, client)
}

// Put stores the credential of a client, which replaces an earlier one.
func (f FeverRecords) Put(ctx context.Context, key FeverKey) error {
	return putRecord(ctx, f.records, feverTable, key, key.Client)
}

// Use records the time of last use, unless a later use is recorded. A credential that was replaced is ignored.
func (f FeverRecords) Use(ctx context.Context, key FeverKey) error {
	return changeRecord(ctx, f.records, feverTable, func(stored *FeverKey) (*FeverKey, error) {
		if stored != nil && stored.Hash == key.Hash && key.Used.After(stored.Used) {
			stored.Used = key.Used
		}
		return stored, nil
	}, key.Client)
}

// Remove deletes the credential of a client, or returns [ErrNotFound].
func (f FeverRecords) Remove(ctx context.Context, client string) error {
	return removeRecord[FeverKey](ctx, f.records, feverTable, client)
}

// MaxInterests is the maximum number of [Interests].
const MaxInterests = MaxPeople + MaxTokens

// An Interest is what was learned of a person, or of another client with marks of its own, to suggest items.
type Interest struct {
	Client  string // ID of the person, or of the client
	On      bool   // signals are learned from
	Learned []byte // encoded by package classify/interest
}

var interestTable = tableOf(Table{Name: "interests", Keys: 1, Order: "client", Max: MaxInterests}, func(i *Interest) []Column {
	return []Column{{Name: "client", Field: &i.Client}, {Name: "learning", Field: &i.On}, {Name: "learned", Field: &i.Learned, Large: true}}
})

// Interests returns the interests of people of a [Store].
func Interests(of Records) InterestRecords { return InterestRecords{of} }

// InterestRecords are the interests of people of a [Store].
type InterestRecords struct{ records Records }

// Read returns the interests of a client, or [ErrNotFound].
func (i InterestRecords) Read(ctx context.Context, client string) (Interest, error) {
	return readRecord[Interest](ctx, i.records, interestTable, client)
}

// Change stores what apply makes of the interests of a client, nil for none. stored is nil if there are none. It returns
// the error of apply, or [ErrTooMany]. apply may run again.
func (i InterestRecords) Change(ctx context.Context, client string, apply func(stored *Interest) (*Interest, error)) error {
	return changeRecord(ctx, i.records, interestTable, apply, client)
}

// Remove deletes the interests of a client, or returns [ErrNotFound].
func (i InterestRecords) Remove(ctx context.Context, client string) error {
	return removeRecord[Interest](ctx, i.records, interestTable, client)
}

// MaxPasskeys is the maximum number of passkeys of a person.
const MaxPasskeys = 20

// A Passkey is a public key with which a person logs in.
type Passkey struct {
	Person     string // ID
	ID         string // of the credential, in base64url without padding
	Name       string // display name
	Credential []byte // public key, flags and sign count, in JSON of package agent/access/passkey
	Created    time.Time
	Used       time.Time // time of the last login; zero: never
	Challenged time.Time // when the challenge of the last login was issued, so that it is accepted once; zero: never
}

var passkeyTable = tableOf(Table{Name: "passkeys", Keys: 2, Order: "created DESC, id", Max: MaxPasskeys, Per: 1}, func(p *Passkey) []Column {
	return []Column{
		{Name: "person", Field: &p.Person}, {Name: "id", Field: &p.ID}, {Name: "name", Field: &p.Name}, {Name: "credential", Field: &p.Credential},
		{Name: "created", Field: &p.Created}, {Name: "used", Field: &p.Used, Nullable: true}, {Name: "challenged", Field: &p.Challenged, Nullable: true},
	}
})

// Passkeys returns the passkeys of people of a [Store].
func Passkeys(of Records) PasskeyRecords { return PasskeyRecords{of} }

// PasskeyRecords are the passkeys of people of a [Store].
type PasskeyRecords struct{ records Records }

// List returns all passkeys of a person, the newest first.
func (p PasskeyRecords) List(ctx context.Context, person string) ([]Passkey, error) {
	return listRecords[Passkey](ctx, p.records, passkeyTable, allRecords, person)
}

// Add stores a passkey. It returns [ErrConflict] if the person has the credential, and [ErrTooMany] if the person has
// [MaxPasskeys].
func (p PasskeyRecords) Add(ctx context.Context, passkey Passkey) error {
	return changeRecord(ctx, p.records, passkeyTable, func(stored *Passkey) (*Passkey, error) {
		if stored != nil {
			return nil, ErrConflict
		}
		return &passkey, nil
	}, passkey.Person, passkey.ID)
}

// Use records a login: the credential as it is after it, its time, and the time of its challenge. It returns
// [ErrConflict] unless the challenge is newer than that of the last login, and [ErrNotFound] for a removed passkey.
func (p PasskeyRecords) Use(ctx context.Context, passkey Passkey) error {
	return changeRecord(ctx, p.records, passkeyTable, func(stored *Passkey) (*Passkey, error) {
		switch {
		case stored == nil:
			return nil, ErrNotFound
		case !passkey.Challenged.After(stored.Challenged):
			return nil, ErrConflict
		}
		used := *stored
		used.Credential, used.Used, used.Challenged = passkey.Credential, passkey.Used, passkey.Challenged
		return &used, nil
	}, passkey.Person, passkey.ID)
}

// Remove deletes a passkey, or returns [ErrNotFound].
func (p PasskeyRecords) Remove(ctx context.Context, person, id string) error {
	return removeRecord[Passkey](ctx, p.records, passkeyTable, person, id)
}

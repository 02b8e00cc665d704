package passkey_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-webauthn/webauthn/protocol/webauthncbor"

	"feedmesh/agent/access"
	"feedmesh/agent/access/passkey"
	"feedmesh/storage"
	"feedmesh/storage/enginetest"
)

const (
	host     = "feeds.example"
	origin   = "http://feeds.example"
	password = "correct horse battery"
)

// An agent is one of the agents of a mesh.
type agent struct {
	*passkey.Service
	people *access.People
	store  storage.Store
	log    *bytes.Buffer
}

func newAgent(store storage.Store) agent {
	people, log := access.NewTokenStore(store, "", "").People, &bytes.Buffer{}
	return agent{passkey.New(people, store, access.NewSealer(store), slog.New(slog.NewTextHandler(log, nil))), people, store, log}
}

// newPerson adds an owner and returns the ID.
func (a agent) newPerson(t *testing.T, name string) string {
	t.Helper()
	secret := password
	person, _, err := a.people.Add(t.Context(), name, access.PersonChange{Role: access.Owner, Password: &secret}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return person.ID
}

// A browser is a browser with a device that has at most one passkey.
type browser struct {
	t       *testing.T
	cookies map[string]*http.Cookie
	origin  string

	id     []byte
	key    *ecdsa.PrivateKey
	handle []byte
	count  uint32
}

func newBrowser(t *testing.T) *browser {
	return &browser{t: t, cookies: map[string]*http.Cookie{}, origin: origin}
}

// do serves a request with the cookies of the browser, and stores those of the answer.
func (b *browser) do(serve func(w http.ResponseWriter, r *http.Request)) {
	w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(b.t.Context(), "POST", "/", nil)
	r.Host = host
	for _, c := range b.cookies {
		r.AddCookie(c)
	}
	serve(w, r)
	for _, c := range w.Result().Cookies() {
		if b.cookies[c.Name] = c; c.MaxAge < 0 {
			delete(b.cookies, c.Name)
		}
	}
}

var encoding = base64.RawURLEncoding

// clientData is what a browser states of the page that uses a passkey.
func (b *browser) clientData(kind string, options any) []byte {
	b.t.Helper()
	text, err := json.Marshal(options)
	var o struct {
		Challenge string
		RPID      string `json:"rpId"`
		RP        struct{ ID string }
		User      struct{ ID string }
	}
	if err = errors.Join(err, json.Unmarshal(text, &o)); err != nil || o.RPID+o.RP.ID != host {
		b.t.Fatalf("got the options %s, %v", text, err)
	}
	if kind == "webauthn.create" {
		b.handle, _ = encoding.DecodeString(o.User.ID)
	}
	data, _ := json.Marshal(map[string]any{"type": kind, "challenge": o.Challenge, "origin": b.origin, "crossOrigin": false})
	return data
}

func (b *browser) authenticatorData(flags byte) []byte {
	b.count++
	sum := sha256.Sum256([]byte(host))
	return binary.BigEndian.AppendUint32(append(sum[:], flags), b.count)
}

func (b *browser) answer(response map[string]string) *bytes.Reader {
	text, _ := json.Marshal(map[string]any{
		"id": encoding.EncodeToString(b.id), "rawId": encoding.EncodeToString(b.id), "type": "public-key", "response": response, "clientExtensionResults": map[string]any{},
	})
	return bytes.NewReader(text)
}

// create makes a passkey as the options request.
func (b *browser) create(options any) *bytes.Reader {
	b.t.Helper()
	client := b.clientData("webauthn.create", options)
	b.key, _ = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	b.id = make([]byte, 16)
	rand.Read(b.id)
	point, err := b.key.PublicKey.Bytes()
	if err != nil {
		b.t.Fatal(err)
	}
	public, err := webauthncbor.Marshal(map[int]any{1: 2, 3: -7, -1: 1, -2: point[1:33], -3: point[33:]})
	if err != nil {
		b.t.Fatal(err)
	}
	data := append(b.authenticatorData(0x45), make([]byte, 16)...)
	data = append(append(append(data, 0, byte(len(b.id))), b.id...), public...)
	object, err := webauthncbor.Marshal(map[string]any{"fmt": "none", "attStmt": map[string]any{}, "authData": data})
	if err != nil {
		b.t.Fatal(err)
	}
	return b.answer(map[string]string{"clientDataJSON": encoding.EncodeToString(client), "attestationObject": encoding.EncodeToString(object)})
}

// get signs the challenge of the options.
func (b *browser) get(options any) *bytes.Reader {
	b.t.Helper()
	client, data := b.clientData("webauthn.get", options), b.authenticatorData(0x05)
	sum := sha256.Sum256(client)
	signed := sha256.Sum256(append(append([]byte{}, data...), sum[:]...))
	signature, err := ecdsa.SignASN1(rand.Reader, b.key, signed[:])
	if err != nil {
		b.t.Fatal(err)
	}
	return b.answer(map[string]string{
		"clientDataJSON": encoding.EncodeToString(client), "authenticatorData": encoding.EncodeToString(data),
		"signature": encoding.EncodeToString(signature), "userHandle": encoding.EncodeToString(b.handle),
	})
}

// add adds a passkey of the device to a person, or to that of a link.
func (b *browser) add(a agent, id, link string) (secret string, err error) {
	b.t.Helper()
	var options any
	b.do(func(w http.ResponseWriter, r *http.Request) { options, err = a.BeginAdd(w, r, id, link, " Phone\n1 ") })
	if err != nil {
		return "", err
	}
	answer := b.create(options)
	b.do(func(w http.ResponseWriter, r *http.Request) { _, secret, err = a.FinishAdd(w, r, id, answer) })
	return secret, err
}

// challenge begins a login.
func (b *browser) challenge(a agent) (options any) {
	b.t.Helper()
	b.do(func(w http.ResponseWriter, r *http.Request) {
		var err error
		if options, err = a.BeginLogin(w, r); err != nil {
			b.t.Fatal(err)
		}
	})
	return options
}

// finish sends the answer of a login.
func (b *browser) finish(a agent, answer *bytes.Reader) (c access.Client, err error) {
	b.do(func(w http.ResponseWriter, r *http.Request) {
		var secret string
		if c, secret, _, err = a.FinishLogin(w, r, answer); err == nil {
			_, err = a.people.Session(r.Context(), secret)
		}
	})
	return c, err
}

func (b *browser) login(a agent) (access.Client, error) {
	b.t.Helper()
	return b.finish(a, b.get(b.challenge(a)))
}

func (b *browser) mustAdd(a agent, id string) {
	b.t.Helper()
	if _, err := b.add(a, id, ""); err != nil {
		b.t.Fatal(err)
	}
}

func wantError(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: got %v, want %v", what, err, want)
	}
}

func TestService_LogsInAtAnyAgent(t *testing.T) {
	store := enginetest.Store(t)
	here, there, b := newAgent(store), newAgent(store), newBrowser(t)
	b.mustAdd(here, here.newPerson(t, "ann"))
	for range 2 {
		c, err := b.finish(there, b.get(b.challenge(here)))
		if err != nil || c.Name != "ann" || !c.May(access.Admin) {
			t.Fatalf("got %+v, %v; want ann", c, err)
		}
	}
	all, err := here.List(t.Context(), string(b.handle))
	if err != nil || len(all) != 1 || all[0].Name != "Phone 1" || all[0].Used.IsZero() {
		t.Errorf("got %+v, %v", all, err)
	}
	if strings.Contains(there.log.String(), "copied") {
		t.Errorf("got the log %s", there.log)
	}
}

func TestService_AcceptsAChallengeOnce(t *testing.T) {
	store := enginetest.Store(t)
	here, there, b := newAgent(store), newAgent(store), newBrowser(t)
	b.mustAdd(here, here.newPerson(t, "ann"))
	answer := b.get(b.challenge(here))
	again, thief := *answer, newBrowser(t)
	for name, c := range b.cookies {
		thief.cookies[name] = c
	}
	if _, err := b.finish(here, answer); err != nil {
		t.Fatal(err)
	}
	_, err := thief.finish(there, &again)
	wantError(t, "replay with a copy of the cookie", err, access.ErrExpired)
	_, err = b.finish(here, b.get(map[string]string{"challenge": "AAAA", "rpId": host}))
	wantError(t, "answer without a cookie", err, access.ErrExpired)
	_, err = b.login(here)
	wantError(t, "another login", err, nil)
}

func TestService_RefusesWrongAnswers(t *testing.T) {
	a := newAgent(enginetest.Store(t))
	ann, bob := newBrowser(t), newBrowser(t)
	annID, bobID := a.newPerson(t, "ann"), a.newPerson(t, "bob")
	ann.mustAdd(a, annID)
	bob.mustAdd(a, bobID)

	bob.handle = []byte(annID)
	_, err := bob.login(a)
	wantError(t, "passkey of bob for ann", err, access.ErrWrongPasskey)
	bob.handle = []byte("nobody")
	_, err = bob.login(a)
	wantError(t, "unknown person", err, access.ErrWrongPasskey)
	bob.handle, bob.id = []byte(annID), ann.id
	_, err = bob.login(a)
	wantError(t, "another key", err, access.ErrWrongPasskey)

	ann.origin = "https://evil.example"
	_, err = ann.login(a)
	wantError(t, "page of another origin", err, access.ErrWrongPasskey)
	ann.origin = origin
	first := ann.get(ann.challenge(a))
	ann.challenge(a)
	_, err = ann.finish(a, first)
	wantError(t, "answer to an earlier challenge", err, access.ErrWrongPasskey)
	ann.challenge(a)
	for _, c := range ann.cookies {
		// Characters in the middle: those at the end may encode no bit.
		middle := len(c.Value) / 2
		c.Value = c.Value[:middle] + flip(c.Value[middle]) + c.Value[middle+1:]
	}
	_, err = ann.finish(a, first)
	wantError(t, "changed cookie", err, access.ErrExpired)
	_, err = ann.finish(a, bytes.NewReader([]byte("{")))
	wantError(t, "no cookie and no answer", err, access.ErrExpired)

	if err := a.Remove(t.Context(), annID, encoding.EncodeToString(ann.id)); err != nil {
		t.Fatal(err)
	}
	_, err = ann.login(a)
	wantError(t, "removed passkey", err, access.ErrWrongPasskey)
}

// flip returns another character of base64 than c.
func flip(c byte) string {
	if c == 'A' {
		return "B"
	}
	return "A"
}

func TestService_LimitsWrongAnswers(t *testing.T) {
	a, b := newAgent(enginetest.Store(t)), newBrowser(t)
	b.mustAdd(a, a.newPerson(t, "ann"))
	b.origin = "https://evil.example"
	for range 3 * access.WrongTokens {
		if _, err := b.login(a); errors.As(err, new(*access.GuessError)) {
			return
		}
	}
	t.Error("wrong answers are not limited")
}

func TestService_ForgetsUnfinishedLogins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := newAgent(enginetest.Store(t)), newBrowser(t)
		b.mustAdd(a, a.newPerson(t, "ann"))
		answer := b.get(b.challenge(a))
		time.Sleep(access.LoginTimeout)
		_, err := b.finish(a, answer)
		wantError(t, "after five minutes", err, access.ErrExpired)
	})
}

func TestService_LogsCopiedPasskeys(t *testing.T) {
	a, b := newAgent(enginetest.Store(t)), newBrowser(t)
	b.mustAdd(a, a.newPerson(t, "ann"))
	for range 2 {
		b.count = 4
		if _, err := b.login(a); err != nil {
			t.Fatal(err)
		}
	}
	if !strings.Contains(a.log.String(), "sign count of a passkey did not increase") {
		t.Errorf("got the log %s", a.log)
	}
}

func TestService_AddsAPasskeyByLinkOnce(t *testing.T) {
	a, b := newAgent(enginetest.Store(t)), newBrowser(t)
	a.newPerson(t, "ann")
	_, link, err := a.people.Add(t.Context(), "bob", access.PersonChange{Role: access.Reader}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	secret, err := b.add(a, "", link)
	if err != nil {
		t.Fatal(err)
	}
	if c, err := a.people.Session(t.Context(), secret); err != nil || c.Name != "bob" {
		t.Errorf("got %+v, %v; want bob", c, err)
	}
	_, err = newBrowser(t).add(a, "", link)
	wantError(t, "the link again", err, access.ErrInvalidLink)
	if c, err := b.login(a); err != nil || c.Name != "bob" {
		t.Errorf("got %+v, %v; want bob", c, err)
	}
}

func TestService_RefusesAdditions(t *testing.T) {
	a, b := newAgent(enginetest.Store(t)), newBrowser(t)
	ann, bob := a.newPerson(t, "ann"), a.newPerson(t, "bob")
	var options any
	var err error
	b.do(func(w http.ResponseWriter, r *http.Request) { options, err = a.BeginAdd(w, r, ann, "", "") })
	wantError(t, "begin", err, nil)
	answer := b.create(options)
	b.do(func(w http.ResponseWriter, r *http.Request) { _, _, err = a.FinishAdd(w, r, bob, answer) })
	wantError(t, "answer of another person", err, passkey.ErrRefused)
	b.origin = "https://evil.example"
	_, err = b.add(a, ann, "")
	wantError(t, "page of another origin", err, passkey.ErrRefused)
	b.origin = origin
	for range storage.MaxPasskeys {
		b.mustAdd(a, ann)
	}
	_, err = b.add(a, ann, "")
	wantError(t, "one too many", err, storage.ErrTooMany)
	b.do(func(w http.ResponseWriter, r *http.Request) {
		r.Host = "192.0.2.1:8080"
		_, err = a.BeginLogin(w, r)
	})
	wantError(t, "an address without a name", err, passkey.ErrNoHostName)
}

func TestPeople_RemovalAndRevocationRemovePasskeys(t *testing.T) {
	a := newAgent(enginetest.Store(t))
	a.newPerson(t, "owner")
	for name, change := range map[string]func(name string) error{
		"ann": func(name string) error { _, err := a.people.Remove(t.Context(), name); return err },
		"bob": func(name string) error {
			_, _, err := a.people.Set(t.Context(), name, access.PersonChange{Revoke: true})
			return err
		},
	} {
		b, id := newBrowser(t), a.newPerson(t, name)
		b.mustAdd(a, id)
		if err := change(name); err != nil {
			t.Fatal(err)
		}
		if all, err := a.List(t.Context(), id); err != nil || len(all) > 0 {
			t.Errorf("%s: got %+v, %v; want none", name, all, err)
		}
		_, err := b.login(a)
		wantError(t, name, err, access.ErrWrongPasskey)
	}
}

package access_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"feedmesh/agent/access"
	"feedmesh/storage"
	"feedmesh/storage/enginetest"
)

const password = "correct horse battery"

// owner adds the owner ann and returns the people of a process.
func owner(t *testing.T, store storage.Store) *access.People {
	t.Helper()
	secret, p := password, access.NewTokenStore(store, "", "").People
	if _, _, err := p.Add(t.Context(), "Ann", access.PersonChange{Role: access.Owner, Password: &secret}, time.Now()); err != nil {
		t.Fatal(err)
	}
	return p
}

func begin(t *testing.T, p *access.People) string {
	t.Helper()
	c, secret, _, err := p.Login(t.Context(), "ann", password, "192.0.2.1", "a browser")
	if err != nil || c.Name != "ann" || !c.Person || !c.May(access.Admin) {
		t.Fatalf("got %+v, %v; want the owner ann", c, err)
	}
	return secret
}

func wantSession(t *testing.T, p *access.People, secret string, want error) {
	t.Helper()
	if _, err := p.Session(t.Context(), secret); !errors.Is(err, want) {
		t.Errorf("got %v, want %v", err, want)
	}
}

func TestPeople_StoreHasHashesOnly(t *testing.T) {
	store := enginetest.Store(t)
	secret := begin(t, owner(t, store))
	people, _ := storage.People(store).List(t.Context())
	sessions, _ := storage.Sessions(store).List(t.Context(), people[0].ID)
	if !strings.HasPrefix(people[0].Hash, "$argon2id$v=19$m=19456,t=2,p=1$") || len(sessions) != 1 || sessions[0].Hash != access.Hash(secret) || strings.Contains(people[0].Hash, password) {
		t.Errorf("got %+v and %+v, want hashes", people, sessions)
	}
}

// Another process rejects what was revoked within ten seconds.
func TestPeople_RevocationTakesEffectElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := enginetest.Store(t)
		here := owner(t, store)
		there := access.NewTokenStore(store, "", "").People
		ended, secret := begin(t, here), begin(t, here)
		wantSession(t, there, ended, nil)
		wantSession(t, there, secret, nil)
		c, _ := here.Session(t.Context(), ended)
		if err := here.End(t.Context(), c.ID, c.Session); err != nil {
			t.Fatal(err)
		}
		wantSession(t, here, ended, access.ErrInvalidToken)
		time.Sleep(10 * time.Second)
		wantSession(t, there, ended, access.ErrInvalidToken)
		wantSession(t, there, secret, nil)
		_, renewed, err := here.ChangePassword(t.Context(), "ann", "another password", "a browser")
		if err != nil {
			t.Fatal(err)
		}
		wantSession(t, there, renewed, nil) // although the other process has not read the new password yet
		wantSession(t, here, secret, access.ErrInvalidToken)
		time.Sleep(10 * time.Second)
		wantSession(t, there, secret, access.ErrInvalidToken)
	})
}

func TestPeople_SessionsSlideAndExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := owner(t, enginetest.Store(t))
		secret := begin(t, p)
		for range 3 {
			time.Sleep(20 * 24 * time.Hour)
			wantSession(t, p, secret, nil)
		}
		time.Sleep(31 * 24 * time.Hour)
		wantSession(t, p, secret, access.ErrInvalidToken)
	})
}

func TestPeople_StoreUnavailable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &counting{Store: enginetest.Store(t)}
		p := owner(t, store)
		secret := begin(t, p)
		wantSession(t, p, secret, nil)
		store.away = storage.ErrUnavailable
		time.Sleep(6 * time.Second)
		wantSession(t, p, secret, nil)
		time.Sleep(6 * time.Second)
		wantSession(t, p, secret, storage.ErrUnavailable)
		if any, err := p.Any(t.Context()); !any || err != nil {
			t.Errorf("got %v, %v; want a login required", any, err)
		}
		if any, err := access.NewTokenStore(store, "", "").People.Any(t.Context()); any || !errors.Is(err, storage.ErrUnavailable) {
			t.Errorf("got %v, %v; want an error before the first read", any, err)
		}
	})
}

func TestPeople_UnknownNamesTakeAsLong(t *testing.T) {
	p := owner(t, enginetest.Store(t))
	took := func(name string) time.Duration {
		best := time.Hour
		for i := range 4 {
			begun := time.Now()
			if _, err := p.Verify(t.Context(), name, "wrong password", name+string(rune('a'+i))); !errors.Is(err, access.ErrWrongPassword) {
				t.Errorf("%s: got %v", name, err)
			}
			best = min(best, time.Since(begun))
		}
		return best
	}
	known, unknown := took("ann"), took("nobody")
	if unknown < known/3 || known < unknown/3 {
		t.Errorf("a known name takes %v, an unknown %v", known, unknown)
	}
}

func TestPeople_LoginsAreBounded(t *testing.T) {
	p := owner(t, enginetest.Store(t))
	var logins sync.WaitGroup
	var mu sync.Mutex
	busy := 0
	for range 100 {
		logins.Go(func() {
			if _, err := p.Verify(context.Background(), "ann", password, "192.0.2.1"); errors.Is(err, access.ErrBusy) {
				mu.Lock()
				defer mu.Unlock()
				busy++
			} else if err != nil {
				t.Error(err)
			}
		})
	}
	logins.Wait()
	if busy == 0 {
		t.Error("100 logins at once are all served, want most rejected")
	}
}

func TestNormalName(t *testing.T) {
	for name, want := range map[string]string{"Ann": "ann", "Яна": "яна", "a.b@example.org": "a.b@example.org", "a b": "", "": "", "a/b": "", "a\nb": "", strings.Repeat("x", 65): ""} {
		if got, err := access.NormalName(name); got != want || (err != nil) != (want == "") {
			t.Errorf("%q: got %q, %v; want %q", name, got, err, want)
		}
	}
}

// tokenOfAnn makes a token of a scope for ann, who has a session.
func tokenOfAnn(t *testing.T, p *access.People, scope access.Scope, lifetime time.Duration) string {
	t.Helper()
	c, err := p.Session(t.Context(), begin(t, p))
	if err != nil {
		t.Fatal(err)
	}
	secret, err := p.AddToken(t.Context(), c, "phone", scope, lifetime)
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

func TestPersonTokens_ActAsThePersonWithinTheRole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := enginetest.Store(t)
		p := owner(t, store)
		k := access.NewTokenStore(store, "", "")
		session, _ := p.Session(t.Context(), begin(t, p))
		for scope, may := range map[access.Scope]access.Scope{access.Search: access.Search, access.Write: access.Write, access.Admin: access.Admin} {
			c := right(t, k, tokenOfAnn(t, p, scope, 0), session.ID)
			if c.Person || c.Session != "" || c.Name != "ann" || c.Token != "phone" || !c.May(may) || c.May(access.Admin) != (scope == access.Admin) {
				t.Errorf("%s: got %+v, want a program of ann", scope, c)
			}
		}
		secret := tokenOfAnn(t, p, access.Admin, 0)
		if _, err := p.Session(t.Context(), secret); !errors.Is(err, access.ErrInvalidToken) {
			t.Errorf("a token as the secret of a session: got %v, want %v", err, access.ErrInvalidToken)
		}
		other := password
		if _, _, err := p.Add(t.Context(), "bob", access.PersonChange{Role: access.Owner, Password: &other}, time.Now()); err != nil {
			t.Fatal(err)
		}
		if _, _, err := p.Set(t.Context(), "ann", access.PersonChange{Role: access.Reader}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(6 * time.Second)
		if c := right(t, k, secret, session.ID); !c.May(access.Read) || c.May(access.Write) {
			t.Errorf("as a reader: got %+v, want the scope read", c)
		}
		reader, _ := p.Named(t.Context(), "ann")
		for _, scope := range []access.Scope{access.Write, access.Admin, access.Metrics, "root", ""} {
			if _, err := p.AddToken(t.Context(), reader, "phone", scope, 0); !errors.Is(err, access.ErrTokenScope) {
				t.Errorf("%q for a reader: got %v, want %v", scope, err, access.ErrTokenScope)
			}
		}
		if _, err := p.AddToken(t.Context(), reader, " \n", access.Read, 0); !errors.Is(err, access.ErrBadTokenName) {
			t.Errorf("got %v, want %v", err, access.ErrBadTokenName)
		}
	})
}

// Another process rejects a removed token within ten seconds, and those of a removed person.
func TestPersonTokens_RevocationTakesEffectElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := enginetest.Store(t)
		here, there := owner(t, store), access.NewTokenStore(store, "", "")
		removed, kept := tokenOfAnn(t, here, access.Read, 0), tokenOfAnn(t, here, access.Read, 0)
		c := right(t, there, removed, ann(t, here).ID)
		right(t, there, kept, c.ID)
		if err := here.RemoveToken(t.Context(), c.ID, access.Hash(removed)); err != nil {
			t.Fatal(err)
		}
		if _, err := here.Token(t.Context(), removed); !errors.Is(err, access.ErrInvalidToken) {
			t.Errorf("in this process: got %v, want %v", err, access.ErrInvalidToken)
		}
		time.Sleep(6 * time.Second)
		wrong(t, there, removed)
		right(t, there, kept, c.ID)
		other := password
		if _, _, err := here.Add(t.Context(), "bob", access.PersonChange{Role: access.Owner, Password: &other}, time.Now()); err != nil {
			t.Fatal(err)
		}
		if _, err := here.Remove(t.Context(), "ann"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(6 * time.Second)
		wrong(t, there, kept)
		if all, err := storage.PersonTokens(store).All(t.Context()); err != nil || len(all) > 0 {
			t.Errorf("got the tokens %+v, %v; want none", all, err)
		}
	})
}

// ann returns the client of ann.
func ann(t *testing.T, p *access.People) access.Client {
	t.Helper()
	c, err := p.Named(t.Context(), "ann")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestPersonTokens_ExpireAndAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := enginetest.Store(t)
		p, k := owner(t, store), access.NewTokenStore(store, "", "")
		id := ann(t, p).ID
		secret := tokenOfAnn(t, p, access.Read, 10*time.Second)
		right(t, k, secret, id)
		for i := range storage.MaxPersonTokens {
			_, err := p.AddToken(t.Context(), ann(t, p), "phone", access.Read, 0)
			if full := i == storage.MaxPersonTokens-1; full != errors.Is(err, storage.ErrTooMany) || !full && err != nil {
				t.Errorf("token %d: got %v", i+2, err)
			}
		}
		people, _ := p.List(t.Context())
		if uses, err := p.Uses(t.Context(), people); err != nil || uses[id].Tokens != storage.MaxPersonTokens || uses[id].Sessions != 1 || uses[id].Used.IsZero() {
			t.Errorf("got %+v, %v; want all tokens, and a session", uses, err)
		}
		time.Sleep(10 * time.Second)
		wrong(t, k, secret)
		tokenOfAnn(t, p, access.Read, 0) // instead of the one that has expired
		if all, err := p.Tokens(t.Context(), id); err != nil || len(all) != storage.MaxPersonTokens {
			t.Errorf("got %d tokens, %v; want %d", len(all), err, storage.MaxPersonTokens)
		}
	})
}

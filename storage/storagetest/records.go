package storagetest

import (
	"context"
	"fmt"
	"sync"
	"time"

	"feedmesh/storage"
)

// aProxy returns a proxy with a value in every field.
func aProxy(id string) storage.Proxy {
	return storage.Proxy{ID: id, URL: "socks5://me:s%26cret@" + id + ".example:1080", Hosts: []string{"example.org", "пример.рф"},
		Always: true, Added: day}
}

// wantProxies fails unless Proxies returns exactly these, in this order.
func wantProxies(c storeTest, want ...storage.Proxy) {
	c.Helper()
	got, err := storage.Proxies(c.Store).List(c.Context())
	if err != nil || len(got) != len(want) {
		c.Fatalf("there are %d proxies, %v; want %d", len(got), err, len(want))
	}
	for i := range want {
		c.wantEqual("a proxy", got[i], want[i])
	}
}

func putProxy(c storeTest, p storage.Proxy) {
	c.Helper()
	if err := storage.Proxies(c.Store).Put(c.Context(), p); err != nil {
		c.Fatalf("put proxy: %v", err)
	}
}

func proxies(c storeTest) {
	wantProxies(c)
	bare := storage.Proxy{ID: "Bare", URL: "http://bare.example:3128", Added: day}
	putProxy(c, aProxy("b"))
	putProxy(c, bare)
	putProxy(c, aProxy("a"))
	wantProxies(c, bare, aProxy("a"), aProxy("b"))

	other := storage.Proxy{ID: "a", URL: "https://other.example", Hosts: []string{"x.example"}, Added: day.Add(time.Hour)}
	putProxy(c, other)
	wantProxies(c, bare, other, aProxy("b"))
}

func removeProxy(c storeTest) {
	putProxy(c, aProxy("a"))
	putProxy(c, aProxy("b"))
	if err := storage.Proxies(c.Store).Remove(c.Context(), "a"); err != nil {
		c.Fatal(err)
	}
	wantProxies(c, aProxy("b"))
	c.wantError("remove it again", storage.Proxies(c.Store).Remove(c.Context(), "a"), storage.ErrNotFound)
}

func aSearch(name string) storage.SavedSearch {
	return storage.SavedSearch{Name: name, Title: "All of <" + name + ">", Query: "q=%22a+b%22&category=" + name, Added: day}
}

func wantSearches(c storeTest, want ...storage.SavedSearch) {
	c.Helper()
	got, err := storage.SavedSearches(c.Store).List(c.Context())
	if err != nil {
		c.Fatal(err)
	}
	c.wantEqual("the saved searches", append([]storage.SavedSearch{}, got...), append([]storage.SavedSearch{}, want...))
}

func searchesInOrder(c storeTest) {
	wantSearches(c)
	for _, name := range []string{"b", "c", "a"} {
		if err := storage.SavedSearches(c.Store).Put(c.Context(), aSearch(name)); err != nil {
			c.Fatal(err)
		}
	}
	other := storage.SavedSearch{Name: "b", Query: "q=x", Added: day.Add(time.Hour)}
	if err := storage.SavedSearches(c.Store).Put(c.Context(), other); err != nil {
		c.Fatal(err)
	}
	wantSearches(c, aSearch("a"), other, aSearch("c"))
	if err := storage.SavedSearches(c.Store).Remove(c.Context(), "a"); err != nil {
		c.Fatal(err)
	}
	c.wantError("remove a search that is not there", storage.SavedSearches(c.Store).Remove(c.Context(), "a"), storage.ErrNotFound)
	wantSearches(c, other, aSearch("c"))
}

func manySearches(c storeTest) {
	for i := range storage.MaxSearches {
		if err := storage.SavedSearches(c.Store).Put(c.Context(), aSearch(fmt.Sprintf("%04d", i))); err != nil {
			c.Fatal(err)
		}
	}
	c.wantError("save one search too many", storage.SavedSearches(c.Store).Put(c.Context(), aSearch("more")), storage.ErrTooMany)
	if err := storage.SavedSearches(c.Store).Put(c.Context(), aSearch("0000")); err != nil {
		c.Errorf("save an existing search: %v", err)
	}
}

// aToken returns a token that was created at a time.
func aToken(id string, created time.Time) storage.Token {
	return storage.Token{ID: id, Name: "Ann's <phone> & телефон", Hash: "hash of " + id, Scopes: []string{"search", "read"}, Created: created}
}

func addToken(c storeTest, t storage.Token) {
	c.Helper()
	if err := storage.Tokens(c.Store).Add(c.Context(), t); err != nil {
		c.Fatalf("add token: %v", err)
	}
}

// wantTokens fails unless Tokens returns exactly these, in this order.
func wantTokens(c storeTest, want ...storage.Token) {
	c.Helper()
	got, err := storage.Tokens(c.Store).List(c.Context())
	if err != nil || len(got) != len(want) {
		c.Fatalf("there are %d tokens, %v; want %d", len(got), err, len(want))
	}
	for i := range want {
		c.wantEqual("a token", got[i], want[i])
	}
}

func tokensInOrder(c storeTest) {
	wantTokens(c)
	bare := storage.Token{ID: "bare", Created: day}
	late := aToken("a", day.Add(time.Microsecond))
	addToken(c, late)
	addToken(c, aToken("b", day))
	addToken(c, bare)
	wantTokens(c, aToken("b", day), bare, late)
}

func storedToken(c storeTest) {
	addToken(c, aToken("a", day))
	other := aToken("a", day.Add(time.Hour))
	other.Hash, other.Scopes, other.Used = "another", []string{"admin"}, day
	addToken(c, other)
	wantTokens(c, aToken("a", day))
}

func usedToken(c storeTest) {
	want := aToken("a", day)
	input := want
	input.Used = day // AddToken ignores it
	addToken(c, input)
	wantTokens(c, want)
	use := func(id string, at time.Time) {
		c.Helper()
		if err := storage.Tokens(c.Store).Use(c.Context(), id, at); err != nil {
			c.Fatalf("use token: %v", err)
		}
	}
	use("a", day.Add(2*time.Hour))
	use("a", day.Add(time.Hour)) // an older use, reported late
	use("gone", day)
	want.Used = day.Add(2 * time.Hour)
	wantTokens(c, want)
}

func removeToken(c storeTest) {
	addToken(c, aToken("a", day))
	addToken(c, aToken("b", day))
	if err := storage.Tokens(c.Store).Remove(c.Context(), "a"); err != nil {
		c.Fatal(err)
	}
	wantTokens(c, aToken("b", day))
	c.wantError("remove it again", storage.Tokens(c.Store).Remove(c.Context(), "a"), storage.ErrNotFound)
}

// manyTokens lets two workers add the last tokens within the limit, and one more each.
func manyTokens(c storeTest) {
	for i := range storage.MaxTokens - 2 {
		addToken(c, aToken(fmt.Sprintf("token-%04d", i), day))
	}
	var adding sync.WaitGroup
	var errs [4]error
	for i := range errs {
		adding.Go(func() { errs[i] = storage.Tokens(c.Store).Add(c.Context(), aToken(fmt.Sprint("late-", i), day)) })
	}
	adding.Wait()
	rejected := 0
	for _, err := range errs {
		if err != nil {
			c.wantError("add one too many", err, storage.ErrTooMany)
			rejected++
		}
	}
	if all, err := storage.Tokens(c.Store).List(c.Context()); err != nil || len(all) != storage.MaxTokens || rejected != 2 {
		c.Errorf("got %d tokens, %v, and %d rejected; want %d, and 2", len(all), err, rejected, storage.MaxTokens)
	}
	addToken(c, aToken("token-0000", day)) // already stored, so the limit does not apply
	if err := storage.Tokens(c.Store).Remove(c.Context(), "token-0000"); err != nil {
		c.Fatal(err)
	}
	addToken(c, aToken("another", day))
}

// aPerson returns a person with a value in every field.
func aPerson(name, role string) storage.Person {
	return storage.Person{Name: name, ID: "id of " + name, Role: role, Hash: "$argon2id$" + name, Passwords: 2, Link: "link of " + name,
		LinkUntil: day.Add(time.Hour), Created: day}
}

// changePerson stores a person.
func changePerson(ctx context.Context, c storeTest, p storage.Person) error {
	return storage.People(c.Store).Change(ctx, p.Name, func(*storage.Person) (*storage.Person, error) { return &p, nil })
}

func putPerson(c storeTest, p storage.Person) {
	c.Helper()
	if err := changePerson(c.Context(), c, p); err != nil {
		c.Fatalf("change person: %v", err)
	}
}

func removePerson(c storeTest, name string) error {
	return storage.People(c.Store).Change(c.Context(), name, func(stored *storage.Person) (*storage.Person, error) {
		if stored == nil {
			return nil, storage.ErrNotFound
		}
		return nil, nil
	})
}

// wantPeople fails unless List returns exactly these, in this order.
func wantPeople(c storeTest, want ...storage.Person) {
	c.Helper()
	got, err := storage.People(c.Store).List(c.Context())
	if err != nil {
		c.Fatal(err)
	}
	c.wantEqual("the people", append([]storage.Person{}, got...), append([]storage.Person{}, want...))
}

func peopleByName(c storeTest) {
	wantPeople(c)
	bare := storage.Person{Name: "яна", ID: "3", Role: "reader", Created: day}
	ann, bob := aPerson("ann", storage.RoleOwner), aPerson("bob", "editor")
	putPerson(c, ann)
	putPerson(c, bare)
	putPerson(c, bob)
	wantPeople(c, ann, bob, bare)
	bob.Role, bob.Link, bob.LinkUntil, bob.Passwords, bob.Issuer, bob.Subject = "reader", "", time.Time{}, 3, "https://id.example", "1"
	putPerson(c, bob)
	wantPeople(c, ann, bob, bare)
	if err := removePerson(c, "bob"); err != nil {
		c.Fatal(err)
	}
	c.wantError("remove him again", removePerson(c, "bob"), storage.ErrNotFound)
	wantPeople(c, ann, bare)
}

func oneOwner(c storeTest) {
	c.wantError("add a reader before any owner", changePerson(c.Context(), c, aPerson("bob", "reader")), storage.ErrNoOwner)
	ann := aPerson("ann", storage.RoleOwner)
	putPerson(c, ann)
	putPerson(c, aPerson("bob", "reader"))
	c.wantError("remove the owner", removePerson(c, "ann"), storage.ErrNoOwner)
	c.wantError("demote the owner", changePerson(c.Context(), c, aPerson("ann", "reader")), storage.ErrNoOwner)
	wantPeople(c, ann, aPerson("bob", "reader"))
	putPerson(c, aPerson("bob", storage.RoleOwner))
	if err := removePerson(c, "ann"); err != nil {
		c.Error(err)
	}
}

func concurrentOwners(c storeTest) {
	for range 5 {
		putPerson(c, aPerson("ann", storage.RoleOwner))
		putPerson(c, aPerson("bob", storage.RoleOwner))
		var demoting sync.WaitGroup
		var errs [2]error
		for i, name := range []string{"ann", "bob"} {
			demoting.Go(func() { errs[i] = changePerson(c.Context(), c, aPerson(name, "reader")) })
		}
		demoting.Wait()
		if (errs[0] == nil) == (errs[1] == nil) {
			c.Fatalf("got %v, want one owner demoted", errs)
		}
		for _, err := range errs {
			if err != nil {
				c.wantError("demote the other owner", err, storage.ErrNoOwner)
			}
		}
	}
}

func manyPeople(c storeTest) {
	for i := range storage.MaxPeople {
		putPerson(c, aPerson(fmt.Sprintf("%04d", i), storage.RoleOwner))
	}
	c.wantError("add one too many", changePerson(c.Context(), c, aPerson("more", "reader")), storage.ErrTooMany)
	putPerson(c, aPerson("0000", "reader"))
}

// aSession returns a session that was used last at a time.
func aSession(person, hash string, used time.Time) storage.Session {
	return storage.Session{Person: person, Hash: hash, Browser: "Браузер <1>", Passwords: 2, Created: day, Used: used, Expires: used.Add(time.Hour)}
}

func addSession(c storeTest, s storage.Session) {
	c.Helper()
	if err := storage.Sessions(c.Store).Add(c.Context(), s); err != nil {
		c.Fatalf("add session: %v", err)
	}
}

func wantSessions(c storeTest, person string, want ...storage.Session) {
	c.Helper()
	got, err := storage.Sessions(c.Store).List(c.Context(), person)
	if err != nil {
		c.Fatal(err)
	}
	c.wantEqual("the sessions", append([]storage.Session{}, got...), append([]storage.Session{}, want...))
}

func sessionsByPerson(c storeTest) {
	a, b, other := aSession("ann", "a", day), aSession("ann", "b", day.Add(time.Second)), aSession("bob", "a", day)
	for _, s := range []storage.Session{a, b, other} {
		addSession(c, s)
	}
	wantSessions(c, "ann", b, a)
	got, err := storage.Sessions(c.Store).Read(c.Context(), "bob", "a")
	if err != nil {
		c.Fatal(err)
	}
	c.wantEqual("the session", got, other)
	if err := storage.Sessions(c.Store).Remove(c.Context(), "ann", "a"); err != nil {
		c.Fatal(err)
	}
	c.wantError("remove it again", storage.Sessions(c.Store).Remove(c.Context(), "ann", "a"), storage.ErrNotFound)
	_, err = storage.Sessions(c.Store).Read(c.Context(), "ann", "a")
	c.wantError("read it", err, storage.ErrNotFound)
	wantSessions(c, "ann", b)
	wantSessions(c, "bob", other)
}

func usedSession(c storeTest) {
	addSession(c, aSession("ann", "a", day))
	for _, used := range []time.Time{day.Add(time.Hour), day.Add(time.Minute)} { // the second is older and was reported late
		if err := storage.Sessions(c.Store).Use(c.Context(), aSession("ann", "a", used)); err != nil {
			c.Fatal(err)
		}
	}
	if err := storage.Sessions(c.Store).Use(c.Context(), aSession("ann", "removed", day)); err != nil {
		c.Fatal(err)
	}
	wantSessions(c, "ann", aSession("ann", "a", day.Add(time.Hour)))
}

func manySessions(c storeTest) {
	addSession(c, aSession("bob", "a", day))
	for i := range storage.MaxSessions + 2 {
		addSession(c, aSession("ann", fmt.Sprintf("%03d", i), day.Add(time.Duration(i)*time.Second)))
	}
	got, err := storage.Sessions(c.Store).List(c.Context(), "ann")
	if err != nil || len(got) != storage.MaxSessions || got[len(got)-1].Hash != "002" {
		c.Errorf("got %d sessions, %v; want %d, those used last", len(got), err, storage.MaxSessions)
	}
	wantSessions(c, "bob", aSession("bob", "a", day))
}

// aPersonToken returns a token of a person that was created at a time.
func aPersonToken(person, hash string, created time.Time) storage.PersonToken {
	return storage.PersonToken{Person: person, Hash: hash, Name: "<phone> & телефон", Scopes: []string{"search", "read"}, Created: created, Expires: created.Add(time.Hour)}
}

func addPersonToken(c storeTest, t storage.PersonToken) {
	c.Helper()
	if err := storage.PersonTokens(c.Store).Add(c.Context(), t); err != nil {
		c.Fatalf("add token: %v", err)
	}
}

func tokensByPerson(c storeTest) {
	tokens, ctx := storage.PersonTokens(c.Store), c.Context()
	late, early := aPersonToken("ann", "a", day.Add(time.Second)), aPersonToken("ann", "b", day)
	bare := storage.PersonToken{Person: "bob", Hash: "a", Name: "bare", Created: day}
	for _, t := range []storage.PersonToken{late, early, bare} {
		addPersonToken(c, t)
	}
	late.Used = day.Add(time.Hour)
	for _, at := range []time.Time{late.Used, day} { // the second use is reported late
		if err := tokens.Use(ctx, "ann", "a", at); err != nil {
			c.Fatalf("use token: %v", err)
		}
	}
	if err := tokens.Use(ctx, "ann", "removed", day); err != nil {
		c.Errorf("use a removed token: %v", err)
	}
	got, err := tokens.List(ctx, "ann")
	if err != nil {
		c.Fatal(err)
	}
	c.wantEqual("the tokens of ann", got, []storage.PersonToken{early, late})
	read, err := tokens.Read(ctx, "bob", "a")
	if err != nil {
		c.Fatal(err)
	}
	c.wantEqual("the token of bob", read, bare)
	if all, err := tokens.All(ctx); err != nil || len(all) != 3 {
		c.Errorf("got %d tokens, %v; want 3", len(all), err)
	}
	if err := tokens.Remove(ctx, "ann", "a"); err != nil {
		c.Fatal(err)
	}
	c.wantError("remove it again", tokens.Remove(ctx, "ann", "a"), storage.ErrNotFound)
	_, err = tokens.Read(ctx, "ann", "a")
	c.wantError("read a removed token", err, storage.ErrNotFound)
}

func manyTokensOfPerson(c storeTest) {
	for i := range storage.MaxPersonTokens {
		addPersonToken(c, aPersonToken("ann", fmt.Sprint(i), day))
	}
	c.wantError("add one too many", storage.PersonTokens(c.Store).Add(c.Context(), aPersonToken("ann", "more", day)), storage.ErrTooMany)
	addPersonToken(c, aPersonToken("bob", "0", day)) // has tokens of his own
}

func feverKeys(c storeTest) {
	keys := storage.FeverKeys(c.Store)
	key := storage.FeverKey{Client: "ann", Hash: "one", Passwords: 2, Created: day}
	for _, k := range []storage.FeverKey{{Client: "bob", Hash: "other", Created: day}, {Client: "ann", Hash: "old", Created: day, Used: day}, key} {
		if err := keys.Put(c.Context(), k); err != nil {
			c.Fatal(err)
		}
	}
	for _, used := range []storage.FeverKey{{Client: "ann", Hash: "old", Used: day.Add(time.Hour)}, {Client: "cid", Hash: "none", Used: day}} {
		if err := keys.Use(c.Context(), used); err != nil {
			c.Fatal(err)
		}
	}
	got, err := keys.List(c.Context())
	if err != nil {
		c.Fatal(err)
	}
	c.wantEqual("the credentials", got, []storage.FeverKey{key, {Client: "bob", Hash: "other", Created: day}})
	key.Used = day.Add(time.Minute)
	for _, at := range []time.Time{key.Used, day} {
		if err := keys.Use(c.Context(), storage.FeverKey{Client: "ann", Hash: "one", Used: at}); err != nil {
			c.Fatal(err)
		}
	}
	one, err := keys.Read(c.Context(), "ann")
	if err != nil {
		c.Fatal(err)
	}
	c.wantEqual("the used credential", one, key)
	if err := keys.Remove(c.Context(), "ann"); err != nil {
		c.Fatal(err)
	}
	c.wantError("remove it again", keys.Remove(c.Context(), "ann"), storage.ErrNotFound)
	_, err = keys.Read(c.Context(), "ann")
	c.wantError("read it", err, storage.ErrNotFound)
}

// putInterest stores interests in place of those of their client.
func putInterest(ctx context.Context, c storeTest, i storage.Interest) error {
	return storage.Interests(c.Store).Change(ctx, i.Client, func(*storage.Interest) (*storage.Interest, error) { return &i, nil })
}

func interestsByClient(c storeTest) {
	interests := storage.Interests(c.Store)
	ann, bob := storage.Interest{Client: "ann", On: true, Learned: []byte{1, 0, 255, 10}}, storage.Interest{Client: "bob"}
	for _, i := range []storage.Interest{{Client: "ann"}, ann, bob} {
		if err := putInterest(c.Context(), c, i); err != nil {
			c.Fatal(err)
		}
	}
	for _, want := range []storage.Interest{ann, bob} {
		got, err := interests.Read(c.Context(), want.Client)
		if err != nil {
			c.Fatal(err)
		}
		c.wantEqual("the interests", got, want)
	}
	if err := interests.Remove(c.Context(), "ann"); err != nil {
		c.Fatal(err)
	}
	_, err := interests.Read(c.Context(), "ann")
	c.wantError("read them", err, storage.ErrNotFound)
	c.wantError("remove them again", interests.Remove(c.Context(), "ann"), storage.ErrNotFound)
}

func aPasskey(person, id string, created time.Time) storage.Passkey {
	return storage.Passkey{Person: person, ID: id, Name: "Ключ <1>", Credential: []byte(`{"id":"` + id + `"}`), Created: created}
}

func wantPasskeys(c storeTest, person string, want ...storage.Passkey) {
	c.Helper()
	got, err := storage.Passkeys(c.Store).List(c.Context(), person)
	if err != nil {
		c.Fatal(err)
	}
	c.wantEqual("the passkeys", append([]storage.Passkey{}, got...), append([]storage.Passkey{}, want...))
}

func addPasskey(c storeTest, p storage.Passkey) {
	c.Helper()
	if err := storage.Passkeys(c.Store).Add(c.Context(), p); err != nil {
		c.Fatalf("add passkey: %v", err)
	}
}

func passkeysByPerson(c storeTest) {
	passkeys := storage.Passkeys(c.Store)
	a, b, other := aPasskey("ann", "a", day), aPasskey("ann", "b", day.Add(time.Second)), aPasskey("bob", "a", day)
	for _, p := range []storage.Passkey{a, b, other} {
		addPasskey(c, p)
	}
	wantPasskeys(c, "ann", b, a)
	c.wantError("add it again", passkeys.Add(c.Context(), aPasskey("ann", "a", day)), storage.ErrConflict)
	if err := passkeys.Remove(c.Context(), "ann", "a"); err != nil {
		c.Fatal(err)
	}
	c.wantError("remove it again", passkeys.Remove(c.Context(), "ann", "a"), storage.ErrNotFound)
	wantPasskeys(c, "ann", b)
	wantPasskeys(c, "bob", other)
}

func usedPasskey(c storeTest) {
	passkeys, p := storage.Passkeys(c.Store), aPasskey("ann", "a", day)
	addPasskey(c, p)
	p.Credential, p.Used, p.Challenged = []byte("after"), day.Add(time.Hour), day.Add(time.Minute)
	if err := passkeys.Use(c.Context(), p); err != nil {
		c.Fatal(err)
	}
	c.wantError("use its challenge again", passkeys.Use(c.Context(), p), storage.ErrConflict)
	c.wantError("use a removed one", passkeys.Use(c.Context(), aPasskey("ann", "removed", day)), storage.ErrNotFound)
	wantPasskeys(c, "ann", p)
}

func manyPasskeys(c storeTest) {
	for i := range storage.MaxPasskeys {
		addPasskey(c, aPasskey("ann", fmt.Sprintf("%03d", i), day))
	}
	c.wantError("add one too many", storage.Passkeys(c.Store).Add(c.Context(), aPasskey("ann", "more", day)), storage.ErrTooMany)
	addPasskey(c, aPasskey("bob", "a", day))
}

func firstNote(c storeTest) {
	for _, text := range []string{"first", "second"} {
		if got, err := storage.Notes(c.Store).First(c.Context(), "shared", []byte(text)); err != nil || string(got) != "first" {
			c.Errorf("got %q, %v; want the first note", got, err)
		}
	}
}

package storagetest

import (
	"context"
	"fmt"
	"sync"
	"time"

	"feedmesh/storage"
)

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
	bob.Role, bob.Link, bob.LinkUntil, bob.Passwords = "reader", "", time.Time{}, 3
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

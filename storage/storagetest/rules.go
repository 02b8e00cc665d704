package storagetest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"feedmesh/storage"
)

// someRules returns rules based on a version of their set, with a value in every field.
func someRules(name string, from int64) storage.RuleSet {
	return storage.RuleSet{
		Name: name, Version: from, Text: fmt.Appendf(nil, "rules <%d> of %s \x00\xff\n", from+1, name),
		Note: fmt.Sprintf("made from %d & \"tested\"", from), Changed: day.Add(time.Duration(from) * time.Minute),
	}
}

// asNext returns rules as stored, with or without their text.
func asNext(set storage.RuleSet, text []byte) storage.RuleSet {
	set.Version++
	set.Text = text
	return set
}

func putRules(c storeTest, set storage.RuleSet) {
	c.Helper()
	got, err := storage.RuleSets(c.Store).Put(c.Context(), set)
	if err != nil {
		c.Fatalf("put rules: %v", err)
	}
	c.wantEqual("the returned set", got, asNext(set, nil))
}

// wantRules fails unless the stored version of a set equals want.
func wantRules(c storeTest, version int64, want storage.RuleSet) {
	c.Helper()
	got, err := storage.RuleSets(c.Store).Read(c.Context(), want.Name, version)
	if err != nil {
		c.Fatalf("read rules: %v", err)
	}
	c.wantEqual(fmt.Sprintf("version %d of the rules", version), got, want)
}

func storedRules(c storeTest) {
	bare := storage.RuleSet{Name: "bare", Changed: day}
	sets := []storage.RuleSet{someRules("a", 0), someRules("a", 1), someRules("A", 0), bare, someRules("a", 2)}
	large := someRules("large", 0)
	large.Text = bytes.Repeat([]byte("rule\x00"), storage.MaxRules/5)
	for _, set := range append(sets, large) {
		putRules(c, set)
		wantRules(c, 0, asNext(set, set.Text))
	}
	for _, set := range sets {
		wantRules(c, set.Version+1, asNext(set, set.Text))
	}
	for _, version := range []int64{4, -1} {
		_, err := storage.RuleSets(c.Store).Read(c.Context(), "a", version)
		c.wantError(fmt.Sprintf("read version %d", version), err, storage.ErrNotFound)
	}
	moscow := someRules("zone", 0)
	moscow.Changed = time.Date(2026, 3, 1, 3, 4, 5, 123456789, time.FixedZone("Moscow", 3*60*60))
	if _, err := storage.RuleSets(c.Store).Put(c.Context(), moscow); err != nil {
		c.Fatal(err)
	}
	moscow.Changed = time.Date(2026, 3, 1, 0, 4, 5, 123456000, time.UTC)
	wantRules(c, 0, asNext(moscow, moscow.Text))
}

func rulesMadeFromOld(c storeTest) {
	_, err := storage.RuleSets(c.Store).Put(c.Context(), someRules("a", 1))
	c.wantError("put the second of none", err, storage.ErrConflict)
	putRules(c, someRules("a", 0))
	putRules(c, someRules("a", 1))
	for _, from := range []int64{0, 1, 3, -1} {
		_, err := storage.RuleSets(c.Store).Put(c.Context(), someRules("a", from))
		c.wantError(fmt.Sprintf("put rules based on version %d", from), err, storage.ErrConflict)
	}
	want := someRules("a", 1)
	wantRules(c, 0, asNext(want, want.Text))
	wantVersions(c, "a", 0, 10, 2, 1)
}

func largeRules(c storeTest) {
	large := someRules("a", 0)
	large.Text = make([]byte, storage.MaxRules+1)
	_, err := storage.RuleSets(c.Store).Put(c.Context(), large)
	c.wantError("put them", err, storage.ErrTooLarge)
	wantVersions(c, "a", 0, 10)
}

// wantVersions fails unless a page contains exactly these versions, in this order, without texts.
func wantVersions(c storeTest, name string, before int64, limit int, want ...int64) {
	c.Helper()
	page, err := storage.RuleSets(c.Store).Versions(c.Context(), name, before, limit)
	if err != nil {
		c.Fatalf("list versions: %v", err)
	}
	var got []int64
	for _, set := range page {
		got = append(got, set.Version)
		c.wantEqual("a listed version", set, asNext(someRules(name, set.Version-1), nil))
	}
	c.wantEqual(fmt.Sprintf("the list of %d versions before %d", limit, before), got, want)
}

func ruleVersions(c storeTest) {
	wantVersions(c, "a", 0, 10)
	for from := range int64(5) {
		putRules(c, someRules("a", from))
	}
	putRules(c, someRules("b", 0))
	wantVersions(c, "a", 0, 10, 5, 4, 3, 2, 1)
	wantVersions(c, "a", 0, 2, 5, 4)
	wantVersions(c, "a", 4, 2, 3, 2)
	wantVersions(c, "a", 2, 2, 1)
	wantVersions(c, "a", 1, 2)
	wantVersions(c, "a", 0, 0)
	wantVersions(c, "b", 0, 10, 1)
}

func oldRules(c storeTest) {
	putRules(c, someRules("b", 0))
	const put = storage.MaxRuleVersions + 3
	for from := range int64(put) {
		putRules(c, someRules("a", from))
	}
	page, err := storage.RuleSets(c.Store).Versions(c.Context(), "a", 0, 2*put)
	if err != nil || len(page) != storage.MaxRuleVersions || page[len(page)-1].Version != 4 {
		c.Errorf("got %d versions, %v; want the last %d", len(page), err, storage.MaxRuleVersions)
	}
	_, err = storage.RuleSets(c.Store).Read(c.Context(), "a", 3)
	c.wantError("read a version that is too old", err, storage.ErrNotFound)
	oldest := someRules("a", 3)
	wantRules(c, 4, asNext(oldest, oldest.Text))
	wantVersions(c, "b", 0, 10, 1)
}

func concurrentRules(c storeTest) {
	const rounds, writers = 5, 6
	for from := range int64(rounds) {
		errs := make([]error, writers)
		var putting sync.WaitGroup
		for i := range errs {
			putting.Go(func() {
				set := someRules("a", from)
				set.Text = fmt.Appendf(nil, "rules of writer %d", i)
				_, errs[i] = storage.RuleSets(c.Store).Put(c.Context(), set)
			})
		}
		putting.Wait()
		first := slices.Index(errs, nil)
		if first < 0 {
			c.Fatalf("no writer put version %d: %v", from+1, errs)
		}
		for i, err := range errs {
			if i != first && !errors.Is(err, storage.ErrConflict) {
				c.Errorf("writer %d of version %d got %v, want that another was faster", i, from+1, err)
			}
		}
		wantRules(c, 0, asNext(someRules("a", from), fmt.Appendf(nil, "rules of writer %d", first)))
	}
}

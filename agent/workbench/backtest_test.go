package workbench

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"feedmesh/agent/wire"
	"feedmesh/classify"
	"feedmesh/storage"
)

const (
	oldRules = `
category devops/topic:kubernetes when kubernetes
category leisure when park`
	newRules = `
category devops/topic:kubernetes when kubernetes
category databases/topic:postgresql when postgresql
quarantine when "casino bonus"
category music when guitar
score 1 when zither`
)

func (b *bench) backtest(t *testing.T, before, after string, items int) wire.Report {
	t.Helper()
	was, is := rulesOf(t, before), rulesOf(t, after)
	report, err := Backtest(t.Context(), b.store, Trial{Before: was, After: is, Rules: is.set.Rules, Items: items})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func TestBacktest_ReportsChanges(t *testing.T) {
	b := newBench(t, 400)
	got := b.backtest(t, oldRules, newRules, 1000)
	if got.Items != 400 || got.Outdated != 300 || got.MicrosPerItem <= 0 {
		t.Errorf("got %d items, %d outdated, %v µs each; want 400, 300 (labelled by the old rules but not in the store), and more than 0", got.Items, got.Outdated, got.MicrosPerItem)
	}
	if want := (wire.Effects{Same: 100, Spam: 100, Gained: 100, Lost: 100, Changed: 300}); got.Effects != want {
		t.Errorf("got %+v, want %+v", got.Effects, want)
	}
	if want := []wire.Shift{{Name: "databases", Before: 0, After: 100}, {Name: "devops", Before: 200, After: 200}, {Name: "leisure", Before: 100, After: 0}}; !slices.Equal(got.Categories, want) {
		t.Errorf("got categories %v, want %v", got.Categories, want)
	}
	if want := []wire.Shift{{Name: "postgresql", Before: 0, After: 100}, {Name: "kubernetes", Before: 200, After: 200}}; !slices.Equal(got.Topics, want) {
		t.Errorf("got topics %v, want %v", got.Topics, want)
	}
	if want := []wire.RuleCount{{Rule: "rules:2", Items: 200}, {Rule: "rules:3", Items: 100}, {Rule: "rules:4", Items: 100}}; !slices.Equal(got.Busiest, want) {
		t.Errorf("got busiest %v, want %v", got.Busiest, want)
	}
	if want := []string{"rules:5", "rules:6"}; !slices.Equal(got.Never, want) || got.NeverCount != 2 {
		t.Errorf("got never %v (%d), want %v", got.Never, got.NeverCount, want)
	}
	for name, samples := range map[string][]wire.Sample{titles[1]: got.Samples.Spam, titles[2]: got.Samples.Gained, titles[3]: got.Samples.Lost} {
		if len(samples) != maxSamples || samples[0].Title != name || samples[0].ID == "" {
			t.Errorf("got %+v, want %d samples of %s", samples, maxSamples, name)
		}
	}
	if s := got.Samples.Gained[0]; !reflect.DeepEqual(s.After, wire.Labelled{Categories: []string{"databases", "devops"}, Topics: []string{"kubernetes", "postgresql"}}) ||
		!reflect.DeepEqual(s.Before, wire.Labelled{Categories: []string{"devops"}, Topics: []string{"kubernetes"}}) || !slices.Contains(s.Why, "databases by rules:3") {
		t.Errorf("got %+v, want labels before and after, and reasons", s)
	}
	if len(got.Samples.Clean) != 0 {
		t.Errorf("got clean samples %+v, want none", got.Samples.Clean)
	}
	back := b.backtest(t, newRules, oldRules, 1000)
	if want := (wire.Effects{Same: 100, Clean: 100, Gained: 100, Lost: 100, Changed: 300}); back.Effects != want {
		t.Errorf("rules swapped: got %+v, want %+v", back.Effects, want)
	}
	if s := back.Samples.Lost[0]; !slices.Contains(s.Why, "databases by rules:3") {
		t.Errorf("got why %q, want the reasons of the lost label", s.Why)
	}
}

func TestBacktest_Conflicts(t *testing.T) {
	b := newBench(t, 400)
	got := b.backtest(t, oldRules, `
category devops when kubernetes
category databases when postgresql
category databases when "postgresql on kubernetes"
category sea when kubernetes near/9 sea`, 1000)
	want := []wire.Conflict{
		{Kind: "categories", A: "databases", B: "devops", Categories: [2]string{"databases", "devops"}, Items: 100, Of: 100},
		{Kind: "rules", A: "rules:2", B: "rules:3", Categories: [2]string{"devops", "databases"}, Items: 100, Of: 100},
		{Kind: "rules", A: "rules:2", B: "rules:4", Categories: [2]string{"devops", "databases"}, Items: 100, Of: 100},
	}
	if !slices.Equal(got.Conflicts, want) {
		t.Errorf("got %+v, want %+v: two rules for one category agree", got.Conflicts, want)
	}
	if got := b.backtest(t, oldRules, newRules, 4); len(got.Conflicts) != 0 {
		t.Errorf("got %+v of four items, want none below the minimum", got.Conflicts)
	}
}

func TestBacktest_Corrections(t *testing.T) {
	b := newBench(t, 40)
	no, yes := false, true
	for i, said := range []storage.Correction{
		{Categories: []string{"databases"}},            // wrong: Kubernetes in production
		{Spam: &yes},                                   // right
		{Categories: []string{"databases"}, Spam: &no}, // right first category, one rule is wrong
		{}, // right: an empty correction
		{Categories: []string{"devops"}, Spam: &yes},    // wrong: not spam
		{Topics: []string{"kubernetes", "another-one"}}, // wrong: the topic is missing
	} {
		said.ItemID, said.At = storage.ItemID(b.feed, fmt.Sprint(i)), now
		if _, err := b.store.Correct(t.Context(), said); err != nil {
			t.Fatal(err)
		}
	}
	got := b.backtest(t, oldRules, newRules, 1000)
	if want := (wire.CorrectionReport{Items: 6, Right: 3, Wrong: []wire.Contradiction{{Rule: "rules:2", Category: "devops", Items: 2, Of: 3}}}); !reflect.DeepEqual(got.Corrections, want) {
		t.Errorf("got %+v, want %+v", got.Corrections, want)
	}
	if got.Corrected != 6 || got.Effects.Same+got.Effects.Spam+got.Effects.Gained+got.Effects.Lost != 34 {
		t.Errorf("got %d corrected and %+v, want the 6 unchanged", got.Corrected, got.Effects)
	}
}

func TestBacktest_NewestItems(t *testing.T) {
	b := newBench(t, 400)
	seen := map[string]bool{}
	watch := deciderFunc(func(d classify.Document) classify.Decision {
		seen[d.Title] = true
		return classify.Decision{}
	})
	days, err := b.store.Days(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	newest := int(days[storage.Day(now)])
	old := b.item(1000)
	old.Title, old.FirstSeen = "Old", now.AddDate(-1, 0, 0)
	if _, err := b.store.PutItems(t.Context(), storage.Batch{FeedID: b.feed, Items: []storage.Item{old}}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		items, want int
		old         bool
	}{{1, 1, false}, {newest, newest, false}, {400, 400, false}, {401, 401, true}, {1000, 401, true}, {0, 1, false}} {
		clear(seen)
		report, err := Backtest(t.Context(), b.store, Trial{Before: rulesOf(t, oldRules), After: oneByOne(watch), Items: c.items})
		if err != nil || report.Items != c.want || seen["Old"] != c.old {
			t.Errorf("of %d: got %d, the oldest among them %v, %v; want %d and %v", c.items, report.Items, seen["Old"], err, c.want, c.old)
		}
	}
}

func TestBacktest_IsDeterministic(t *testing.T) {
	b := newBench(t, 300)
	first, again := b.backtest(t, oldRules, newRules, 250), b.backtest(t, oldRules, newRules, 250)
	first.MicrosPerItem, again.MicrosPerItem = 0, 0
	if !reflect.DeepEqual(first, again) {
		t.Errorf("got %+v, then %+v", first, again)
	}
}

func TestBacktest_StopsWithContext(t *testing.T) {
	b := newBench(t, 400)
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	after := oneByOne(deciderFunc(func(classify.Document) classify.Decision {
		if n++; n == 10 {
			cancel()
		}
		return classify.Decision{}
	}))
	_, err := Backtest(ctx, b.store, Trial{Before: rulesOf(t, oldRules), After: after, Items: 400})
	if !errors.Is(err, context.Canceled) || n > 20 {
		t.Errorf("got %v after %d items, want it canceled after ten", err, n)
	}
}

func TestReport_SizeLimit(t *testing.T) {
	b := newBench(t, 40)
	var text strings.Builder
	for i := range 1500 {
		fmt.Fprintf(&text, "category c%d/topic:t%d when kubernetes\ncategory never%d when w%dx\n", i, i, i, i)
	}
	got := b.backtest(t, oldRules, text.String(), 1000)
	if len(got.Topics) > maxTopics || len(got.Busiest) != maxBusiest || len(got.Never) != maxNever || got.NeverCount != 1500 || len(got.Conflicts) > 2*maxConflicts {
		t.Errorf("got %d topics, %d busiest, %d never of %d, %d conflicts; want each within bounds",
			len(got.Topics), len(got.Busiest), len(got.Never), got.NeverCount, len(got.Conflicts))
	}
}

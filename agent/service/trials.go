package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nuid"

	"feedmesh/agent/wire"
	"feedmesh/agent/workbench"
	"feedmesh/classify"
	"feedmesh/classify/rule"
	"feedmesh/storage"
)

// Trials tests rules on stored items, without changing anything.
type Trials struct {
	*core
	backtests backtests
	Slots     chan struct{} // semaphore of concurrent back-tests
}

// MaxBacktests is the number of concurrent back-tests of a process.
const MaxBacktests = 2

// Test tests rules on one item or document.
func (t *Trials) Test(ctx context.Context, in wire.TestRulesRequest) (wire.TrialResult, error) {
	spec, err := t.decidingSet(in.Name)
	if err != nil {
		return wire.TrialResult{}, err
	}
	if (in.Body.Item == "") == (in.Body.Document == nil) {
		return wire.TrialResult{}, errorf(KindInvalid, "give an item's ID or a document to try the rules on, one of them")
	}
	set := storage.RuleSet{Text: []byte(in.Body.Text)}
	if in.Body.Text == "" {
		if set, err = t.versionText(ctx, spec, 0); err != nil {
			return wire.TrialResult{}, err
		}
	}
	by, _, err := spec.Decider(set.Text)
	if err != nil {
		return wire.TrialResult{}, invalidRules(spec, err)
	}
	if in.Body.Document != nil {
		return workbench.TestDraft(ctx, t.Store, by, *in.Body.Document)
	}
	return workbench.TestItem(ctx, t.Store, by, in.Body.Item)
}

// Backtest compares the decisions of a text with those of the rules in force on the newest items. It ends
// with ctx.
func (t *Trials) Backtest(ctx context.Context, in wire.BacktestRequest) (wire.Report, error) {
	trial, err := t.trial(in.Name, in.RawBody, in.Items)
	if err != nil {
		return wire.Report{}, err
	}
	defer func() { <-t.Slots }()
	return workbench.Backtest(ctx, t.Store, trial)
}

// trial returns the back-test of a text and takes a slot for it.
func (t *Trials) trial(name string, text []byte, items int) (workbench.Trial, error) {
	spec, err := t.decidingSet(name)
	if err != nil {
		return workbench.Trial{}, err
	}
	after, rules, err := spec.Decider(text)
	if err != nil {
		return workbench.Trial{}, invalidRules(spec, err)
	}
	select {
	case t.Slots <- struct{}{}:
		return workbench.Trial{Before: t.Decider(), After: after, Rules: rules, Items: items}, nil
	default:
		return workbench.Trial{}, errorf(KindBusy, "%d back-tests are running on this node; retry when one has finished", MaxBacktests)
	}
}

const (
	MaxKeptBacktests = 8                // running and ended, of this process
	backtestTimeout  = 10 * time.Minute // timeout of one back-test
	MaxTestedText    = 1 << 20          // bytes, since each text is kept
)

// backtests holds the last back-tests of this process, oldest first.
type backtests struct {
	mu      sync.Mutex
	all     []*backtest
	running sync.WaitGroup
}

type backtest struct {
	wire.Backtest
	done atomic.Int64
	stop context.CancelFunc
}

// A counter counts the decisions of its decider.
type counter struct {
	workbench.Decider
	done *atomic.Int64
}

func (c counter) Decide(d classify.Document) classify.Decision {
	defer c.done.Add(1)
	return c.Decider.Decide(d)
}

// Start starts a back-test of a text on the newest items and returns its ID. The fields Set, From, Text, Note
// and Items describe the back-test.
func (t *Trials) Start(of wire.Backtest) (id string, err error) {
	if len(of.Text) > MaxTestedText {
		return "", errorf(KindTooLarge, "the text has %d bytes; a page tries at most %d: use agent rules backtest", len(of.Text), MaxTestedText)
	}
	of.Items = min(max(of.Items, 1), workbench.MaxItems)
	trial, err := t.trial(of.Set, []byte(of.Text), of.Items)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), backtestTimeout) // independent of the request, which ends first
	run := &backtest{Backtest: of, stop: cancel}
	run.ID, trial.After = nuid.Next(), counter{trial.After, &run.done}
	t.backtests.add(run)
	t.backtests.running.Go(func() {
		defer func() { <-t.Slots }()
		defer cancel()
		report, err := workbench.Backtest(ctx, t.Store, trial)
		t.backtests.mu.Lock()
		defer t.backtests.mu.Unlock()
		run.Report, run.Ended = report, true
		if err != nil {
			run.Err = err.Error()
			t.Log.Warn("back-test failed", "rules", run.Set, "err", err)
		}
	})
	return run.ID, nil
}

// Progress returns the progress or result of a back-test. It returns [storage.ErrNotFound] if this process
// does not store it.
func (t *Trials) Progress(id string) (wire.Backtest, error) {
	t.backtests.mu.Lock()
	defer t.backtests.mu.Unlock()
	for _, run := range t.backtests.all {
		if run.ID == id {
			view := run.Backtest
			view.Done = min(int(run.done.Load()), view.Items) // corrected items are decided in addition
			return view, nil
		}
	}
	return wire.Backtest{}, fmt.Errorf("back-test %s: %w: only the last %d are kept, by the agent that made them", id, storage.ErrNotFound, MaxKeptBacktests)
}

// add stores a back-test and evicts the oldest ended one when maxKeptBacktests are stored.
func (b *backtests) add(run *backtest) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.all) >= MaxKeptBacktests {
		i := max(slices.IndexFunc(b.all, func(old *backtest) bool { return old.Ended }), 0)
		b.all = slices.Delete(b.all, i, i+1)
	}
	b.all = append(b.all, run)
}

// end cancels the running back-tests and waits for them.
func (b *backtests) end() {
	b.mu.Lock()
	for _, run := range b.all {
		run.stop()
	}
	b.mu.Unlock()
	b.running.Wait()
}

// A RuleSetSpec describes a rule set that this program supports.
type RuleSetSpec struct {
	Name    string                  // of the set
	Does    string                  // purpose, in a line
	Check   func(text []byte) error // nil if the text is valid, else all errors, joined
	Default []byte                  // built-in text, in force until a version is saved

	// Warn returns warnings for a valid text. Nil: no warnings.
	Warn func(text []byte) []string

	// Decider returns the decider of a text, with all else as in force here, and the text's rules if it has
	// any. Nil: the set does not decide labels of items.
	Decider func(text []byte) (workbench.Decider, []rule.Rule, error)

	// Learn trains the next text on the newest text and examples. It returns a note on its quality and its
	// figures as JSON. Nil: the set can't be trained.
	Learn func(ctx context.Context, newest []byte, examples workbench.Examples) (next []byte, note string, figures json.RawMessage, err error)
}

// ruleSetSpec returns the set with the given name, or an error that lists all sets.
func (c *core) ruleSetSpec(name string) (RuleSetSpec, error) {
	var names []string
	for _, b := range c.RuleSetSpecs {
		if b.Name == name {
			return b, nil
		}
		names = append(names, b.Name)
	}
	return RuleSetSpec{}, errorf(KindNotFound, "there is no rule set %q; there are: %s", name, strings.Join(names, ", "))
}

// decidingSet returns the set with the given name if it decides labels of items.
func (c *core) decidingSet(name string) (RuleSetSpec, error) {
	spec, err := c.ruleSetSpec(name)
	if err != nil || spec.Decider != nil {
		return spec, err
	}
	var others []string
	for _, b := range c.RuleSetSpecs {
		if b.Decider != nil {
			others = append(others, b.Name)
		}
	}
	return spec, errorf(KindInvalid,
		"rules %s do not decide what items are, so there is nothing to try or apply; those that do: %s", name, strings.Join(others, ", "))
}

// trainableSet returns the set with the given name if it can be trained.
func (c *core) trainableSet(name string) (RuleSetSpec, error) {
	spec, err := c.ruleSetSpec(name)
	if err == nil && spec.Learn == nil {
		err = errorf(KindInvalid, "rules %s can't be trained: they are edited manually", name)
	}
	return spec, err
}

// versionText returns the text of a version of a set; version 0 is the newest, or the built-in text without
// any.
func (c *core) versionText(ctx context.Context, spec RuleSetSpec, version int64) (storage.RuleSet, error) {
	set, err := storage.RuleSets(c.Store).Read(ctx, spec.Name, version)
	if errors.Is(err, storage.ErrNotFound) && version == 0 {
		return storage.RuleSet{Name: spec.Name, Text: spec.Default}, nil
	}
	if err != nil {
		return set, fmt.Errorf("version %d of rules %s: %w", version, spec.Name, err)
	}
	return set, nil
}

// exactText is [core.versionText], except that version 0 is the built-in text.
func (c *core) exactText(ctx context.Context, spec RuleSetSpec, version int64) (storage.RuleSet, error) {
	if version == 0 {
		return storage.RuleSet{Name: spec.Name, Text: spec.Default}, nil
	}
	return c.versionText(ctx, spec, version)
}

// newestRules returns the newest version of a set without its text, or the zero value.
func (c *core) newestRules(ctx context.Context, name string) (storage.RuleSet, error) {
	versions, err := storage.RuleSets(c.Store).Versions(ctx, name, 0, 1)
	if err != nil || len(versions) == 0 {
		return storage.RuleSet{}, err
	}
	return versions[0], nil
}

// putVersion stores a valid text as the next version and publishes it to the mesh.
func (c *core) putVersion(ctx context.Context, spec RuleSetSpec, set storage.RuleSet) (wire.SavedRules, error) {
	set.Name, set.Changed = spec.Name, c.Now()
	next, err := storage.RuleSets(c.Store).Put(ctx, set)
	if err != nil {
		return wire.SavedRules{}, fmt.Errorf("rules %s: %w", spec.Name, err)
	}
	err = c.Mesh.PutRules(ctx, spec.Name, func(ctx context.Context) (storage.RuleSet, error) {
		return storage.RuleSets(c.Store).Read(ctx, spec.Name, 0)
	})
	if err != nil { // it is stored; agents with the store publish it again
		c.Log.Warn("rules publication failed, will retry", "rules", spec.Name, "err", err)
	}
	return wire.SavedRules{RuleVersion: versionOf(next), Notified: err == nil}, nil
}

package service

import (
	"context"

	"feedmesh/agent/wire"
	"feedmesh/agent/workbench"
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
func (t *Trials) Test(ctx context.Context, in wire.TestRulesRequest) (workbench.TrialResult, error) {
	spec, err := t.decidingSet(in.Name)
	if err != nil {
		return workbench.TrialResult{}, err
	}
	if (in.Body.Item == "") == (in.Body.Document == nil) {
		return workbench.TrialResult{}, errorf(KindInvalid, "give an item's ID or a document to try the rules on, one of them")
	}
	set := storage.RuleSet{Text: []byte(in.Body.Text)}
	if in.Body.Text == "" {
		if set, err = t.versionText(ctx, spec, 0); err != nil {
			return workbench.TrialResult{}, err
		}
	}
	by, _, err := spec.Decider(set.Text)
	if err != nil {
		return workbench.TrialResult{}, invalidRules(spec, err)
	}
	if in.Body.Document != nil {
		return workbench.TestDraft(ctx, t.Store, by, *in.Body.Document)
	}
	return workbench.TestItem(ctx, t.Store, by, in.Body.Item)
}

// Backtest compares the decisions of a text with those of the rules in force on the newest items. It ends
// with ctx.
func (t *Trials) Backtest(ctx context.Context, in wire.BacktestRequest) (workbench.Report, error) {
	trial, err := t.trial(in.Name, in.RawBody, in.Items)
	if err != nil {
		return workbench.Report{}, err
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

package service

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nuid"

	"feedmesh/agent/wire"
	"feedmesh/agent/workbench"
	"feedmesh/classify"
	"feedmesh/storage"
)

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

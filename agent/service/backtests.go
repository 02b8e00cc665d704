package service

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/nats-io/nuid"

	"feedmesh/agent/wire"
	"feedmesh/agent/workbench"
	"feedmesh/classify"
	"feedmesh/storage"
)

const (
	maxKeptBacktests = 8                // running and ended, of this process
	backtestTimeout  = 10 * time.Minute // timeout of one back-test
	maxTestedText    = 1 << 20          // bytes, since each text is kept
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

// StartBacktest starts a back-test of a text on the newest items and returns its ID. The fields Set, From,
// Text, Note and Items describe the back-test.
func (s *Server) StartBacktest(of wire.Backtest) (id string, err error) {
	spec, err := s.decidingSet(of.Set)
	if err != nil {
		return "", err
	}
	if len(of.Text) > maxTestedText {
		return "", huma.Error413RequestEntityTooLarge(fmt.Sprintf("the text has %d bytes; a page tries at most %d: use agent rules backtest", len(of.Text), maxTestedText))
	}
	after, rules, err := spec.Decider([]byte(of.Text))
	if err != nil {
		return "", invalidRules(spec, err)
	}
	select {
	case s.backtestSlots <- struct{}{}:
	default:
		return "", huma.Error429TooManyRequests(fmt.Sprintf("%d back-tests are running on this node; retry when one has finished", maxBacktests))
	}
	ctx, cancel := context.WithTimeout(context.Background(), backtestTimeout) // independent of the request, which ends first
	run := &backtest{Backtest: of, stop: cancel}
	run.ID, run.Items = nuid.Next(), min(max(of.Items, 1), workbench.MaxItems)
	s.backtests.add(run)
	s.backtests.running.Go(func() {
		defer func() { <-s.backtestSlots }()
		defer cancel()
		report, err := workbench.Backtest(ctx, s.Store, workbench.Trial{Before: s.Decider(), After: counter{after, &run.done}, Rules: rules, Items: run.Items})
		s.backtests.mu.Lock()
		defer s.backtests.mu.Unlock()
		run.Report, run.Ended = report, true
		if err != nil {
			run.Err = err.Error()
			s.Log.Warn("back-test failed", "rules", run.Set, "err", err)
		}
	})
	return run.ID, nil
}

// Backtest returns the progress or result of a back-test. It returns [storage.ErrNotFound] if this process
// does not store it.
func (s *Server) Backtest(id string) (wire.Backtest, error) {
	s.backtests.mu.Lock()
	defer s.backtests.mu.Unlock()
	for _, run := range s.backtests.all {
		if run.ID == id {
			view := run.Backtest
			view.Done = min(int(run.done.Load()), view.Items) // corrected items are decided in addition
			return view, nil
		}
	}
	return wire.Backtest{}, fmt.Errorf("back-test %s: %w: only the last %d are kept, by the agent that made them", id, storage.ErrNotFound, maxKeptBacktests)
}

// add stores a back-test and evicts the oldest ended one when maxKeptBacktests are stored.
func (b *backtests) add(run *backtest) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.all) >= maxKeptBacktests {
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

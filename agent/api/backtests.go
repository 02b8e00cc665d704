package api

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/nats-io/nuid"

	"feedmesh/agent/workbench"
	"feedmesh/classify"
	"feedmesh/storage"
)

const (
	keptBacktests = 8                // that have ended or run
	backtestTime  = 10 * time.Minute // that one may take
	maxTestedText = 1 << 20          // bytes, as each is kept
)

// A Backtest is one that nobody waits for: it runs, or has ended. It is known to
// the process that began it alone, and only while it is among the last few.
type Backtest struct {
	ID     string
	Set    string // of rules
	From   int64  // version that the text was made from
	Text   string
	Note   string // to put the text with
	Items  int    // to look at, at most
	Done   int    // of these
	Ended  bool
	Err    string           // why it failed, in words
	Report workbench.Report // once it has ended
}

// backtests are the last ones of this process, oldest first.
type backtests struct {
	mu      sync.Mutex
	all     []*backtest
	running sync.WaitGroup
}

type backtest struct {
	Backtest
	done atomic.Int64
	stop context.CancelFunc
}

// A counter counts what its decider decides.
type counter struct {
	workbench.Decider
	done *atomic.Int64
}

func (c counter) Decide(d classify.Document) classify.Decision {
	defer c.done.Add(1)
	return c.Decider.Decide(d)
}

// BeginBacktest begins to find out what a text would change about so many of the
// newest items, and returns its ID. The fields Set, From, Text, Note and Items say
// what to try.
func (s *Server) BeginBacktest(of Backtest) (id string, err error) {
	book, err := s.deciding(of.Set)
	if err != nil {
		return "", err
	}
	if len(of.Text) > maxTestedText {
		return "", huma.Error413RequestEntityTooLarge(fmt.Sprintf("the text has %d bytes; a page tries at most %d: use agent rules backtest", len(of.Text), maxTestedText))
	}
	after, rules, err := book.Decider([]byte(of.Text))
	if err != nil {
		return "", wrongRules(book, err)
	}
	select {
	case s.benches <- struct{}{}:
	default:
		return "", huma.Error429TooManyRequests(fmt.Sprintf("%d back-tests are under way here already; try again when one has ended", maxBacktests))
	}
	ctx, cancel := context.WithTimeout(context.Background(), backtestTime) // it outlives who asked for it
	run := &backtest{Backtest: of, stop: cancel}
	run.ID, run.Items = nuid.Next(), min(max(of.Items, 1), workbench.MaxItems)
	s.backtests.add(run)
	s.backtests.running.Go(func() {
		defer func() { <-s.benches }()
		defer cancel()
		report, err := workbench.Backtest(ctx, s.Store, workbench.Trial{Before: s.Decider(), After: counter{after, &run.done}, Rules: rules, Items: run.Items})
		s.backtests.mu.Lock()
		defer s.backtests.mu.Unlock()
		run.Report, run.Ended = report, true
		if err != nil {
			run.Err = err.Error()
			s.Log.Warn("a back-test failed", "rules", run.Set, "err", err)
		}
	})
	return run.ID, nil
}

// Backtest returns how a back-test is getting on, or what came of it. It returns
// [storage.ErrNotFound] if there is none here.
func (s *Server) Backtest(id string) (Backtest, error) {
	s.backtests.mu.Lock()
	defer s.backtests.mu.Unlock()
	for _, run := range s.backtests.all {
		if run.ID == id {
			view := run.Backtest
			view.Done = min(int(run.done.Load()), view.Items) // what people corrected is decided beyond these
			return view, nil
		}
	}
	return Backtest{}, fmt.Errorf("back-test %s: %w: only the last %d are kept, by the agent that made them", id, storage.ErrNotFound, keptBacktests)
}

// add remembers one more, and forgets the oldest that has ended.
func (b *backtests) add(run *backtest) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.all) >= keptBacktests {
		i := max(slices.IndexFunc(b.all, func(old *backtest) bool { return old.Ended }), 0)
		b.all = slices.Delete(b.all, i, i+1)
	}
	b.all = append(b.all, run)
}

// end ends those that run, and waits for them.
func (b *backtests) end() {
	b.mu.Lock()
	for _, run := range b.all {
		run.stop()
	}
	b.mu.Unlock()
	b.running.Wait()
}

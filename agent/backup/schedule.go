package backup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"feedmesh/agent/metric"
	"feedmesh/agent/wire"
	"feedmesh/config"
)

// A Schedule makes backups at an interval, and deletes its oldest. The names of the stored files are its only state:
// the next one is due at an interval after the newest.
type Schedule struct {
	maker    *Maker
	target   target
	settings config.Backup
	owner    string // of its files
	single   func(ctx context.Context, name string, run func(context.Context) error) error
	log      *slog.Logger
	age      *prometheus.GaugeVec
	failures prometheus.Counter
	started  time.Time

	mu        sync.Mutex
	newest    time.Time // time of the newest stored backup; zero: none
	size      int64     // of that, in bytes
	listed    outcome   // of the last listing
	attempted outcome   // of the last attempt of this process
}

// An outcome is an error, nil for a success, and the time since when there have been errors.
type outcome struct {
	err   error
	since time.Time
}

func (o *outcome) set(err error) {
	if err != nil && o.err == nil {
		o.since = time.Now()
	}
	o.err = err
}

// ScheduleOptions are the parameters of [NewSchedule].
type ScheduleOptions struct {
	Settings config.Backup
	StoreID  string
	Metrics  prometheus.Registerer

	// Single runs a function while no other agent of the mesh does, as [mesh.Mesh.Single].
	Single func(ctx context.Context, name string, run func(context.Context) error) error
}

// NewSchedule returns the schedule of the settings.
func NewSchedule(m *Maker, o ScheduleOptions) (*Schedule, error) {
	t, err := openTarget(o.Settings, m.Folder)
	if err != nil {
		return nil, fmt.Errorf("backups to %s: %w", o.Settings.To, err)
	}
	return &Schedule{
		maker: m, target: t, settings: o.Settings, owner: o.StoreID[:min(ownerLength, len(o.StoreID))], single: o.Single, log: m.Log,
		age:      metric.Gauges(o.Metrics, "feedmesh_backup_age_seconds", "Age of the newest scheduled backup; since the start of the agent if there is none."),
		failures: metric.Counter(o.Metrics, "feedmesh_backup_failures_total", "Scheduled backups that failed."),
		started:  time.Now(),
	}, nil
}

// lease is the name of the lease of the agent that makes the backups.
const lease = "backup"

const (
	listEvery = time.Minute
	// maxRetry is the maximum delay of a retry, and clockTolerance how far in the future a clock may have
	// been when a backup was named.
	maxRetry       = 15 * time.Minute
	clockTolerance = 5 * time.Minute
)

// Run makes backups while this process is the active one, and lists the stored ones, until ctx ends. A nil Schedule
// returns at once.
func (s *Schedule) Run(ctx context.Context) error {
	if s == nil {
		return nil
	}
	var listing sync.WaitGroup
	defer listing.Wait()
	listing.Go(func() {
		for ; ctx.Err() == nil; sleep(ctx, listEvery) {
			s.list(ctx) // State reports its error
		}
	})
	return s.single(ctx, lease, func(ctx context.Context) error {
		for ctx.Err() == nil {
			sleep(ctx, s.attempt(ctx))
		}
		return nil
	})
}

// attempt makes a backup if it is due, and returns the delay of the next attempt or retry.
func (s *Schedule) attempt(ctx context.Context) time.Duration {
	newest, err := s.list(ctx)
	wait := s.settings.Every - time.Since(newest)
	if err == nil && wait <= 0 {
		err, wait = s.backUp(ctx), s.settings.Every
	}
	switch {
	case ctx.Err() != nil:
		return 0
	case err != nil:
		s.failures.Inc()
		s.log.Error("backup failed", "to", s.settings.To, "err", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.attempted.set(err)
	return min(wait, maxRetry) // the clock may change meanwhile
}

// backUp makes and stores a backup, then deletes the oldest.
func (s *Schedule) backUp(ctx context.Context) error {
	dir, err := s.target.workFolder()
	if err != nil {
		return err
	}
	s.maker.removePartial(dir, s.owner+"-")
	name := fileName(s.owner, time.Now())
	path := filepath.Join(dir, name+partialSuffix)
	if _, err := s.maker.make(ctx, path); err != nil {
		return err
	}
	err = s.target.store(ctx, path, name)
	if removed := os.Remove(path); err == nil && removed != nil && !errors.Is(removed, os.ErrNotExist) {
		err = removed
	}
	if err != nil {
		return err
	}
	s.log.Info("backup stored", "to", s.settings.To, "file", name)
	if err := s.prune(ctx, name); err != nil {
		return err
	}
	_, err = s.list(ctx) // also to see that it is there
	return err
}

// prune deletes the oldest backups of this store except the newest Keep and the one made last. No other file is its
// own.
func (s *Schedule) prune(ctx context.Context, last string) error {
	names, err := s.own(ctx)
	if err != nil {
		return err
	}
	for _, name := range names[:max(0, len(names)-s.settings.Keep)] {
		if name == last {
			continue
		}
		if err := s.target.remove(ctx, name); err != nil {
			return fmt.Errorf("delete the old backup %s: %w", name, err)
		}
		s.log.Debug("old backup deleted", "file", name)
	}
	return nil
}

// own returns the names of this store's scheduled backups, oldest first.
func (s *Schedule) own(ctx context.Context) ([]string, error) {
	names, err := s.target.list(ctx)
	names = slices.DeleteFunc(names, func(name string) bool { _, is := madeAt(s.owner, name); return !is })
	slices.Sort(names) // by time: all have the same owner
	return names, err
}

// list reads the time of the newest backup; zero if there is none.
func (s *Schedule) list(ctx context.Context) (newest time.Time, err error) {
	names, err := s.own(ctx)
	size, last := int64(0), ""
	for _, name := range names {
		if at, _ := madeAt(s.owner, name); time.Until(at) < clockTolerance { // else a clock was wrong
			newest, last = at, name
		}
	}
	if err == nil && last != "" {
		size, err = s.target.size(ctx, last)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if ctx.Err() == nil {
		s.listed.set(err)
	}
	if err == nil {
		s.newest, s.size = newest, size
	}
	s.age.WithLabelValues().Set(time.Since(s.reference()).Seconds())
	return newest, err
}

// reference returns the time of the newest backup, or of the start. s.mu must be locked.
func (s *Schedule) reference() time.Time {
	if s.newest.IsZero() {
		return s.started
	}
	return s.newest
}

// State returns the state of the scheduled backups, nil for a nil Schedule.
func (s *Schedule) State() *wire.BackupState {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	state := &wire.BackupState{To: s.settings.To, Last: s.newest, Size: s.size, Every: s.settings.Every.String()}
	failed := s.attempted
	if failed.err == nil {
		failed = s.listed
	}
	late := time.Since(s.reference()) > 2*s.settings.Every
	const remedy = "see the log, and check the space, the permissions and the keys there"
	switch {
	case failed.err != nil:
		state.Problem = fmt.Sprintf("since %s UTC: backups to %s fail: %v: %s", failed.since.UTC().Format("15:04:05"), s.settings.To, failed.err, remedy)
	case late && s.newest.IsZero():
		state.Problem = fmt.Sprintf("no backup was stored in %s for two intervals: %s", s.settings.To, remedy)
	case late:
		state.Problem = fmt.Sprintf("the newest backup in %s is of %s UTC, older than two intervals: %s", s.settings.To, s.newest.Format("2006-01-02 15:04"), remedy)
	}
	return state
}

// Check is the check of the scheduled backups for readiness: a warning if they fail.
func (s *Schedule) Check() wire.Check {
	problem := s.State().Problem
	return wire.Check{Name: "backup", OK: problem == "", Detail: problem, Warning: problem != ""}
}

// sleep waits for d or until ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(cmp.Or(d, time.Nanosecond))
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

package progress

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"feedmesh/subjects"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

var serving = map[string]string{"observe": "schedule", "parse": "parse", "crawl": "crawl"}

// A state is a state of the mesh that a test changes.
type state struct {
	schedule subjects.ScheduleProgress
	parse    subjects.Depth
	crawl    subjects.Depth
	roles    []string
	region   string
	others   []subjects.Agent
	renewals int64
	holder   string
	frozen   bool // the lease is not renewed
}

func (s *state) snapshot() Snapshot {
	if !s.frozen {
		s.renewals++
	}
	p := s.schedule
	return Snapshot{
		Depths: []subjects.Depth{{Queue: "observe"}, s.parse, s.crawl, {Queue: "quarantine", Tasks: 7}},
		Leases: map[string]subjects.Lease{"schedule": {Agent: "a", Host: "h", Since: s.holder, Renewals: s.renewals, Schedule: &p}},
		Agents: append([]subjects.Agent{{ID: "a", Roles: s.roles, Region: s.region}}, s.others...),
	}
}

func TestWatch_ReportsWhatStandsStill(t *testing.T) {
	for _, c := range []struct {
		what string
		each func(s *state, second int) // changes the state in each second
		want string                     // "" : nothing
		by   int                        // second
	}{
		{"all is well", func(s *state, i int) { s.parse.Tasks, s.parse.Done = 5, uint64(i) }, "", 600},
		{"no task at all", func(s *state, i int) {}, "", 600},
		{"feeds are overdue", func(s *state, i int) { s.schedule.Overdue = 3 }, "feeds are overdue and none is dispatched: restart", 30},
		{"feeds wait for a full queue", func(s *state, i int) { s.schedule.Overdue, s.schedule.Held = 3, "a queue is full" }, "none is dispatched: a queue is full", 130},
		{"feeds wait for a queue after a burst", func(s *state, i int) {
			s.schedule.Overdue, s.schedule.Held, s.schedule.Dispatched = 3, "a queue is full", int64(i/100)
		}, "", 600},
		{"feeds are overdue for a budget", func(s *state, i int) { s.schedule.Overdue, s.schedule.Dispatched = 3, int64(i/10) }, "", 600},
		{"polling is paused", func(s *state, i int) { s.schedule.Paused, s.schedule.PausedSince = "the disk is full", noon }, "polling is paused: the disk is full", 5},
		{"tasks wait", func(s *state, i int) { s.parse.Tasks, s.parse.Timeout = 5, 5*time.Minute }, "tasks wait on queue parse", 330},
		{"tasks are done slowly", func(s *state, i int) { s.parse.Tasks, s.parse.Done, s.parse.Timeout = 5, uint64(i/290), 5*time.Minute }, "", 900},
		{"a role is missing", func(s *state, i int) { s.parse.Tasks, s.parse.Done, s.roles = 1, uint64(i), []string{"schedule"} }, "no agent has the role parse", 30},
		{"a role is missing that has no work", func(s *state, i int) { s.roles = []string{"schedule"} }, "", 600},
		{"only crawlers with a region", func(s *state, i int) { s.crawl.Tasks, s.crawl.Done, s.region = 1, uint64(i), "us" }, "tasks of no region wait: start one without --region", 30},
		{"crawlers with and without a region", func(s *state, i int) {
			s.crawl.Tasks, s.crawl.Done, s.region, s.roles = 1, uint64(i), "us", []string{"schedule", "parse"}
			s.others = []subjects.Agent{{ID: "b", Roles: []string{"crawl"}}}
		}, "", 600},
		{"a region is missing", func(s *state, i int) {
			s.schedule.Regions = []subjects.MissingRegion{{Region: "us", Since: noon}}
		}, "feeds wait for region us, which no agent crawls: start an agent with --roles crawl --region us", 5},
		{"no schedule", func(s *state, i int) { s.roles = []string{"parse"} }, "no agent has the role schedule, so no feed is polled", 30},
		{"an agent restarts", func(s *state, i int) {
			if s.roles = []string{"schedule", "parse"}; i%60 < 10 {
				s.roles = nil
			}
		}, "", 600},
		{"the lease is not renewed", func(s *state, i int) { s.frozen = true }, "no agent renews the lease schedule", 30},
		{"the holder steps down again and again", func(s *state, i int) { s.holder = fmt.Sprint(i / 10) }, "schedule steps down again and again", 60},
		{"the holder changes now and then", func(s *state, i int) { s.holder = fmt.Sprint(i / 60) }, "", 600},
	} {
		w, s := New(serving), &state{roles: []string{"schedule", "parse", "crawl"}, holder: "once"}
		s.parse.Queue, s.crawl.Queue = "parse", "crawl"
		seen := ""
		for i := 0; i <= c.by; i++ {
			c.each(s, i)
			w.Observe(s.snapshot(), noon.Add(time.Duration(i)*time.Second))
			for _, p := range w.Problems() {
				seen = p.What + ": " + p.Remedy
				if p.Since.Before(noon) || p.Since.After(noon.Add(time.Duration(i)*time.Second)) {
					t.Errorf("%s: it stands still since %v", c.what, p.Since)
				}
			}
			if c.want == "" && seen != "" {
				t.Errorf("%s: got %q after %d s, want nothing", c.what, seen, i)
				break
			}
		}
		if !strings.Contains(seen, c.want) {
			t.Errorf("%s: got %q within %d s, want %q", c.what, seen, c.by, c.want)
		}
		s.schedule, s.roles, s.region, s.parse.Tasks, s.crawl.Tasks, s.frozen = subjects.ScheduleProgress{}, []string{"schedule", "parse", "crawl"}, "", 0, 0, false
		for i := 0; i <= 130; i += 5 {
			w.Observe(s.snapshot(), noon.Add(time.Duration(c.by+1+i)*time.Second))
		}
		if left := w.Problems(); len(left) != 0 {
			t.Errorf("%s: got %+v after it was mended, want nothing", c.what, left)
		}
	}
}

package command

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"feedmesh/agent/wire"
	"feedmesh/config"
)

// A statusCommand prints the status of the mesh.
type statusCommand struct{ query }

// Help implements kong's HelpProvider.
func (statusCommand) Help() string {
	return `The number of searchable items:

    agent status --json | jq .indexed`
}

// Run implements the command.
func (c *statusCommand) Run(ctx context.Context, p *program) error {
	return printAnswer(ctx, p, c.query, wire.GetStatus, wire.None{}, func(pg *page, s wire.Status) { showStatus(pg, s, time.Now()) })
}

func showStatus(pg *page, s wire.Status, now time.Time) {
	pg.table(func(row func(...any)) {
		f := s.Feeds
		row("version", s.Version)
		row("feeds", fmt.Sprintf("%d stored, %d polled, %d failing, %d gone, %d being polled", f.Stored, f.Polled, f.Failing, f.Gone, f.InFlight))
		items := fmt.Sprintf("%d stored, %d searchable", s.Items, s.Indexed)
		if s.Purged > 0 {
			items += fmt.Sprintf(", %d purged", s.Purged)
		}
		row("items", items)
		showBackup(row, s.Backup, now)
	})
	for _, problem := range s.Problems {
		pg.printf("PROBLEM: %s\n", problem)
	}
	showStalled(pg, s)
	for _, limited := range s.Limited {
		pg.printf("LIMITED: %s\n", limited)
	}
	for _, c := range s.Cordons {
		what := "cordoned: it gets no leases"
		if c.Drain {
			what = "drained: it gets no leases and no tasks"
		}
		pg.printf("CORDON since %s: agent %s is %s\n", ago(c.Since, now), c.Agent, what)
	}
	for _, n := range s.Notices {
		pg.printf("NOTICE, %s: %s\n", ago(n.At, now), n.Text)
	}
	pg.printf("\n")
	pg.table(func(row func(...any)) {
		row("QUEUE", "TASKS", "OLDEST", "SIZE", "FULL")
		for _, q := range s.Queues {
			oldest := "-"
			if q.Tasks > 0 {
				oldest = (time.Duration(q.Oldest) * time.Second).String()
			}
			row(q.Queue, q.Tasks, oldest, size(int64(q.Bytes)), fmt.Sprintf("%.0f %%", q.Fill*100))
		}
	})
	pg.printf("\n")
	pg.table(func(row func(...any)) {
		row("AGENT", "NAME", "HOST", "VERSION", "STARTED", "LOAD", "MEMORY", "TASKS DONE", "STATE", "ROLES")
		for _, a := range s.Agents {
			row(a.ID, cmp.Or(a.Name, "-"), a.Host, a.Version, ago(a.Started, now), fmt.Sprintf("%.1f", a.Load), size(a.Memory), a.Done, a.State(), strings.Join(a.RoleNames(), ","))
		}
	})
	if len(s.Active) == 0 {
		return
	}
	pg.printf("\n")
	pg.table(func(row func(...any)) {
		row("ACTIVE", "HOST", "AGENT", "SINCE", "REASON")
		for _, name := range slices.Sorted(maps.Keys(s.Active)) {
			if l := s.Active[name]; l.Agent != "" {
				row(name, l.Host, l.Agent, ago(l.Start(), now), l.Reason.Text())
			}
		}
	})
}

// showBackup prints the backups; b may be nil.
func showBackup(row func(...any), b *wire.BackupState, now time.Time) {
	if b == nil {
		return
	}
	switch {
	case b.To == "":
	case b.Last.IsZero():
		row("backup", fmt.Sprintf("none yet in %s", b.To))
	default:
		row("backup", fmt.Sprintf("%s, %s in %s", ago(b.Last, now), size(b.Size), b.To))
	}
	if !b.Requested.IsZero() {
		row("backup", fmt.Sprintf("%s, %s on request", ago(b.Requested, now), size(b.RequestedSize)))
	}
}

// showStalled prints the work that stands still, such as paused polling.
func showStalled(pg *page, s wire.Status) {
	for _, stalled := range s.Stalled {
		pg.printf("STALLED %s\n", stalled)
	}
}

// size formats a number of bytes.
func size(bytes int64) string {
	for _, unit := range []config.Bytes{1 << 30, 1 << 20, 1 << 10} {
		if n := config.Bytes(bytes); n >= unit {
			return (n / unit * unit).String()
		}
	}
	return config.Bytes(bytes).String()
}

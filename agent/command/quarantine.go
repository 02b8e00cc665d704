package command

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"feedmesh/agent/client"
	"feedmesh/agent/wire"
	"feedmesh/subjects"
)

// A quarantineCommand groups the commands about quarantined tasks.
type quarantineCommand struct {
	List   quarantineListCommand   `cmd:"" help:"List the tasks, oldest first."`
	Show   quarantineShowCommand   `cmd:"" help:"Show a task with its message."`
	Replay quarantineReplayCommand `cmd:"" help:"Return tasks to their queues."`
	Drop   quarantineDropCommand   `cmd:"" help:"Delete tasks."`
}

// A quarantineListCommand lists the quarantine.
type quarantineListCommand struct{ query }

// Help implements kong's HelpProvider.
func (quarantineListCommand) Help() string {
	return `List failed tasks and their errors:

    agent quarantine list`
}

// Run implements the command.
func (c *quarantineListCommand) Run(ctx context.Context, p *program) error {
	tasks, err := c.quarantined(ctx, p)
	if err != nil {
		return err
	}
	if len(tasks) == 0 && !c.JSON {
		p.notice("the quarantine is empty")
		return nil
	}
	return c.print(p, wire.QuarantinePage{Tasks: tasks}, func(pg *page) {
		now := time.Now()
		pg.table(func(row func(...any)) {
			row("NUMBER", "QUEUE", "SINCE", "ATTEMPTS", "TASK", "REASON")
			for _, t := range tasks {
				row(t.Seq, t.Queue, ago(t.At, now), t.Attempts, truncate(t.Task, 40), truncate(t.Reason, 100))
			}
		})
	})
}

// quarantined returns all tasks in quarantine, without their messages.
func (q query) quarantined(ctx context.Context, p *program) ([]subjects.Quarantined, error) {
	api, err := q.client(p)
	if err != nil {
		return nil, err
	}
	tasks := []subjects.Quarantined{}
	for after := uint64(0); ; {
		page, err := client.Call(ctx, api, wire.ListQuarantine, wire.QuarantineSearch{After: after, Limit: 500})
		if err != nil {
			return nil, err
		}
		tasks = append(tasks, page.Tasks...)
		if after = page.Next; after == 0 {
			return tasks, nil
		}
	}
}

// A quarantineShowCommand prints a quarantined task.
type quarantineShowCommand struct {
	query
	Number uint64 `arg:"" help:"Number of the task."`
}

// Help implements kong's HelpProvider.
func (quarantineShowCommand) Help() string {
	return `Show task number 7 of the list:

    agent quarantine show 7`
}

// Run implements the command.
func (c *quarantineShowCommand) Run(ctx context.Context, p *program) error {
	return printAnswer(ctx, p, c.query, wire.GetQuarantined, wire.BySeq{Seq: c.Number}, func(pg *page, task subjects.Quarantined) {
		pg.table(func(row func(...any)) {
			row("number", task.Seq)
			row("queue", task.Queue)
			row("subject", task.Subject)
			row("task", task.Task)
			row("attempts", task.Attempts)
			row("since", ago(task.At, time.Now()))
			row("reason", task.Reason)
		})
		if len(task.Bytes) > 0 {
			pg.printf("\n%q\n", task.Bytes)
		}
		var message bytes.Buffer
		if json.Indent(&message, task.Message, "", "  ") == nil {
			pg.printf("\n")
			for line := range strings.SplitSeq(message.String(), "\n") {
				pg.printf("%s\n", line)
			}
		}
	})
}

// A quarantineReplayCommand returns tasks to their queues.
type quarantineReplayCommand struct {
	query
	Numbers []string `arg:"" name:"number" help:"Numbers of tasks, or all."`
}

// Help implements kong's HelpProvider.
func (quarantineReplayCommand) Help() string {
	return `Retry all tasks after the cause is fixed:

    agent quarantine replay all`
}

// Run implements the command.
func (c *quarantineReplayCommand) Run(ctx context.Context, p *program) error {
	return c.changeTasks(ctx, p, c.Numbers, "returned to its queue", wire.ReplayQuarantined)
}

// A quarantineDropCommand deletes tasks.
type quarantineDropCommand struct {
	query
	Numbers []string `arg:"" name:"number" help:"Numbers of tasks, or all."`
}

// Help implements kong's HelpProvider.
func (quarantineDropCommand) Help() string {
	return `Delete tasks without processing them:

    agent quarantine drop 7 8`
}

// Run implements the command.
func (c *quarantineDropCommand) Run(ctx context.Context, p *program) error {
	return c.changeTasks(ctx, p, c.Numbers, "dropped", wire.DropQuarantined)
}

// changeTasks applies an operation to each quarantined task.
func (q query) changeTasks(ctx context.Context, p *program, numbers []string, outcome string, do wire.Operation[wire.BySeq, wire.None]) error {
	if slices.Equal(numbers, []string{"all"}) {
		tasks, err := q.quarantined(ctx, p)
		if err != nil {
			return err
		}
		numbers = nil
		for _, t := range tasks {
			numbers = append(numbers, strconv.FormatUint(t.Seq, 10))
		}
	}
	return q.each(ctx, p, numbers, "task %s: "+outcome, func(api *client.Client, number string) error {
		seq, err := strconv.ParseUint(number, 10, 64)
		if err != nil || seq == 0 {
			return usageError("not a task number; agent quarantine list prints them")
		}
		return client.Do(ctx, api, do, wire.BySeq{Seq: seq})
	})
}

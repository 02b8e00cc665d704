package command

import (
	"context"
	"fmt"
	"time"

	"feedmesh/agent/client"
	"feedmesh/agent/wire"
	"feedmesh/agent/workbench"
)

// A jobCommand starts a job and waits for its end unless --no-wait is given.
type jobCommand struct {
	query
	Wait bool `default:"true" negatable:"" help:"Wait until the job is finished."`
}

// startJob sends a request that starts a job, waits for the job unless --no-wait is given, and prints its state.
func startJob[In any](ctx context.Context, p *program, c jobCommand, o wire.Operation[In, wire.Job], in In) error {
	api, err := c.client(p)
	if err != nil {
		return err
	}
	job, err := client.Call(ctx, api, o, in)
	if err != nil {
		return err
	}
	if c.Wait {
		bar := p.bar(-1, job.Note, true)
		job, err = client.WaitForJob(ctx, api, job.ID, func(j wire.Job) {
			bar.ChangeMax(max(j.Total, j.Done, 1))
			bar.Set(j.Done)
		})
		bar.Clear()
		if ctx.Err() != nil {
			p.notice("the job continues in the node; cancel it with: agent rules cancel %s", job.ID)
		}
		if err != nil {
			return err
		}
	}
	if err := c.print(p, job, func(pg *page) { showJob(pg, job) }); err != nil {
		return err
	}
	if job.State == workbench.Failed {
		return fmt.Errorf("job %s failed: %s", job.ID, job.Error)
	}
	return nil
}

func showJob(pg *page, job wire.Job) {
	switch job.State {
	case workbench.Running:
		pg.printf("job %s started; it continues in the node\n", job.ID)
	case workbench.Failed: // the returned error reports it
	default:
		pg.printf("job %s is %s: %d of %d items, %d changed\n", job.ID, job.State, job.Done, job.Total, job.Changed)
	}
	if job.Kind == workbench.Train && job.State == workbench.Done {
		pg.printf("the trained version is in use; agent rules versions SET shows its quality, --json all figures\n")
	}
	if job.Kind == workbench.Relabel && job.Changed > 0 && job.State != workbench.Undone && job.State != workbench.Running {
		pg.printf("undo with: agent rules undo %s\n", job.ID)
	}
}

// A rulesApplyCommand relabels stored items.
type rulesApplyCommand struct {
	jobCommand
	All     bool   `help:"Relabel all items, not only those that the version decides differently."`
	Name    string `arg:"" help:"Name of the set."`
	Version int64  `arg:"" optional:"" help:"Version to apply; by default the newest."`
}

// Help implements kong's HelpProvider.
func (rulesApplyCommand) Help() string {
	return `New rules apply to new items. This command also relabels the
stored items that they decide differently, newest first:

    agent rules apply classify

These are the items that agent rules backtest reports as changed. The newest
version is compared with the one before it, an older VERSION with the newest.
Items with manual labels do not change. The job can be undone.

Relabel all items, also those with labels from older rules or another model:

    agent rules apply classify --all`
}

// Run implements the command.
func (c *rulesApplyCommand) Run(ctx context.Context, p *program) error {
	return startJob(ctx, p, c.jobCommand, wire.ApplyRules, wire.ApplyRulesRequest{Name: c.Name, Version: c.Version, All: c.All})
}

// A rulesUndoCommand undoes the changes of an apply job.
type rulesUndoCommand struct {
	jobCommand
	ID string `arg:"" help:"ID of the job, as agent rules jobs prints it."`
}

// Help implements kong's HelpProvider.
func (rulesUndoCommand) Help() string {
	return `Restore the labels that items had before a job:

    agent rules undo Zq3Bn0v8Kx1TnVYb2QmWrP`
}

// Run implements the command.
func (c *rulesUndoCommand) Run(ctx context.Context, p *program) error {
	return startJob(ctx, p, c.jobCommand, wire.UndoJob, wire.ByID{ID: c.ID})
}

// A rulesTrainCommand trains a rule set.
type rulesTrainCommand struct {
	jobCommand
	Items countFlag `default:"20000" help:"Number of newest items to train on, up to 100,000, besides manually labelled items."`
	Name  string    `arg:"" help:"Name of the set."`
}

// Help implements kong's HelpProvider.
func (rulesTrainCommand) Help() string {
	return `Train the model on manual labels, and on rule labels of other items. It decides
where no rule matches:

    agent rules train model

The result is a new version; agent rules restore returns to an old one.`
}

// Run implements the command.
func (c *rulesTrainCommand) Run(ctx context.Context, p *program) error {
	return startJob(ctx, p, c.jobCommand, wire.TrainRules, wire.TrainRequest{Name: c.Name, Items: int(c.Items)})
}

// A rulesJobsCommand lists jobs.
type rulesJobsCommand struct{ query }

// Help implements kong's HelpProvider.
func (rulesJobsCommand) Help() string {
	return `The last apply, undo and train jobs:

    agent rules jobs`
}

// Run implements the command.
func (c *rulesJobsCommand) Run(ctx context.Context, p *program) error {
	return printAnswer(ctx, p, c.query, wire.ListJobs, wire.None{}, func(pg *page, all wire.Jobs) {
		if len(all.Jobs) == 0 {
			p.notice("no jobs yet")
			return
		}
		now := time.Now()
		pg.table(func(row func(...any)) {
			row("ID", "KIND", "STATE", "STARTED", "DONE", "OF", "CHANGED", "NOTE")
			for _, j := range all.Jobs {
				row(j.ID, j.Kind, j.State, ago(j.Started, now), j.Done, j.Total, j.Changed, joinNonEmpty([]string{j.Note, j.Error}, ": "))
			}
		})
	})
}

// A rulesCancelCommand cancels a job.
type rulesCancelCommand struct {
	query
	ID string `arg:"" help:"ID of the job, as agent rules jobs prints it."`
}

// Help implements kong's HelpProvider.
func (rulesCancelCommand) Help() string {
	return `Changes made so far are kept; agent rules undo reverts them:

    agent rules cancel Zq3Bn0v8Kx1TnVYb2QmWrP`
}

// Run implements the command.
func (c *rulesCancelCommand) Run(ctx context.Context, p *program) error {
	return printAnswer(ctx, p, c.query, wire.CancelJob, wire.ByID{ID: c.ID}, func(pg *page, job wire.Job) { pg.printf("cancelling job %s\n", job.ID) })
}

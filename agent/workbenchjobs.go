package main

import (
	"context"
	"fmt"
	"time"

	"feedmesh/agent/api"
	"feedmesh/agent/workbench"
)

// A jobCommand begins a job, and perhaps waits for its end.
type jobCommand struct {
	query
	Wait bool `default:"true" negatable:"" help:"Wait until it is done."`
}

// follow waits for a job if that is wished, and says how it ended.
func (c jobCommand) follow(ctx context.Context, p *program, client *api.Client, job api.Job) error {
	if c.Wait {
		bar := p.bar(-1, job.Note, true)
		var err error
		job, err = client.WaitForJob(ctx, job.ID, func(j api.Job) {
			bar.ChangeMax(max(j.Total, j.Done, 1))
			bar.Set(j.Done)
		})
		bar.Clear()
		if ctx.Err() != nil {
			p.say("it goes on in the node; end it with: agent rules cancel %s", job.ID)
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

func showJob(pg *page, job api.Job) {
	switch job.State {
	case workbench.Running:
		pg.printf("begun: job %s; it goes on in the node\n", job.ID)
	case workbench.Failed: // the error says so
	default:
		pg.printf("job %s is %s: %d of %d items, %d changed\n", job.ID, job.State, job.Done, job.Total, job.Changed)
	}
	if job.Kind == workbench.Train && job.State == workbench.Done {
		pg.printf("what it learned is in force; agent rules versions SET says how good it is, and --json all of it\n")
	}
	if job.Kind == workbench.Relabel && job.Changed > 0 && job.State != workbench.Undone && job.State != workbench.Running {
		pg.printf("take it back with: agent rules undo %s\n", job.ID)
	}
}

// A rulesApplyCommand labels anew what is stored.
type rulesApplyCommand struct {
	jobCommand
	Name    string `arg:"" help:"Name of the set."`
	Version int64  `arg:"" optional:"" help:"Version to go by; by default the newest."`
}

// Help implements kong's HelpProvider.
func (rulesApplyCommand) Help() string {
	return `Rules that are set decide what comes in from then on; this has them decide
again what is stored, newest items first:

    agent rules apply classify

Items that people corrected stay as they are. The whole can be taken back.`
}

// Run implements the command.
func (c *rulesApplyCommand) Run(ctx context.Context, p *program) error {
	client, err := c.client()
	if err != nil {
		return err
	}
	job, err := client.ApplyRules(ctx, c.Name, c.Version)
	if err != nil {
		return err
	}
	return c.follow(ctx, p, client, job)
}

// A rulesUndoCommand takes back what an apply changed.
type rulesUndoCommand struct {
	jobCommand
	ID string `arg:"" help:"ID of the job, as agent rules jobs prints it."`
}

// Help implements kong's HelpProvider.
func (rulesUndoCommand) Help() string {
	return `Items get the labels back that they had before a job:

    agent rules undo Zq3Bn0v8Kx1TnVYb2QmWrP`
}

// Run implements the command.
func (c *rulesUndoCommand) Run(ctx context.Context, p *program) error {
	client, err := c.client()
	if err != nil {
		return err
	}
	job, err := client.UndoJob(ctx, c.ID)
	if err != nil {
		return err
	}
	return c.follow(ctx, p, client, job)
}

// A rulesTrainCommand learns rules.
type rulesTrainCommand struct {
	jobCommand
	Items int    `default:"20000" help:"How many of the newest items to learn from, up to 100,000, besides those that people corrected."`
	Name  string `arg:"" help:"Name of the set."`
}

// Help implements kong's HelpProvider.
func (rulesTrainCommand) Help() string {
	return `What people corrected, and what the rules say of other items, teaches the model
that decides where rules are silent:

    agent rules train model

What it learned is a new version: agent rules restore goes back to an old one.`
}

// Run implements the command.
func (c *rulesTrainCommand) Run(ctx context.Context, p *program) error {
	client, err := c.client()
	if err != nil {
		return err
	}
	job, err := client.TrainRules(ctx, c.Name, c.Items)
	if err != nil {
		return err
	}
	return c.follow(ctx, p, client, job)
}

// A rulesJobsCommand lists jobs.
type rulesJobsCommand struct{ query }

// Help implements kong's HelpProvider.
func (rulesJobsCommand) Help() string {
	return `What was applied, learned and taken back lately:

    agent rules jobs`
}

// Run implements the command.
func (c *rulesJobsCommand) Run(ctx context.Context, p *program) error {
	client, err := c.client()
	if err != nil {
		return err
	}
	all, err := client.Jobs(ctx)
	if err != nil {
		return err
	}
	if len(all.Jobs) == 0 && !c.JSON {
		p.say("there were no jobs")
		return nil
	}
	return c.print(p, all, func(pg *page) {
		now := time.Now()
		pg.table(func(row func(...any)) {
			row("ID", "KIND", "STATE", "STARTED", "DONE", "OF", "CHANGED", "NOTE")
			for _, j := range all.Jobs {
				row(j.ID, j.Kind, j.State, ago(j.Started, now), j.Done, j.Total, j.Changed, joinSet([]string{j.Note, j.Error}, ": "))
			}
		})
	})
}

// A rulesCancelCommand ends a job.
type rulesCancelCommand struct {
	query
	ID string `arg:"" help:"ID of the job, as agent rules jobs prints it."`
}

// Help implements kong's HelpProvider.
func (rulesCancelCommand) Help() string {
	return `What the job did by then stays; agent rules undo takes it back:

    agent rules cancel Zq3Bn0v8Kx1TnVYb2QmWrP`
}

// Run implements the command.
func (c *rulesCancelCommand) Run(ctx context.Context, p *program) error {
	client, err := c.client()
	if err != nil {
		return err
	}
	job, err := client.CancelJob(ctx, c.ID)
	if err != nil {
		return err
	}
	return c.print(p, job, func(pg *page) { pg.printf("job %s ends\n", job.ID) })
}

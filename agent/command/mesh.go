package command

import (
	"context"

	"feedmesh/agent/client"
	"feedmesh/agent/wire"
)

// A meshCommand groups the commands about a mesh and its agents.
type meshCommand struct {
	Plan   meshPlanCommand   `cmd:"" help:"Estimate the machines that a mesh needs."`
	Cordon meshCordonCommand `cmd:"" help:"Keep leases from agents: others hold them within seconds."`
	Drain  meshDrainCommand  `cmd:"" help:"Keep leases and tasks from agents, as before they are stopped for long."`
	Resume meshResumeCommand `cmd:"" help:"Let cordoned and drained agents work again."`
}

// A meshCordonCommand keeps leases from agents.
type meshCordonCommand struct {
	query
	Names []string `arg:"" name:"name" help:"Names of agents, as agent status lists them."`
}

// Help implements kong's HelpProvider.
func (meshCordonCommand) Help() string {
	return `Keep the leases of single active roles from an agent, also after it starts
again. It still takes tasks from queues:

    agent mesh cordon pi4

A lease for which no other agent competes stays where it is.`
}

// Run implements the command.
func (c *meshCordonCommand) Run(ctx context.Context, p *program) error {
	return c.cordon(ctx, p, c.Names, "cordoned", false)
}

// A meshDrainCommand keeps leases and tasks from agents.
type meshDrainCommand struct {
	query
	Names []string `arg:"" name:"name" help:"Names of agents, as agent status lists them."`
}

// Help implements kong's HelpProvider.
func (meshDrainCommand) Help() string {
	return `Keep leases and tasks from an agent, also after it starts again. It finishes
the tasks that it has and answers requests:

    agent mesh drain pi4`
}

// Run implements the command.
func (c *meshDrainCommand) Run(ctx context.Context, p *program) error {
	return c.cordon(ctx, p, c.Names, "drained", true)
}

// A meshResumeCommand lets agents work again.
type meshResumeCommand struct {
	query
	Names []string `arg:"" name:"name" help:"Names of agents that are cordoned or drained."`
}

// Help implements kong's HelpProvider.
func (meshResumeCommand) Help() string {
	return `Let a cordoned or drained agent work again:

    agent mesh resume pi4`
}

// Run implements the command.
func (c *meshResumeCommand) Run(ctx context.Context, p *program) error {
	return c.each(ctx, p, c.Names, "agent %s: resumes", func(api *client.Client, name string) error {
		return client.Do(ctx, api, wire.RemoveCordon, wire.ByID{ID: name})
	})
}

// cordon cordons agents by their names.
func (q query) cordon(ctx context.Context, p *program, names []string, outcome string, drain bool) error {
	return q.each(ctx, p, names, "agent %s: "+outcome, func(api *client.Client, name string) error {
		_, err := client.Call(ctx, api, wire.SetCordon, wire.CordonRequest{ID: name, Body: wire.CordonSetting{Drain: drain}})
		return err
	})
}

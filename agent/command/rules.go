package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"feedmesh/agent/client"
	"feedmesh/agent/wire"
	"feedmesh/storage"
)

// A rulesCommand groups the commands about rule sets.
type rulesCommand struct {
	List     rulesListCommand     `cmd:"" help:"List the rule sets and the agents that use them."`
	Show     rulesShowCommand     `cmd:"" help:"Print the text of a rule set."`
	Check    rulesCheckCommand    `cmd:"" help:"Check a text without saving it."`
	Set      rulesSetCommand      `cmd:"" help:"Save a text as the next version of a rule set."`
	Versions rulesVersionsCommand `cmd:"" help:"List the versions of a rule set, newest first."`
	Diff     rulesDiffCommand     `cmd:"" help:"Print what changed between versions."`
	Restore  rulesRestoreCommand  `cmd:"" help:"Save the text of an old version as the next version."`
	Test     rulesTestCommand     `cmd:"" help:"Test rules on one item or document, and explain the result."`
	Backtest rulesBacktestCommand `cmd:"" help:"Report the effect of a text on the newest items."`
	Apply    rulesApplyCommand    `cmd:"" help:"Relabel stored items."`
	Undo     rulesUndoCommand     `cmd:"" help:"Undo the changes of an apply job."`
	Train    rulesTrainCommand    `cmd:"" help:"Train the next version of a rule set on stored items."`
	Jobs     rulesJobsCommand     `cmd:"" help:"List apply, undo and train jobs, newest first."`
	Cancel   rulesCancelCommand   `cmd:"" help:"Cancel a job; its changes so far are kept."`
}

// A rulesListCommand lists rule sets.
type rulesListCommand struct{ query }

// Help implements kong's HelpProvider.
func (rulesListCommand) Help() string {
	return `Check that all agents use the newest rules:

    agent rules list`
}

// Run implements the command.
func (c *rulesListCommand) Run(ctx context.Context, p *program) error {
	return printAnswer(ctx, p, c.query, wire.ListRules, wire.None{}, func(pg *page, all wire.RuleSets) {
		now := time.Now()
		pg.table(func(row func(...any)) {
			row("NAME", "VERSION", "CHANGED", "AGENTS", "NOTE", "PURPOSE")
			for _, s := range all.Sets {
				row(s.Name, versionName(s.Version), ago(s.Changed, now), agentsUsing(s), truncate(s.Note, 40), s.Does)
			}
		})
	})
}

// versionName formats a version; 0 is the built-in rules.
func versionName(version int64) string {
	if version == 0 {
		return "built-in"
	}
	return fmt.Sprint(version)
}

// agentsUsing formats how many agents use the newest version of a set.
func agentsUsing(s wire.RuleSet) string {
	newest := 0
	for _, a := range s.Agents {
		if a.Version == s.Version {
			newest++
		}
	}
	return fmt.Sprintf("%d of %d up to date", newest, len(s.Agents))
}

// A rulesShowCommand prints a rule set.
type rulesShowCommand struct {
	query
	Name    string `arg:"" help:"Name of the set, as agent rules list prints it."`
	Version int64  `arg:"" optional:"" help:"Version to show; by default the newest."`
}

// Help implements kong's HelpProvider.
func (rulesShowCommand) Help() string {
	return `Edit a rule set; before its first version, the built-in rules are printed:

    agent rules show prepare > prepare.rules
    $EDITOR prepare.rules
    agent rules set prepare prepare.rules`
}

// Run implements the command.
func (c *rulesShowCommand) Run(ctx context.Context, p *program) error {
	api, err := c.client(p)
	if err != nil {
		return err
	}
	rules, err := client.ReadRules(ctx, api, c.Name, c.Version)
	if err != nil {
		return err
	}
	if !c.JSON && !isTerminal(p.out) {
		_, err := io.WriteString(p.out, rules.Text) // byte for byte
		return err
	}
	return c.print(p, rules, func(pg *page) {
		for line := range strings.SplitSeq(strings.TrimSuffix(rules.Text, "\n"), "\n") {
			pg.printf("%s\n", line)
		}
	})
}

// A rulesCheckCommand checks a text.
type rulesCheckCommand struct{ textCommand }

// A textCommand is a command with a text for a rule set.
type textCommand struct {
	query
	Name string `arg:"" help:"Name of the set."`
	File string `arg:"" help:"File with the text; - for standard input."`
}

// open returns the client and the text.
func (c *textCommand) open(p *program) (*client.Client, []byte, error) {
	client, err := c.client(p)
	if err != nil {
		return nil, nil, err
	}
	text, err := readRules(p, c.File)
	return client, text, err
}

// Help implements kong's HelpProvider.
func (rulesCheckCommand) Help() string {
	return `The exit code is 2 if the text has errors:

    agent rules check prepare prepare.rules`
}

// Run implements the command.
func (c *rulesCheckCommand) Run(ctx context.Context, p *program) error {
	api, text, err := c.open(p)
	if err != nil {
		return err
	}
	found, err := client.Call(ctx, api, wire.CheckRules, wire.RuleTextRequest{Name: c.Name, RawBody: text})
	if err != nil {
		return err
	}
	err = c.print(p, found, func(pg *page) {
		if found.Valid {
			pg.printf("%s: no errors\n", c.File)
		}
	})
	for _, w := range found.Warnings {
		p.notice("%s: %s", c.File, w)
	}
	if found.Valid {
		return err
	}
	for _, f := range found.Problems {
		p.notice("%s: %s", c.File, f)
	}
	return errors.Join(err, exitError{errReported, exitUsage})
}

// A rulesSetCommand saves a text as the next version.
type rulesSetCommand struct {
	textCommand
	From *int64 `name:"from" placeholder:"N" help:"Version that the text is based on: the text is rejected if a newer version exists. By default the newest."`
	Note string `placeholder:"TEXT" help:"Description of the change, for the list of versions."`
}

// Help implements kong's HelpProvider.
func (rulesSetCommand) Help() string {
	return `All agents use the text within a second. A text with errors is not saved:

    agent rules set prepare prepare.rules --note "keep tables"

To detect concurrent edits, give the version that yours is based on:

    agent rules set prepare prepare.rules --from 7`
}

// Run implements the command.
func (c *rulesSetCommand) Run(ctx context.Context, p *program) error {
	api, text, err := c.open(p)
	if err != nil {
		return err
	}
	from := int64(0)
	if c.From != nil {
		from = *c.From
	} else {
		versions, err := client.Call(ctx, api, wire.ListRuleVersions, wire.RuleVersionSearch{Name: c.Name, Limit: 1})
		if err != nil {
			return err
		}
		if len(versions.Versions) > 0 {
			from = versions.Versions[0].Version
		}
	}
	put, err := client.Call(ctx, api, wire.PutRules, wire.PutRulesRequest{Name: c.Name, Version: fmt.Sprint(from), RawBody: text, Note: c.Note})
	if err != nil {
		return err
	}
	return c.print(p, put, func(pg *page) { showPut(pg, c.Name, put) })
}

// showPut prints the result of saving rules.
func showPut(pg *page, name string, put wire.SavedRules) {
	when := "in use by all agents"
	if !put.Notified {
		when = "stored, but the mesh is unavailable: agents load it within a minute of its recovery"
	}
	pg.printf("%s: version %d; %s\n", name, put.Version, when)
}

// readRules reads a text of at most storage.MaxRules bytes from a file or from standard input.
func readRules(p *program, name string) ([]byte, error) {
	in := p.in
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, usageError("read rules: %w", err)
		}
		defer file.Close()
		in = file
	}
	text, err := io.ReadAll(io.LimitReader(in, storage.MaxRules+1))
	switch {
	case err != nil:
		return nil, usageError("read rules: %w", err)
	case len(text) == 0:
		return nil, usageError("%s is empty: write rules, or restore an old version with agent rules restore", name)
	case len(text) > storage.MaxRules:
		return nil, usageError("%s exceeds the limit of %d MB", name, storage.MaxRules>>20)
	}
	return text, nil
}

// A rulesVersionsCommand lists versions.
type rulesVersionsCommand struct {
	query
	Limit countFlag `default:"20" help:"Maximum number of versions, up to 50."`
	Name  string    `arg:"" help:"Name of the set."`
}

// Help implements kong's HelpProvider.
func (rulesVersionsCommand) Help() string {
	return `List versions, and compare one with the newest:

    agent rules versions prepare
    agent rules diff prepare 7`
}

// Run implements the command.
func (c *rulesVersionsCommand) Run(ctx context.Context, p *program) error {
	search := wire.RuleVersionSearch{Name: c.Name, Limit: int(c.Limit)}
	return printAnswer(ctx, p, c.query, wire.ListRuleVersions, search, func(pg *page, found wire.RuleVersionPage) {
		if len(found.Versions) == 0 {
			p.notice("no versions yet: the built-in rules are in use; agent rules show %s prints them", c.Name)
			return
		}
		now := time.Now()
		pg.table(func(row func(...any)) {
			row("VERSION", "CHANGED", "NOTE")
			for _, v := range found.Versions {
				row(v.Version, ago(v.Changed, now), v.Note)
			}
		})
	})
}

// A rulesRestoreCommand restores an old version.
type rulesRestoreCommand struct {
	query
	Name    string `arg:"" help:"Name of the set."`
	Version int64  `arg:"" help:"Version to restore; 0: the built-in rules."`
}

// Help implements kong's HelpProvider.
func (rulesRestoreCommand) Help() string {
	return `The old text becomes a new version; no version is deleted.

    agent rules restore prepare 7`
}

// Run implements the command.
func (c *rulesRestoreCommand) Run(ctx context.Context, p *program) error {
	old := wire.RestoreRulesRequest{Name: c.Name, Version: c.Version}
	return printAnswer(ctx, p, c.query, wire.RestoreRules, old, func(pg *page, put wire.SavedRules) { showPut(pg, c.Name, put) })
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"feedmesh/agent/api"
	"feedmesh/storage"
)

// A rulesCommand is the commands about rule sets.
type rulesCommand struct {
	List     rulesListCommand     `cmd:"" help:"List the rule sets, and which agents go by them."`
	Show     rulesShowCommand     `cmd:"" help:"Print the text of a rule set."`
	Check    rulesCheckCommand    `cmd:"" help:"Say what is wrong with a text, and change nothing."`
	Set      rulesSetCommand      `cmd:"" help:"Put a text as the next version of a rule set."`
	Convert  rulesConvertCommand  `cmd:"" help:"Turn rules in XML into text."`
	Versions rulesVersionsCommand `cmd:"" help:"List the versions of a rule set, newest first."`
	Diff     rulesDiffCommand     `cmd:"" help:"Print what changed between versions."`
	Restore  rulesRestoreCommand  `cmd:"" help:"Put the text of an old version as the next one."`
	Test     rulesTestCommand     `cmd:"" help:"Try rules on one item or document, and say why they decide so."`
	Backtest rulesBacktestCommand `cmd:"" help:"Say what a text would change about the newest items."`
	Apply    rulesApplyCommand    `cmd:"" help:"Label anew what is stored."`
	Undo     rulesUndoCommand     `cmd:"" help:"Take back what an apply changed."`
	Train    rulesTrainCommand    `cmd:"" help:"Learn the next version of a rule set from what is stored."`
	Jobs     rulesJobsCommand     `cmd:"" help:"List what is applied, learned or taken back, newest first."`
	Cancel   rulesCancelCommand   `cmd:"" help:"End a job; what it did by then stays."`
}

// A rulesListCommand lists rule sets.
type rulesListCommand struct{ query }

// Help implements kong's HelpProvider.
func (rulesListCommand) Help() string {
	return `Do all agents go by the newest rules?

    agent rules list`
}

// Run implements the command.
func (c *rulesListCommand) Run(ctx context.Context, p *program) error {
	client, err := c.client()
	if err != nil {
		return err
	}
	all, err := client.RuleSets(ctx)
	if err != nil {
		return err
	}
	return c.print(p, all, func(pg *page) {
		now := time.Now()
		pg.table(func(row func(...any)) {
			row("NAME", "VERSION", "CHANGED", "AGENTS", "NOTE", "WHAT FOR")
			for _, s := range all.Sets {
				row(s.Name, versionName(s.Version), ago(s.Changed, now), goBy(s), cut(s.Note, 40), s.Does)
			}
		})
	})
}

// versionName returns a version for people.
func versionName(version int64) string {
	if version == 0 {
		return "the program's own"
	}
	return fmt.Sprint(version)
}

// goBy says how many agents go by the newest version of a set.
func goBy(s api.RuleSet) string {
	newest := 0
	for _, a := range s.Agents {
		if a.Version == s.Version {
			newest++
		}
	}
	return fmt.Sprintf("%d of %d go by it", newest, len(s.Agents))
}

// A rulesShowCommand prints a rule set.
type rulesShowCommand struct {
	query
	Name    string `arg:"" help:"Name of the set, as agent rules list prints it."`
	Version int64  `arg:"" optional:"" help:"Version to print; by default the newest."`
}

// Help implements kong's HelpProvider.
func (rulesShowCommand) Help() string {
	return `Rules are a text; before the first version, that of the program's own rules:

    agent rules show prepare > prepare.rules
    $EDITOR prepare.rules
    agent rules set prepare prepare.rules`
}

// Run implements the command.
func (c *rulesShowCommand) Run(ctx context.Context, p *program) error {
	client, err := c.client()
	if err != nil {
		return err
	}
	rules, err := client.Rules(ctx, c.Name, c.Version)
	if err != nil {
		return err
	}
	if !c.JSON && !isTerminal(p.out) {
		_, err := io.WriteString(p.out, rules.Text) // as it is, to the byte
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

// A textCommand does something with a text for a rule set.
type textCommand struct {
	query
	Name string `arg:"" help:"Name of the set."`
	File string `arg:"" help:"File with the text; - reads it from standard input."`
}

// open returns what to ask, and the text.
func (c *textCommand) open(p *program) (*api.Client, []byte, error) {
	client, err := c.client()
	if err != nil {
		return nil, nil, err
	}
	text, err := p.readRules(c.File)
	return client, text, err
}

// Help implements kong's HelpProvider.
func (rulesCheckCommand) Help() string {
	return `The exit code is 2 if anything is wrong:

    agent rules check prepare prepare.rules`
}

// Run implements the command.
func (c *rulesCheckCommand) Run(ctx context.Context, p *program) error {
	client, text, err := c.open(p)
	if err != nil {
		return err
	}
	found, err := client.CheckRules(ctx, c.Name, text)
	if err != nil {
		return err
	}
	err = c.print(p, found, func(pg *page) {
		if found.Sound {
			pg.printf("%s: nothing is wrong\n", c.File)
		}
	})
	for _, w := range found.Warnings {
		p.say("%s: %s", c.File, w)
	}
	if found.Sound {
		return err
	}
	for _, f := range found.Faults {
		p.say("%s: %s", c.File, f)
	}
	return errors.Join(err, fault{errSaid, misused})
}

// A rulesSetCommand puts a text.
type rulesSetCommand struct {
	textCommand
	From *int64 `name:"from" placeholder:"N" help:"Version that the text was made from: it is refused if there is a newer one. By default the newest."`
	Note string `placeholder:"TEXT" help:"What changes, for the list of versions."`
}

// Help implements kong's HelpProvider.
func (rulesSetCommand) Help() string {
	return `All agents go by the text within a second. One that is wrong changes nothing:

    agent rules set prepare prepare.rules --note "keep tables"

Where others may edit it as well, say what yours was made from:

    agent rules set prepare prepare.rules --from 7`
}

// Run implements the command.
func (c *rulesSetCommand) Run(ctx context.Context, p *program) error {
	client, text, err := c.open(p)
	if err != nil {
		return err
	}
	from := int64(0)
	if c.From != nil {
		from = *c.From
	} else {
		versions, err := client.RuleVersions(ctx, c.Name, 0, 1)
		if err != nil {
			return err
		}
		if len(versions.Versions) > 0 {
			from = versions.Versions[0].Version
		}
	}
	put, err := client.PutRules(ctx, c.Name, from, text, c.Note)
	if err != nil {
		return err
	}
	return c.print(p, put, func(pg *page) { sayPut(pg, c.Name, put) })
}

// sayPut says what became of rules that were put.
func sayPut(pg *page, name string, put api.RulePut) {
	when := "all agents go by it from now on"
	if !put.Told {
		when = "it is stored, but the mesh is away: agents go by it within a minute of its return"
	}
	pg.printf("%s: version %d; %s\n", name, put.Version, when)
}

// readRules reads a text from a file or from standard input.
func (p *program) readRules(name string) ([]byte, error) {
	in := p.in
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, wrong("can't read the rules: %w", err)
		}
		defer file.Close()
		in = file
	}
	text, err := io.ReadAll(io.LimitReader(in, storage.MaxRules+1))
	switch {
	case err != nil:
		return nil, wrong("can't read the rules: %w", err)
	case len(text) == 0:
		return nil, wrong("%s is empty: write rules, or go back to old ones with agent rules restore", name)
	case len(text) > storage.MaxRules:
		return nil, wrong("%s is larger than rules may be, %d MB", name, storage.MaxRules>>20)
	}
	return text, nil
}

// A rulesVersionsCommand lists versions.
type rulesVersionsCommand struct {
	query
	Limit int    `default:"20" help:"How many to list, at most 50."`
	Name  string `arg:"" help:"Name of the set."`
}

// Help implements kong's HelpProvider.
func (rulesVersionsCommand) Help() string {
	return `What changed since a version:

    agent rules versions prepare
    agent rules diff prepare 7`
}

// Run implements the command.
func (c *rulesVersionsCommand) Run(ctx context.Context, p *program) error {
	client, err := c.client()
	if err != nil {
		return err
	}
	versions, err := client.RuleVersions(ctx, c.Name, 0, c.Limit)
	if err != nil {
		return err
	}
	if len(versions.Versions) == 0 && !c.JSON {
		p.say("there is none: the program's own rules hold; agent rules show %s prints them", c.Name)
		return nil
	}
	return c.print(p, versions, func(pg *page) {
		now := time.Now()
		pg.table(func(row func(...any)) {
			row("VERSION", "CHANGED", "NOTE")
			for _, v := range versions.Versions {
				row(v.Version, ago(v.Changed, now), v.Note)
			}
		})
	})
}

// A rulesRestoreCommand restores an old version.
type rulesRestoreCommand struct {
	query
	Name    string `arg:"" help:"Name of the set."`
	Version int64  `arg:"" help:"Whose text to put; 0: the program's own rules."`
}

// Help implements kong's HelpProvider.
func (rulesRestoreCommand) Help() string {
	return `Nothing is lost: the old text becomes a new version.

    agent rules restore prepare 7`
}

// Run implements the command.
func (c *rulesRestoreCommand) Run(ctx context.Context, p *program) error {
	client, err := c.client()
	if err != nil {
		return err
	}
	put, err := client.RestoreRules(ctx, c.Name, c.Version)
	if err != nil {
		return err
	}
	return c.print(p, put, func(pg *page) { sayPut(pg, c.Name, put) })
}

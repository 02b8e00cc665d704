package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"feedmesh/agent/api"
	"feedmesh/agent/workbench"
)

// A rulesTestCommand tries rules on one item.
type rulesTestCommand struct {
	query
	Item     string   `placeholder:"ID" help:"Item to try them on."`
	Title    string   `help:"Title of a document to try them on, in place of an item."`
	Text     string   `help:"Its text."`
	URL      string   `name:"url" help:"Its address."`
	Author   string   `help:"Its author."`
	Language string   `placeholder:"CODE" help:"Its language, as en or ru; by default guessed."`
	Tag      []string `help:"What its publisher calls it."`
	Feed     string   `placeholder:"ID" help:"ID or URL of the feed that it is to be of."`
	Name     string   `arg:"" help:"Name of the set."`
	File     string   `arg:"" optional:"" help:"File with the text to try; - reads it from standard input. By default the newest version."`
}

// Help implements kong's HelpProvider.
func (rulesTestCommand) Help() string {
	return `What new rules make of an item, and why:

    agent rules test classify classify.rules --item wvtk3hvrmk2mkkubukz6ph3h4m

What those there are make of some words:

    agent rules test classify --title "Helm chart for PostgreSQL"`
}

// Run implements the command.
func (c *rulesTestCommand) Run(ctx context.Context, p *program) error {
	client, err := c.client()
	if err != nil {
		return err
	}
	test, err := c.test(p)
	if err != nil {
		return err
	}
	tried, err := client.TestRules(ctx, c.Name, test)
	if err != nil {
		return err
	}
	return c.print(p, tried, func(pg *page) { showTried(pg, tried) })
}

// test returns what the flags ask to be tried.
func (c *rulesTestCommand) test(p *program) (test api.RuleTest, err error) {
	if c.File != "" {
		text, err := p.readRules(c.File)
		if err != nil {
			return test, err
		}
		test.Text = string(text)
	}
	draft := workbench.Draft{Title: c.Title, Text: c.Text, URL: c.URL, Author: c.Author, Language: c.Language, Tags: c.Tag}
	if c.Feed != "" {
		if draft.FeedID, err = feedID(c.Feed); err != nil {
			return test, err
		}
	}
	words := c.Title + c.Text + c.URL + c.Author + strings.Join(c.Tag, "")
	switch {
	case c.Item == "" && words == "":
		return test, wrong("say what to try them on: --item, or --title, --text and the like")
	case c.Item != "" && words+c.Language+c.Feed != "":
		return test, wrong("--item and a document in words can't both be")
	case c.Item != "":
		test.Item = c.Item
	default:
		test.Document = &draft
	}
	return test, nil
}

func showTried(pg *page, tried workbench.Tried) {
	pg.table(func(row func(...any)) {
		spam := "no"
		if tried.Spam {
			spam = "yes"
		}
		row("spam", fmt.Sprintf("%s, score %.2f", spam, tried.SpamScore))
		row("categories", strings.Join(tried.Categories, ", "))
		row("topics", strings.Join(tried.Topics, ", "))
		if len(tried.Flags) > 0 {
			row("flags", strings.Join(tried.Flags, ", "))
		}
		if s := tried.Stored; s != nil {
			row("stored as", words(*s))
		}
		for _, why := range tried.Why {
			row("why", why)
		}
		for _, f := range tried.Fired {
			var evidence []string
			for _, e := range f.Evidence {
				evidence = append(evidence, joinSet([]string{e.Words, e.Field}, " in "))
			}
			row("fired", fmt.Sprintf("%s, %.3g points: %s", f.Rule, f.Points, strings.Join(evidence, "; ")))
		}
		row("took", fmt.Sprintf("%.0f µs", tried.Micros))
	})
}

// words returns labels for people.
func words(l workbench.Labelled) string {
	all := slices.Concat(l.Categories, l.Topics)
	if l.Spam {
		all = append([]string{"spam"}, all...)
	}
	if len(all) == 0 {
		return "nothing"
	}
	return strings.Join(all, ", ")
}

// A rulesBacktestCommand back-tests rules.
type rulesBacktestCommand struct {
	textCommand
	Items int `default:"2000" help:"How many of the newest items to look at, up to 100,000."`
}

// Help implements kong's HelpProvider.
func (rulesBacktestCommand) Help() string {
	return `Before new rules are set, see what they would change:

    agent rules backtest classify classify.rules --items 10000`
}

// Run implements the command.
func (c *rulesBacktestCommand) Run(ctx context.Context, p *program) error {
	client, text, err := c.open(p)
	if err != nil {
		return err
	}
	report, err := client.BacktestRules(ctx, c.Name, text, c.Items)
	if err != nil {
		return err
	}
	return c.print(p, report, func(pg *page) { showReport(pg, report) })
}

func showReport(pg *page, r workbench.Report) {
	pg.printf("%d items, %.0f µs each; %d stay as they are. %d become spam, %d are spam no more, %d gain a label, %d lose one.\n",
		r.Items, r.MicrosPerItem, r.Effects.Same, r.Effects.Spam, r.Effects.Clean, r.Effects.Gained, r.Effects.Lost)
	pg.printf("%d were corrected by people and keep their labels; %d are stored otherwise than the rules in force say.\n\n", r.Corrected, r.Outdated)
	showShifts(pg, "CATEGORY", r.Categories)
	showShifts(pg, "TOPIC", slices.DeleteFunc(slices.Clone(r.Topics), func(s workbench.Shift) bool { return s.Before == s.After }))
	showSamples(pg, "become spam", r.Samples.Spam)
	showSamples(pg, "are spam no more", r.Samples.Clean)
	showSamples(pg, "gain a label", r.Samples.Gained)
	showSamples(pg, "lose a label", r.Samples.Lost)
	if len(r.Busiest) > 0 {
		pg.table(func(row func(...any)) {
			row("RULE", "FIRES FOR")
			for _, f := range r.Busiest {
				row(f.Rule, f.Items)
			}
		})
	}
	if r.NeverCount > 0 {
		pg.printf("\n%d rules never fire: %s\n", r.NeverCount, cut(strings.Join(r.Never, " "), 2000))
	}
	for _, c := range r.Conflicts {
		pg.printf("conflict of %s: %s (%s) and %s (%s) in %d of %d items\n", c.Kind, c.A, c.Says[0], c.B, c.Says[1], c.Items, c.Of)
	}
	if r.Said.Items > 0 {
		pg.printf("%d of %d items that people corrected are labelled as they said\n", r.Said.Right, r.Said.Items)
	}
	for _, w := range r.Said.Wrong {
		pg.printf("%s says %s, and people say it is not, for %d of %d items\n", w.Rule, w.Says, w.Items, w.Of)
	}
}

func showShifts(pg *page, name string, shifts []workbench.Shift) {
	if len(shifts) == 0 {
		return
	}
	pg.table(func(row func(...any)) {
		row(name, "BEFORE", "AFTER", "CHANGE")
		for _, s := range shifts {
			row(s.Name, s.Before, s.After, fmt.Sprintf("%+d", s.After-s.Before))
		}
	})
	pg.printf("\n")
}

func showSamples(pg *page, what string, samples []workbench.Sample) {
	if len(samples) == 0 {
		return
	}
	pg.printf("%v\n", pg.strong("items that "+what+", as:"))
	for _, s := range samples {
		pg.printf("  %s  %s\n    %s, before: %s\n", s.ID, cut(s.Title, 80), words(s.After), words(s.Before))
		for _, why := range s.Why[:min(len(s.Why), 3)] {
			pg.printf("    %s\n", why)
		}
	}
	pg.printf("\n")
}

// A rulesDiffCommand compares versions.
type rulesDiffCommand struct {
	query
	Name string `arg:"" help:"Name of the set."`
	From int64  `arg:"" help:"The old version; 0: the program's own rules."`
	To   int64  `arg:"" optional:"" help:"The new version; by default the newest."`
}

// Help implements kong's HelpProvider.
func (rulesDiffCommand) Help() string {
	return `What changed since a version:

    agent rules diff classify 7`
}

// Run implements the command.
func (c *rulesDiffCommand) Run(ctx context.Context, p *program) error {
	client, err := c.client()
	if err != nil {
		return err
	}
	diff, err := client.DiffRules(ctx, c.Name, c.From, c.To)
	if err != nil {
		return err
	}
	answer := struct {
		Diff string `json:"diff"`
	}{diff}
	return c.print(p, answer, func(pg *page) {
		for line := range strings.Lines(diff) {
			pg.printf("%s\n", strings.TrimSuffix(line, "\n"))
		}
	})
}

package command

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"feedmesh/agent/client"
	"feedmesh/agent/wire"
)

// A rulesTestCommand tries rules on one item or document.
type rulesTestCommand struct {
	query
	Item     string   `placeholder:"ID" help:"Item to test."`
	Title    string   `help:"Title of a document to test, instead of an item."`
	Text     string   `help:"Text of the document."`
	URL      string   `name:"url" help:"URL of the document."`
	Author   string   `help:"Author of the document."`
	Language string   `placeholder:"CODE" help:"Language of the document, such as en or ru; by default detected."`
	Tag      []string `help:"Publisher's tag of the document."`
	Feed     string   `placeholder:"ID" help:"ID or URL of the document's feed."`
	Name     string   `arg:"" help:"Name of the set."`
	File     string   `arg:"" optional:"" help:"File with the rules to test; - for standard input. By default the newest version."`
}

// Help implements kong's HelpProvider.
func (rulesTestCommand) Help() string {
	return `Test new rules on an item:

    agent rules test classify classify.rules --item wvtk3hvrmk2mkkubukz6ph3h4m

Test the current rules on a title:

    agent rules test classify --title "Helm chart for PostgreSQL"`
}

// Run implements the command.
func (c *rulesTestCommand) Run(ctx context.Context, p *program) error {
	test, err := c.test(p)
	if err != nil {
		return err
	}
	return printAnswer(ctx, p, c.query, wire.TestRules, wire.TestRulesRequest{Name: c.Name, Body: test}, showRuleTest)
}

// test returns the test that the flags specify.
func (c *rulesTestCommand) test(p *program) (test wire.RuleTest, err error) {
	if c.File != "" {
		text, err := readRules(p, c.File)
		if err != nil {
			return test, err
		}
		test.Text = string(text)
	}
	draft := wire.Draft{Title: c.Title, Text: c.Text, URL: c.URL, Author: c.Author, Language: c.Language, Tags: c.Tag}
	if c.Feed != "" {
		if draft.FeedID, err = feedID(c.Feed); err != nil {
			return test, err
		}
	}
	words := c.Title + c.Text + c.URL + c.Author + strings.Join(c.Tag, "")
	switch {
	case c.Item == "" && words == "":
		return test, usageError("nothing to test: give --item, or a document by --title, --text and other flags")
	case c.Item != "" && words+c.Language+c.Feed != "":
		return test, usageError("--item and a document cannot be used together")
	case c.Item != "":
		test.Item = c.Item
	default:
		test.Document = &draft
	}
	return test, nil
}

func showRuleTest(pg *page, result wire.TrialResult) {
	pg.table(func(row func(...any)) {
		spam := "no"
		if result.Spam {
			spam = "yes"
		}
		row("spam", fmt.Sprintf("%s, score %.2f", spam, result.SpamScore))
		row("categories", strings.Join(result.Categories, ", "))
		row("topics", strings.Join(result.Topics, ", "))
		if len(result.Flags) > 0 {
			row("flags", strings.Join(result.Flags, ", "))
		}
		if s := result.Stored; s != nil {
			row("stored as", labelsText(*s))
		}
		for _, reason := range result.Why {
			row("reason", reason)
		}
		for _, f := range result.Matched {
			var evidence []string
			for _, e := range f.Evidence {
				evidence = append(evidence, joinNonEmpty([]string{e.Words, e.Field}, " in "))
			}
			row("matched", fmt.Sprintf("%s, %.3g points: %s", f.Rule, f.Points, strings.Join(evidence, "; ")))
		}
		row("took", fmt.Sprintf("%.0f µs", result.Micros))
	})
}

// labelsText formats labels as a comma-separated list.
func labelsText(l wire.Labelled) string {
	all := slices.Concat(l.Categories, l.Topics)
	if l.Spam {
		all = append([]string{"spam"}, all...)
	}
	if len(all) == 0 {
		return "no labels"
	}
	return strings.Join(all, ", ")
}

// A rulesBacktestCommand back-tests rules.
type rulesBacktestCommand struct {
	textCommand
	Items countFlag `default:"2000" help:"Number of newest items to test, up to 100,000."`
}

// Help implements kong's HelpProvider.
func (rulesBacktestCommand) Help() string {
	return `Report the effect of new rules before saving them:

    agent rules backtest classify classify.rules --items 10000`
}

// Run implements the command.
func (c *rulesBacktestCommand) Run(ctx context.Context, p *program) error {
	text, err := readRules(p, c.File)
	if err != nil {
		return err
	}
	return printAnswer(ctx, p, c.query, wire.BacktestRules, wire.BacktestRequest{Name: c.Name, RawBody: text, Items: int(c.Items)}, showReport)
}

func showReport(pg *page, r wire.Report) {
	pg.printf("%d items, %.0f µs each; %d unchanged, %d become spam, %d are no longer spam, %d gain a label, %d lose a label.\n",
		r.Items, r.MicrosPerItem, r.Effects.Same, r.Effects.Spam, r.Effects.Clean, r.Effects.Gained, r.Effects.Lost)
	pg.printf("agent rules apply changes %d of them. %d have manual labels and keep them; %d have labels that differ from the rules in use.\n\n",
		r.Effects.Changed, r.Corrected, r.Outdated)
	showShifts(pg, "CATEGORY", r.Categories)
	showShifts(pg, "TOPIC", slices.DeleteFunc(slices.Clone(r.Topics), func(s wire.Shift) bool { return s.Before == s.After }))
	showSamples(pg, "become spam", r.Samples.Spam)
	showSamples(pg, "are no longer spam", r.Samples.Clean)
	showSamples(pg, "gain a label", r.Samples.Gained)
	showSamples(pg, "lose a label", r.Samples.Lost)
	if len(r.Busiest) > 0 {
		pg.table(func(row func(...any)) {
			row("RULE", "MATCHES")
			for _, f := range r.Busiest {
				row(f.Rule, f.Items)
			}
		})
	}
	if r.NeverCount > 0 {
		pg.printf("\n%d rules never match: %s\n", r.NeverCount, truncate(strings.Join(r.Never, " "), 2000))
	}
	for _, c := range r.Conflicts {
		pg.printf("conflict of %s: %s (%s) and %s (%s) in %d of %d items\n", c.Kind, c.A, c.Categories[0], c.B, c.Categories[1], c.Items, c.Of)
	}
	if r.Corrections.Items > 0 {
		pg.printf("%d of %d manually labelled items get the same labels\n", r.Corrections.Right, r.Corrections.Items)
	}
	for _, w := range r.Corrections.Wrong {
		pg.printf("%s sets %s against manual labels for %d of %d items\n", w.Rule, w.Category, w.Items, w.Of)
	}
}

func showShifts(pg *page, name string, shifts []wire.Shift) {
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

func showSamples(pg *page, what string, samples []wire.Sample) {
	if len(samples) == 0 {
		return
	}
	pg.printf("%v\n", pg.strong("items that "+what+":"))
	for _, s := range samples {
		pg.printf("  %s  %s\n    %s, before: %s\n", s.ID, truncate(s.Title, 80), labelsText(s.After), labelsText(s.Before))
		for _, reason := range s.Why[:min(len(s.Why), 3)] {
			pg.printf("    %s\n", reason)
		}
	}
	pg.printf("\n")
}

// A rulesDiffCommand compares versions.
type rulesDiffCommand struct {
	query
	Name string `arg:"" help:"Name of the set."`
	From int64  `arg:"" help:"The old version; 0: the built-in rules."`
	To   int64  `arg:"" optional:"" help:"The new version; by default the newest."`
}

// Help implements kong's HelpProvider.
func (rulesDiffCommand) Help() string {
	return `Changes since a version:

    agent rules diff classify 7`
}

// Run implements the command.
func (c *rulesDiffCommand) Run(ctx context.Context, p *program) error {
	api, err := c.client(p)
	if err != nil {
		return err
	}
	diff, err := client.DiffRules(ctx, api, c.Name, c.From, c.To)
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

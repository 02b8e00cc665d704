package command

import (
	"context"
	"fmt"
	"strings"

	"feedmesh/agent/wire"
)

// A briefingCommand prints a briefing.
type briefingCommand struct {
	query
	View     string `placeholder:"NAME" help:"Name of a view to report on, in place of the top stories."`
	Hours    int    `placeholder:"N" help:"Hours that the top stories are from, 1 to 336; 24 without it."`
	Language string `placeholder:"NAME" help:"Language to write in, such as English or ru. By default that of most items."`
}

// Help implements kong's HelpProvider.
func (briefingCommand) Help() string {
	return `The top stories of the last 24 hours, in Russian:

    agent briefing --language ru

The items of a view:

    agent briefing --view go

A language model writes it if the node has one (briefing.url). Otherwise it quotes sentences of the items.`
}

// Run implements the command.
func (c *briefingCommand) Run(ctx context.Context, p *program) error {
	in := wire.BriefingRequest{View: c.View, Hours: c.Hours, Language: c.Language}
	return printAnswer(ctx, p, c.query, wire.GetBriefing, in, func(pg *page, b wire.Briefing) {
		for _, s := range b.Sentences {
			pg.printf("%s %s\n", s.Text, strings.ReplaceAll(fmt.Sprint(s.Items), " ", "]["))
		}
		pg.printf("\n")
		for _, i := range b.Items {
			pg.printf("[%d] %s, %s\n    %s\n", i.Number, i.Title, i.Publisher, joinNonEmpty([]string{i.URL, "agent items " + i.ID}, " · "))
		}
		if b.By == wire.ByModel {
			p.notice("written by the model %s; it may be wrong: compare it with the items", b.Model)
		} else {
			p.notice("sentences of the items: %s", b.Why)
		}
		if b.LeftOut > 0 {
			p.notice("%s of the model left out, since they cite no item", plural(b.LeftOut, "sentence"))
		}
	})
}

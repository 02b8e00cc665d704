package command

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"feedmesh/agent/capacity"
	"feedmesh/storage"
)

// A meshPlanCommand prints what meshes need for numbers of feeds.
type meshPlanCommand struct {
	Feeds     []int64      `required:"" placeholder:"N" help:"Numbers of feeds, separated by commas."`
	PollsADay float64      `name:"polls-a-day" default:"${polls_a_day}" help:"Polls of a feed a day."`
	ItemsADay float64      `name:"items-a-day" default:"${items_a_day}" help:"New items of a feed a day."`
	Keep      storage.Keep `default:"90d" help:"How long items are kept."`
	Costs     bool         `help:"Print the costs that formulas name, each with its source."`
	JSON      bool         `name:"json" help:"Print JSON."`
}

// A meshPlans is the JSON form of plans.
type meshPlans struct {
	Plans       []*capacity.Plan `json:"plans"`
	Costs       []capacity.Cost  `json:"costs"`
	Uncertainty int              `json:"uncertainty"` // in percent
}

// Help implements kong's HelpProvider.
func (meshPlanCommand) Help() string {
	return `Estimate the cores, memory, disk and network that a mesh needs, by arithmetic
from measured costs. No mesh is contacted:

    agent mesh plan --feeds 1000000

Compare sizes, with items kept for a year, and print the measured costs:

    agent mesh plan --feeds 50000,1000000 --keep 365d --costs

The default rates are those of the measurement "bench steady". Searches, pages
and deliveries come on top.`
}

// planDefaults are the variables of the command's defaults.
var planDefaults = kong.Vars{
	"polls_a_day": fmt.Sprint(capacity.DefaultPollsADay),
	"items_a_day": fmt.Sprint(capacity.DefaultItemsADay),
}

// Run implements the command.
func (c *meshPlanCommand) Run(p *program) error {
	answer := meshPlans{Costs: capacity.Costs(), Uncertainty: capacity.Uncertainty}
	for _, feeds := range c.Feeds {
		plan, err := capacity.New(capacity.Load{Feeds: feeds, PollsADay: c.PollsADay, ItemsADay: c.ItemsADay, Keep: c.Keep})
		if err != nil {
			return usageError("--%w", err)
		}
		answer.Plans = append(answer.Plans, plan)
	}
	if c.JSON {
		return p.printJSON(answer)
	}
	showPlans(p.page(), answer)
	if c.Costs {
		showCosts(p.page(), answer.Costs)
	}
	return nil
}

func showPlans(pg *page, answer meshPlans) {
	plans := answer.Plans
	load := plans[0].Load
	pg.printf("%v polls and %v new items of a feed a day, items kept for %v\n", load.PollsADay, load.ItemsADay, load.Keep)
	pg.table(func(row func(...any)) {
		part := ""
		for i, f := range plans[0].Figures {
			if f.Part != part {
				part = f.Part
				row()
				row(cells(strings.ToUpper(part), plans, func(p *capacity.Plan) string { return fmt.Sprintf("%d FEEDS", p.Load.Feeds) }, "FORMULA")...)
			}
			row(cells(f.Name, plans, func(p *capacity.Plan) string { return p.Figures[i].String() }, f.Formula)...)
		}
	})
	for _, p := range plans {
		pg.printf("\n")
		for _, note := range p.Notes {
			pg.printf("%d feeds: %s\n", p.Load.Feeds, note)
		}
		for _, warning := range p.Warnings {
			pg.printf("WARNING, %d feeds: %s\n", p.Load.Feeds, warning)
		}
	}
	pg.printf("\nMeasured figures are of one machine of two cores: allow for +-%d %%. Check assumed ones by --costs.\n", answer.Uncertainty)
	if slices.ContainsFunc(plans, func(p *capacity.Plan) bool { return len(p.Warnings) > 0 }) {
		pg.printf("Beyond a limit, divide the feeds between several meshes, keep items for a shorter time, or measure first.\n")
	}
}

// cells returns a row of a table with a cell for each plan.
func cells(first string, plans []*capacity.Plan, cell func(*capacity.Plan) string, last string) []any {
	row := []any{first}
	for _, p := range plans {
		row = append(row, cell(p))
	}
	return append(row, last)
}

func showCosts(pg *page, costs []capacity.Cost) {
	pg.printf("\n")
	pg.table(func(row func(...any)) {
		row("COST", "VALUE", "UNIT", "SOURCE")
		for _, c := range costs {
			row(c.Name, strconv.FormatFloat(c.Value, 'f', -1, 64), c.Unit, c.Source)
		}
	})
}

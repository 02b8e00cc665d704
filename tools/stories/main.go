// Stories compares the grouping of items into stories with other methods, on items whose stories are known:
//
//	go run ./tools/stories eval items.jsonl.gz --half test
package main

import (
	"context"
	"fmt"
	"os"
	"slices"

	"feedmesh/classify/story"
	"feedmesh/tools/command"
	grouping "feedmesh/tools/stories/measure"
)

func main() {
	command.Main("stories", "Evaluate the grouping of items into stories.", new(storiesCommand))
}

// A storiesCommand groups the commands about stories.
type storiesCommand struct {
	Eval storiesEvalCommand `cmd:"" help:"Measure the grouping of items with known stories."`
}

// A storiesEvalCommand measures the grouping of items into stories.
type storiesEvalCommand struct {
	Half   grouping.Half `default:"all" enum:"train,test,all" help:"Measure on the train half, the test half or all items; a hash of a story's name selects its half (${default})."`
	Method []string      `default:"ours,single-pass,components,kmeans,chains" enum:"ours,single-pass,components,kmeans,chains" help:"Methods to compare (${default})."`
	JSON   bool          `name:"json" help:"Print JSON."`
	File   string        `arg:"" type:"existingfile" help:"Items, one JSON object per line; may be gzip."`
}

// Help implements kong's HelpProvider.
func (storiesEvalCommand) Help() string {
	return `The items of FILE have an id, a title, a story, and optionally body, lang,
host and published (a day; within a day, items are in the file's order):

    {"id": "1", "title": "Quake off Aceh", "lang": "en", "published": "2026-01-02", "story": "aceh"}

or they are pairs of items, of one story if the label is OK:

    {"id": "1", "lang": "ru", "label": "OK", "a": {"title": "..."}, "b": {"title": "..."}}

"ours" is the method of agents. The thresholds of all methods were tuned on the train half
of such sets, so only the test half is a fair comparison:

    go run ./tools/stories eval uci-headlines.jsonl.gz --half test

B3 is B-cubed; P, R and F1 are in percent. The measures of source 3: a
message is missed if it is not in the cluster of its story, and foreign if
its cluster is another story's. FIRST measures the detection of items that begin a
story. kmeans is given the number of stories; single-pass makes its second pass
after all items, whereas ours uses only earlier items.

If items have days, stories are ranked every hour: by our rank, by the
number of sources so far, by the latest item. NDCG@10 compares the first ten
with the stories of most sources 24 hours later. GREAT stories are among
the ten with most sources at the end of a day; SHOWN counts those that were ever
among the first ten, AFTER is the delay from their first item.`
}

// Run implements the command.
func (c *storiesEvalCommand) Run(_ context.Context, o *command.Output) error {
	file, err := os.Open(c.File)
	if err != nil {
		return command.Usage("read items: %w", err)
	}
	defer file.Close()
	set, err := grouping.Read(file, c.Half)
	if err != nil {
		return command.Usage("%s: %w", c.File, err)
	}
	if len(set.Records) == 0 && len(set.Pairs) == 0 {
		return command.Usage("%s has no item with a story, and no pair, in that half", c.File)
	}
	result := struct {
		Items []grouping.Report     `json:"items,omitempty"`
		Pairs []grouping.PairReport `json:"pairs,omitempty"`
		Ranks []grouping.Ranking    `json:"ranks,omitempty"`
		Churn *grouping.Churn       `json:"churn,omitempty"`
	}{}
	for _, method := range c.Method {
		if len(set.Records) > 0 {
			result.Items = append(result.Items, grouping.Run(method, story.Default(), set.Records)...)
		}
	}
	if len(set.Pairs) > 0 {
		result.Pairs = grouping.RunPairs(story.Default(), set.Pairs)
	}
	if ranks, churn := grouping.Rank(story.Default(), set.Records); len(ranks) > 0 && slices.Contains(c.Method, "ours") {
		result.Ranks, result.Churn = ranks, &churn
	}
	if c.JSON {
		return o.JSON(result)
	}
	if len(result.Items) > 0 {
		f := result.Items[0].Figures
		fmt.Fprintf(o.Out, "%d items of %d stories\n", f.Items, f.Stories)
		grouping.Print(o.Out, result.Items)
	}
	if len(result.Pairs) > 0 {
		grouping.PrintPairs(o.Out, result.Pairs)
	}
	if len(result.Ranks) > 0 {
		grouping.PrintRankings(o.Out, result.Ranks, *result.Churn)
	}
	return nil
}

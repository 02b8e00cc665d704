package console

import (
	"fmt"
	"html/template"
	"math"
	"strconv"
	"time"

	"feedmesh/agent/chart"
	"feedmesh/agent/wire"
	"feedmesh/classify/language"
	"feedmesh/subjects"
)

// A chartView is a chart with its data.
type chartView struct {
	ID       string // ID of its heading, and name of its CSV file
	Heading  string
	About    string
	Pictures []picture // empty if there is no data
	Legend   []legend
	Table    grid
	CSV      string // URL of the data
}

type picture struct {
	Label string // caption; empty if the chart has one picture
	SVG   template.HTML
}

// A legend is the label of a colour.
type legend struct{ Class, Label string }

const (
	categoriesShown = chart.MaxSeries - 1 // plus one series for all others
	barsShown       = 12
)

// charts returns all charts of the statistics.
func charts(s wire.Statistics, p period) []chartView {
	all := []chartView{
		daysChart(s), activityChart(s), lagChart(s), categoriesChart(s),
		barChart("languages", "Languages", "Items by language.", "Language", "Items", languageBars(s.Languages)),
		barChart("tiers", "Feeds by tier", "Polling frequency of feeds; hot feeds are polled most often.", "Tier", "Feeds", feedBars(s.Tiers)),
		barChart("outcomes", "Poll outcomes", outcomesAbout(s), "Outcome", "Feeds", namedBars(s.Outcomes, outcomeName)),
		barChart("failures", "Poll errors", "Feeds whose last poll failed, by class of error.", "Error", "Feeds", feedBars(s.Failures)),
	}
	if tone := sentimentChart(s); tone.Pictures != nil { // sentiment scoring is optional
		all = append(all, tone)
	}
	for i := range all {
		all[i].CSV = statisticsPath + "/" + all[i].ID + ".csv" + p.query()
	}
	return all
}

// shortDay formats a day for the labels of a chart.
func shortDay(day string) string {
	t, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return day
	}
	return t.Format("2 Jan")
}

func daysChart(s wire.Statistics) chartView {
	v := chartView{
		ID: "days", Heading: "Items a day", About: "By time first seen. The last day is incomplete.",
		Legend: []legend{{"s1", "Items"}, {"s2", "Spam"}}, Table: gridOf("Day", "Items", "Spam"),
	}
	var columns []chart.Column
	for _, d := range s.Days {
		columns = append(columns, chart.Column{Label: shortDay(d.Day), Values: []int64{d.Items - d.Spam, d.Spam}})
		v.Table.add(d.Day, d.Items, d.Spam)
	}
	if s.Items > 0 {
		v.Pictures = []picture{{SVG: chart.Columns("Items a day", []string{"items", "spam"}, columns)}}
	}
	return v
}

// week lists the weekdays from Monday.
var week = []time.Weekday{time.Monday, time.Tuesday, time.Wednesday, time.Thursday, time.Friday, time.Saturday, time.Sunday}

func activityChart(s wire.Statistics) chartView {
	v := chartView{
		ID: "activity", Heading: "Activity by hour and weekday", About: "In the time zone above. Stronger colours mean more items.",
		Table: gridOf("Weekday", "Hour", "First seen", "Published"),
	}
	hours := make([]string, 24)
	for h := range hours {
		hours[h] = fmt.Sprintf("%02d", h)
	}
	names, seen, published := []string{}, [][]int64{}, [][]int64{}
	for _, day := range week {
		names = append(names, day.String()[:3])
		seen, published = append(seen, s.Seen[day]), append(published, s.Published[day])
		for h := range hours {
			v.Table.add(day.String(), hours[h], s.Seen[day][h], s.Published[day][h])
		}
	}
	if s.Items > 0 {
		v.Pictures = []picture{
			{"First seen", chart.HeatMap("Items by the hour and weekday when they were first seen", names, hours, seen)},
			{"Published, if items state it", chart.HeatMap("Items by the hour and weekday when they were published", names, hours, published)},
		}
	}
	return v
}

// lagTicks are the grid lines of the lag chart, in seconds.
var lagTicks = []chart.Tick{
	{Value: 10, Label: "10 s"}, {Value: 60, Label: "1 min"}, {Value: 600, Label: "10 min"}, {Value: 3600, Label: "1 h"},
	{Value: 6 * 3600, Label: "6 h"}, {Value: 24 * 3600, Label: "1 day"}, {Value: 7 * 24 * 3600, Label: "1 week"},
}

func lagChart(s wire.Statistics) chartView {
	v := chartView{
		ID: "lag", Heading: "Delay from publication to detection",
		About:  "Time from publication to first seen, of items that state their publication time: median, 95th and 99th percentile.",
		Legend: []legend{{"l1", "Median (p50)"}, {"l2", "95 % (p95)"}, {"l3", "99 % (p99)"}},
		Table:  gridOf("Day", "Items", "p50, seconds", "p95, seconds", "p99, seconds"),
	}
	lines := []chart.Line{{Name: "p50"}, {Name: "p95"}, {Name: "p99"}}
	var labels []string
	var timely int64
	for _, d := range s.Days {
		labels, timely = append(labels, shortDay(d.Day)), timely+d.Timely
		for i, lag := range []float64{d.P50, d.P95, d.P99} {
			if d.Timely == 0 {
				lag = math.NaN()
			}
			lines[i].Values = append(lines[i].Values, lag)
		}
		v.Table.add(d.Day, d.Timely, seconds(d.P50), seconds(d.P95), seconds(d.P99))
	}
	if timely > 0 {
		v.Pictures = []picture{{SVG: chart.Lines("Time from published to first seen, by day", labels, lines, lagTicks, span)}}
	}
	return v
}

func seconds(n float64) string { return strconv.FormatFloat(n, 'f', 1, 64) }

func categoriesChart(s wire.Statistics) chartView {
	v := chartView{ID: "categories", Heading: "Categories over time", About: "Items of each day, without spam. An item may be in several.", Table: gridOf("Day")}
	top := s.Categories[:min(categoriesShown, len(s.Categories))]
	var names []string
	for i, c := range top {
		names = append(names, c.Name)
		v.Legend = append(v.Legend, legend{"s" + strconv.Itoa(i+1), c.Name})
	}
	if len(s.Categories) > len(top) {
		names = append(names, "others")
		v.Legend = append(v.Legend, legend{"s" + strconv.Itoa(len(names)), "Others"})
	}
	for _, name := range names {
		v.Table.Columns = append(v.Table.Columns, column{name, numberClass})
	}
	var columns []chart.Column
	for _, d := range s.Days {
		values, rest := make([]int64, len(names)), int64(0)
		for _, n := range d.Categories {
			rest += n
		}
		for i, c := range top {
			values[i] = d.Categories[c.Name]
			rest -= values[i]
		}
		if len(names) > len(top) {
			values[len(top)] = rest
		}
		columns = append(columns, chart.Column{Label: shortDay(d.Day), Values: values})
		row := []any{d.Day}
		for _, n := range values {
			row = append(row, n)
		}
		v.Table.add(row...)
	}
	if len(names) > 0 {
		v.Pictures = []picture{{SVG: chart.Columns("Items a day by category", names, columns)}}
	}
	return v
}

func sentimentChart(s wire.Statistics) chartView {
	v := chartView{
		ID: "sentiment", Heading: "Sentiment", About: "Mean score of each day's scored items, from -1 (negative) to 1 (positive).",
		Table: gridOf("Day", "Items", "Mean"),
	}
	line := chart.Line{Name: "mean"}
	var labels []string
	var toned int64
	for _, d := range s.Days {
		mean := d.MeanSentiment
		if d.WithSentiment == 0 {
			mean = math.NaN()
		}
		labels, line.Values, toned = append(labels, shortDay(d.Day)), append(line.Values, mean), toned+d.WithSentiment
		v.Table.add(d.Day, d.WithSentiment, strconv.FormatFloat(d.MeanSentiment, 'f', 3, 64))
	}
	if toned > 0 {
		ticks := []chart.Tick{{Value: -1, Label: "-1"}, {Value: -0.5, Label: "-0.5"}, {Value: 0, Label: "0"}, {Value: 0.5, Label: "0.5"}, {Value: 1, Label: "1"}}
		v.Pictures = []picture{{SVG: chart.Lines("Mean sentiment by day", labels, []chart.Line{line}, ticks, func(x float64) string { return strconv.FormatFloat(x, 'f', 2, 64) })}}
	}
	return v
}

// barChart returns a chart of the first bars, with a table of all.
func barChart(id, heading, about, what, of string, bars []chart.Bar) chartView {
	v := chartView{ID: id, Heading: heading, About: about, Table: gridOf(what, of)}
	for _, b := range bars {
		v.Table.add(b.Label, b.Value)
	}
	if len(bars) > 0 {
		v.Pictures = []picture{{SVG: chart.Bars(heading, bars[:min(barsShown, len(bars))])}}
	}
	return v
}

// namedBars returns bars with display names.
func namedBars(list []wire.NamedCount, name func(string) string) []chart.Bar {
	var all int64
	for _, n := range list {
		all += n.Count
	}
	var bars []chart.Bar
	for _, n := range list {
		bars = append(bars, chart.Bar{Label: name(n.Name), Value: n.Count, ValueText: count(n.Count) + " (" + share(n.Count, all) + ")"})
	}
	return bars
}

func feedBars(list []wire.FeedCount) []chart.Bar {
	named := make([]wire.NamedCount, len(list))
	for i, f := range list {
		named[i] = wire.NamedCount{Name: f.Name, Count: f.Feeds}
	}
	return namedBars(named, func(name string) string { return name })
}

func languageBars(list []wire.NamedCount) []chart.Bar {
	return namedBars(list, func(code string) string {
		if code == "" {
			return "unknown"
		}
		return language.Name(code)
	})
}

// outcomeNames are the labels of poll outcomes.
var outcomeNames = map[string]string{
	string(subjects.Fetched):   "being processed",
	string(subjects.Stored):    "new items",
	string(subjects.Nothing):   "nothing new",
	string(subjects.Unchanged): "unchanged",
	string(subjects.Failed):    "failed",
	string(subjects.Gone):      "gone",
}

func outcomeName(name string) string {
	if words, is := outcomeNames[name]; is {
		return words
	}
	return name
}

func outcomesAbout(s wire.Statistics) string {
	about := "Feeds by the outcome of their last poll."
	if s.Answers > 0 {
		about += " Of " + count(s.Answers) + " responses, " + share(s.NotModified, s.Answers) + " were “not modified” (304) without a body."
	}
	return about
}

package console

import (
	"fmt"
	"html/template"
	"math"
	"strconv"
	"time"

	"feedmesh/agent/chart"
	"feedmesh/agent/web/locale"
	"feedmesh/agent/wire"
	"feedmesh/subjects"
)

// A chartView is a chart with its data.
type chartView struct {
	ID       string // ID of its heading, and name of its CSV file
	Heading  locale.Text
	About    locale.Text
	Pictures []picture // empty if there is no data
	Legend   []legend
	Table    grid
	CSV      string // URL of the data
}

type picture struct {
	Label locale.Text // caption; nil if the chart has one picture
	SVG   template.HTML
}

// A legend is the label of a colour.
type legend struct {
	Class string
	Label locale.Text
}

const (
	categoriesShown = chart.MaxSeries - 1 // plus one series for all others
	barsShown       = 12
)

// charts returns all charts of the statistics. Their pictures and tables are in the language.
func charts(s wire.Statistics, p period, l *locale.Language) []chartView {
	all := []chartView{
		daysChart(s, l), activityChart(s, l), lagChart(s, l), categoriesChart(s, l),
		barChart("languages", locale.T("Languages"), locale.T("Items by language."), locale.T("Language"), locale.T("Items"), languageBars(s.Languages, l), l),
		barChart("tiers", locale.T("Feeds by tier"), locale.T("Polling frequency of feeds; hot feeds are polled most often."), locale.T("Tier"), locale.T("Feeds"),
			feedBars(s.Tiers, l), l),
		barChart("outcomes", locale.T("Poll outcomes"), outcomesAbout(s), locale.T("Outcome"), locale.T("Feeds"), namedBars(s.Outcomes, outcomeName, l), l),
		barChart("failures", locale.T("Poll errors"), locale.T("Feeds whose last poll failed, by class of error."), locale.T("Error"), locale.T("Feeds"),
			feedBars(s.Failures, l), l),
	}
	if tone := sentimentChart(s, l); tone.Pictures != nil { // sentiment scoring is optional
		all = append(all, tone)
	}
	for i := range all {
		all[i].CSV = statisticsPath + "/" + all[i].ID + ".csv" + p.query()
	}
	return all
}

// shortDay formats a day for the labels of a chart.
func shortDay(day string, l *locale.Language) string {
	t, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return day
	}
	return locale.Date(t, "2 Jan").In(l)
}

func daysChart(s wire.Statistics, l *locale.Language) chartView {
	v := chartView{
		ID: "days", Heading: locale.T("Items a day"), About: locale.T("By time first seen. The last day is incomplete."),
		Legend: []legend{{"s1", locale.T("Items")}, {"s2", locale.T("Spam")}}, Table: gridOf(locale.T("Day"), locale.T("Items"), locale.T("Spam")),
	}
	var columns []chart.Column
	for _, d := range s.Days {
		columns = append(columns, chart.Column{Label: shortDay(d.Day, l), Values: []int64{d.Items - d.Spam, d.Spam}})
		v.Table.add(d.Day, d.Items, d.Spam)
	}
	if s.Items > 0 {
		v.Pictures = []picture{{SVG: chart.Columns(v.Heading.In(l), []string{locale.T("items").In(l), locale.T("spam").In(l)}, columns)}}
	}
	return v
}

// week lists the weekdays from Monday.
var week = []time.Weekday{time.Monday, time.Tuesday, time.Wednesday, time.Thursday, time.Friday, time.Saturday, time.Sunday}

// weekday formats a weekday in a layout of package time.
func weekday(day time.Weekday, layout string) locale.Text {
	return locale.Date(time.Date(2023, time.January, 1+int(day), 0, 0, 0, 0, time.UTC), layout) // 1 January 2023 was a Sunday
}

func activityChart(s wire.Statistics, l *locale.Language) chartView {
	v := chartView{
		ID: "activity", Heading: locale.T("Activity by hour and weekday"), About: locale.T("In the time zone above. Stronger colours mean more items."),
		Table: gridOf(locale.T("Weekday"), locale.T("Hour"), locale.T("First seen"), locale.T("Published")),
	}
	hours := make([]string, 24)
	for h := range hours {
		hours[h] = fmt.Sprintf("%02d", h)
	}
	names, seen, published := []string{}, [][]int64{}, [][]int64{}
	for _, day := range week {
		names = append(names, weekday(day, "Mon").In(l))
		seen, published = append(seen, s.Seen[day]), append(published, s.Published[day])
		for h := range hours {
			v.Table.add(weekday(day, "Monday").In(l), hours[h], s.Seen[day][h], s.Published[day][h])
		}
	}
	if s.Items > 0 {
		v.Pictures = []picture{
			{locale.T("First seen"), chart.HeatMap(locale.T("Items by the hour and weekday when they were first seen").In(l), names, hours, seen)},
			{locale.T("Published, if items state it"), chart.HeatMap(locale.T("Items by the hour and weekday when they were published").In(l), names, hours, published)},
		}
	}
	return v
}

// lagTicks are the grid lines of the lag chart, in seconds.
var lagTicks = []struct {
	seconds float64
	label   locale.Text
}{
	{10, locale.T("10 s")}, {60, locale.T("1 min")}, {600, locale.T("10 min")}, {3600, locale.T("1 h")},
	{6 * 3600, locale.T("6 h")}, {24 * 3600, locale.T("1 day")}, {7 * 24 * 3600, locale.T("1 week")},
}

func lagChart(s wire.Statistics, l *locale.Language) chartView {
	v := chartView{
		ID: "lag", Heading: locale.T("Delay from publication to detection"),
		About:  locale.T("Time from publication to first seen, of items that state their publication time: median, 95th and 99th percentile."),
		Legend: []legend{{"l1", locale.T("Median (p50)")}, {"l2", locale.T("95 %% (p95)")}, {"l3", locale.T("99 %% (p99)")}},
		Table:  gridOf(locale.T("Day"), locale.T("Items"), locale.T("p50, seconds"), locale.T("p95, seconds"), locale.T("p99, seconds")),
	}
	lines := []chart.Line{{Name: "p50"}, {Name: "p95"}, {Name: "p99"}}
	var labels []string
	var timely int64
	for _, d := range s.Days {
		labels, timely = append(labels, shortDay(d.Day, l)), timely+d.Timely
		for i, lag := range []float64{d.P50, d.P95, d.P99} {
			if d.Timely == 0 {
				lag = math.NaN()
			}
			lines[i].Values = append(lines[i].Values, lag)
		}
		v.Table.add(d.Day, d.Timely, seconds(d.P50), seconds(d.P95), seconds(d.P99))
	}
	if timely > 0 {
		var ticks []chart.Tick
		for _, t := range lagTicks {
			ticks = append(ticks, chart.Tick{Value: t.seconds, Label: t.label.In(l)})
		}
		span := func(seconds float64) string { return locale.Span(seconds).In(l) }
		v.Pictures = []picture{{SVG: chart.Lines(locale.T("Time from published to first seen, by day").In(l), labels, lines, ticks, span)}}
	}
	return v
}

func seconds(n float64) string { return strconv.FormatFloat(n, 'f', 1, 64) }

func categoriesChart(s wire.Statistics, l *locale.Language) chartView {
	v := chartView{
		ID: "categories", Heading: locale.T("Categories over time"), About: locale.T("Items of each day, without spam. An item may be in several."),
		Table: gridOf(locale.T("Day")),
	}
	top := s.Categories[:min(categoriesShown, len(s.Categories))]
	var names []string
	for i, c := range top {
		names = append(names, c.Name)
		v.Legend = append(v.Legend, legend{"s" + strconv.Itoa(i+1), locale.Data(c.Name)})
	}
	if len(s.Categories) > len(top) {
		names = append(names, locale.T("others").In(l))
		v.Legend = append(v.Legend, legend{"s" + strconv.Itoa(len(names)), locale.T("Others")})
	}
	for _, name := range names {
		v.Table.Columns = append(v.Table.Columns, column{locale.Data(name), numberClass})
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
		columns = append(columns, chart.Column{Label: shortDay(d.Day, l), Values: values})
		row := []any{d.Day}
		for _, n := range values {
			row = append(row, n)
		}
		v.Table.add(row...)
	}
	if len(names) > 0 {
		v.Pictures = []picture{{SVG: chart.Columns(locale.T("Items a day by category").In(l), names, columns)}}
	}
	return v
}

func sentimentChart(s wire.Statistics, l *locale.Language) chartView {
	v := chartView{
		ID: "sentiment", Heading: locale.T("Sentiment"), About: locale.T("Mean score of each day's scored items, from -1 (negative) to 1 (positive)."),
		Table: gridOf(locale.T("Day"), locale.T("Items"), locale.T("Mean")),
	}
	line := chart.Line{Name: locale.T("mean").In(l)}
	var labels []string
	var toned int64
	for _, d := range s.Days {
		mean := d.MeanSentiment
		if d.WithSentiment == 0 {
			mean = math.NaN()
		}
		labels, line.Values, toned = append(labels, shortDay(d.Day, l)), append(line.Values, mean), toned+d.WithSentiment
		v.Table.add(d.Day, d.WithSentiment, strconv.FormatFloat(d.MeanSentiment, 'f', 3, 64))
	}
	if toned > 0 {
		ticks := []chart.Tick{{Value: -1, Label: "-1"}, {Value: -0.5, Label: "-0.5"}, {Value: 0, Label: "0"}, {Value: 0.5, Label: "0.5"}, {Value: 1, Label: "1"}}
		format := func(x float64) string { return strconv.FormatFloat(x, 'f', 2, 64) }
		v.Pictures = []picture{{SVG: chart.Lines(locale.T("Mean sentiment by day").In(l), labels, []chart.Line{line}, ticks, format)}}
	}
	return v
}

// barChart returns a chart of the first bars, with a table of all.
func barChart(id string, heading, about, what, of locale.Text, bars []chart.Bar, l *locale.Language) chartView {
	v := chartView{ID: id, Heading: heading, About: about, Table: gridOf(what, of)}
	for _, b := range bars {
		v.Table.add(b.Label, b.Value)
	}
	if len(bars) > 0 {
		v.Pictures = []picture{{SVG: chart.Bars(heading.In(l), bars[:min(barsShown, len(bars))])}}
	}
	return v
}

// namedBars returns bars with display names in a language. A bar for which name returns nil has its own name.
func namedBars(list []wire.NamedCount, name func(string) locale.Text, l *locale.Language) []chart.Bar {
	var all int64
	for _, n := range list {
		all += n.Count
	}
	var bars []chart.Bar
	for _, n := range list {
		bar := chart.Bar{Label: n.Name, Value: n.Count, ValueText: locale.Count(n.Count).In(l) + " (" + share(n.Count, all).In(l) + ")"}
		if label := name(n.Name); label != nil {
			bar.Label = label.In(l)
		}
		bars = append(bars, bar)
	}
	return bars
}

func feedBars(list []wire.FeedCount, l *locale.Language) []chart.Bar {
	named := make([]wire.NamedCount, len(list))
	for i, f := range list {
		named[i] = wire.NamedCount{Name: f.Name, Count: f.Feeds}
	}
	return namedBars(named, locale.Composed, l)
}

func languageBars(list []wire.NamedCount, l *locale.Language) []chart.Bar {
	return namedBars(list, func(code string) locale.Text {
		if code == "" {
			return locale.T("unknown")
		}
		return languageName(code)
	}, l)
}

// outcomeNames are the labels of poll outcomes.
var outcomeNames = map[string]locale.Text{
	string(subjects.Fetched):   locale.T("being processed"),
	string(subjects.Stored):    locale.T("new items"),
	string(subjects.Nothing):   locale.T("nothing new"),
	string(subjects.Unchanged): locale.T("unchanged"),
	string(subjects.Failed):    locale.T("failed"),
	string(subjects.Gone):      locale.T("gone"),
}

func outcomeName(name string) locale.Text { return outcomeNames[name] }

func outcomesAbout(s wire.Statistics) locale.Text {
	about := locale.T("Feeds by the outcome of their last poll.")
	if s.Answers > 0 {
		answers, unmodified := locale.Count(s.Answers), share(s.NotModified, s.Answers)
		about = locale.Join(" ", about, locale.T("Of %s responses, %s were “not modified” (304) without a body.", answers, unmodified))
	}
	return about
}

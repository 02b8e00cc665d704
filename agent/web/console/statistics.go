package console

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"feedmesh/agent/service"
	"feedmesh/agent/web/locale"
	"feedmesh/agent/wire"
)

const statisticsPath = "/statistics"

func (c meshPages) statisticsRoutes(mux *http.ServeMux) {
	mux.HandleFunc(statisticsPath, c.statistics)
	mux.HandleFunc(statisticsPath+"/{file}", c.statisticsFile)
}

// statisticsParams are the URL parameters of statistics.
var statisticsParams = []param{
	{name: "days", max: 2, values: []string{"7", "30", "90"}, initial: "30"},
	{name: "zone", max: 64, initial: "UTC"},
}

// zones are suggested time zones; others can be entered.
var zones = []string{
	"UTC", "Europe/London", "Europe/Berlin", "Europe/Moscow", "Asia/Dubai", "Asia/Kolkata", "Asia/Shanghai", "Asia/Tokyo",
	"Australia/Sydney", "America/Sao_Paulo", "America/New_York", "America/Chicago", "America/Los_Angeles",
}

// A period is the range of days and the time zone of statistics.
type period struct {
	days int
	zone *time.Location
}

func readPeriod(query string) (period, error) {
	values, err := readParams(query, statisticsParams)
	if err != nil {
		return period{}, err
	}
	p := period{days: 30}
	if values["days"] != "" {
		p.days, _ = strconv.Atoi(values["days"]) // one of the values above
	}
	p.zone, err = service.ParseZone(values["zone"])
	return p, err
}

// query returns the URL query of a period.
func (p period) query() string {
	params := map[string]string{}
	if p.days != 30 {
		params["days"] = strconv.Itoa(p.days)
	}
	if p.zone.String() != "UTC" {
		params["zone"] = p.zone.String()
	}
	return addressOf("", params)
}

// A statisticsPage shows statistics as charts and tables.
type statisticsPage struct {
	Days    int
	Zone    string
	Offset  string // UTC offset of the zone, now
	Zones   []string
	Periods []choice
	Figures []figure
	Charts  []chartView
	Made    *locale.Timestamp
	Nothing bool // no items in this period
}

func (c meshPages) statistics(w http.ResponseWriter, r *http.Request) {
	p, found, ok := c.count(w, r)
	if !ok {
		return
	}
	now := c.Now()
	main := statisticsPage{
		Days: p.days, Zone: p.zone.String(), Offset: now.In(p.zone).Format("UTC-07:00"), Zones: zones,
		Figures: statisticsFigures(found), Charts: charts(found, p, locale.From(r)), Made: locale.NewTimestamp(found.Until, now), Nothing: found.Items == 0,
	}
	for _, days := range []int{7, 30, 90} {
		main.Periods = append(main.Periods, choice{
			Label: locale.Plural(int64(days), "day"), URL: statisticsPath + period{days, p.zone}.query(), Active: days == p.days,
		})
	}
	c.render(w, r, http.StatusOK, "statistics", page{Title: locale.T("Statistics"), Here: statisticsPath, Main: main})
}

// count returns the statistics of a request. If ok is false it has written an error response.
func (c meshPages) count(w http.ResponseWriter, r *http.Request) (p period, found wire.Statistics, ok bool) {
	p, err := readPeriod(r.URL.RawQuery)
	if err != nil {
		c.badAddress(w, r, locale.T("Invalid statistics"), err, choice{Label: locale.T("Statistics of the last 30 days"), URL: statisticsPath})
		return p, found, false
	}
	if found, err = c.Statistics.Get(r.Context(), wire.StatisticsRequest{Days: p.days, Zone: p.zone.String()}); err != nil {
		c.showUnavailable(w, r, err, locale.T("The store"))
		return p, found, false
	}
	return p, found, true
}

// statisticsFile writes the data of a chart as CSV.
func (c meshPages) statisticsFile(w http.ResponseWriter, r *http.Request) {
	name, isCSV := strings.CutSuffix(r.PathValue("file"), ".csv")
	if !isCSV {
		c.notFound(w, r)
		return
	}
	p, found, ok := c.count(w, r)
	if !ok {
		return
	}
	for _, chart := range charts(found, p, locale.English) {
		if chart.ID == name {
			w.Header().Set("Content-Type", "text/csv; charset=utf-8")
			w.Header().Set("Content-Disposition", `attachment; filename="feedmesh-`+name+`.csv"`)
			chart.Table.writeCSV(w)
			return
		}
	}
	c.notFound(w, r)
}

// statisticsFigures returns the key figures.
func statisticsFigures(s wire.Statistics) []figure {
	figures := []figure{
		{"came", locale.T("New items"), locale.Count(s.Items)},
		{"spam", locale.T("Spam"), share(s.Spam, s.Items)},
		{"feeds", locale.T("Feeds"), locale.Count(s.Feeds.Stored)},
		{"failing", locale.T("Feeds failing"), locale.Count(s.Feeds.Failing)},
		{"same", locale.T("Not modified (304)"), share(s.NotModified, s.Answers)},
		{"agents", locale.T("Agents"), locale.Count(s.Agents)},
	}
	return figures
}

// share returns a ratio in percent.
func share(part, of int64) locale.Text {
	if of == 0 {
		return locale.Data(unknown)
	}
	return locale.Percent(float64(part) / float64(of))
}

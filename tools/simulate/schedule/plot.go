package schedule

import (
	_ "embed"
	"fmt"
	"io"
	"math"
	"strings"
	"text/template"
)

//go:embed plot.svg
var plotText string

var plotTemplate = template.Must(template.New("plot").Parse(plotText))

const (
	fieldWidth, fieldHeight = 420.0, 220.0 // of a diagram, in pixels
	panelHeight             = 330          // of two diagrams side by side
	shortest, longest       = 0.5, 1440.0  // range of delays, in minutes
)

// colors of the policies, distinguishable with red-green blindness.
var colors = []string{"#0072b2", "#d55e00", "#009e73", "#cc79a7"}

// A panel shows the policies in one world: on the left the share of the items found within a time, on the
// right the requests of each hour of the day.
type panel struct {
	World  string
	Feeds  int
	Top    int
	Most   int // requests an hour at the top of the right diagram
	Curves []curve
}

// A curve shows one policy.
type curve struct {
	Label, Color  string
	Y             int    // of its label
	Delays, Hours string // points
}

// A mark is a number at an axis.
type mark struct {
	At   float64
	Text string
}

// Plot draws results as SVG, a panel for each world. The results must contain one for each world and policy,
// as [Mean] returns them.
func Plot(w io.Writer, results []Result) error {
	var panels []panel
	for _, r := range results {
		if len(panels) == 0 || panels[len(panels)-1].World != r.World {
			panels = append(panels, panel{World: r.World, Feeds: r.Feeds, Top: len(panels) * panelHeight, Most: busiest(results, r.World)})
		}
		p := &panels[len(panels)-1]
		p.Curves = append(p.Curves, curve{
			Label: fmt.Sprintf("%s, mean %.1f min", r.Policy, r.Mean/60), Color: colors[len(p.Curves)%len(colors)],
			Y: 150 + 20*len(p.Curves), Delays: delayPoints(r.Delays), Hours: hourPoints(r.byHour(), p.Most),
		})
	}
	var marks []mark
	for _, minutes := range []float64{1, 5, 15, 60, 240, 1440} {
		marks = append(marks, mark{delayX(minutes), fmt.Sprint(minutes)})
	}
	return plotTemplate.Execute(w, map[string]any{
		"Panels": panels, "Minutes": marks, "Height": len(panels) * panelHeight, "Width": fieldWidth, "Field": fieldHeight,
	})
}

// delayX returns the position of a delay in minutes on its logarithmic axis.
func delayX(minutes float64) float64 {
	minutes = min(max(minutes, shortest), longest)
	return math.Log(minutes/shortest) / math.Log(longest/shortest) * fieldWidth
}

func delayPoints(percentiles []float64) string {
	var points strings.Builder
	for i, seconds := range percentiles {
		fmt.Fprintf(&points, "%.1f,%.1f ", delayX(seconds/60), fieldHeight*(1-float64(i)/100))
	}
	return points.String()
}

func hourPoints(hours [24]float64, most int) string {
	var points strings.Builder
	for hour, requests := range hours {
		y := fieldHeight * (1 - requests/float64(most))
		fmt.Fprintf(&points, "%.1f,%.1f %.1f,%.1f ", float64(hour)/24*fieldWidth, y, float64(hour+1)/24*fieldWidth, y)
	}
	return points.String()
}

// byHour returns the mean requests of each hour of the day.
func (r Result) byHour() (hours [24]float64) {
	for i, requests := range r.Hourly {
		hours[i%24] += float64(requests) / float64(len(r.Hourly)/24)
	}
	return hours
}

// busiest returns a round upper bound of the requests in any hour of a world.
func busiest(results []Result, world string) int {
	most := 1.0
	for _, r := range results {
		if r.World != world {
			continue
		}
		for _, requests := range r.byHour() {
			most = max(most, requests)
		}
	}
	step := math.Pow(10, math.Floor(math.Log10(most)))
	return int(math.Ceil(most/step) * step)
}

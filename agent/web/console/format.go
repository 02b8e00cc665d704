package console

import (
	"encoding/csv"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"

	"feedmesh/agent/service"
	"feedmesh/agent/web/locale"
	"feedmesh/storage"
)

// host returns the host of a web URL, else "".
func host(address string) string {
	u, err := url.Parse(storage.WebURL(address))
	if err != nil {
		return ""
	}
	return strings.TrimPrefix(u.Hostname(), "www.")
}

// tenth formats a number with one decimal.
func tenth(n float64) string { return strconv.FormatFloat(n, 'f', 1, 64) }

// hundredth formats a number with two decimals.
func hundredth(n float64) string { return strconv.FormatFloat(n, 'f', 2, 64) }

// A grid is the table of a chart's data: columns with headings, and rows of unformatted values.
type grid struct {
	Columns []column
	Rows    [][]string
}

// gridOf returns an empty grid. All columns but the first are numeric.
func gridOf(headings ...locale.Text) grid {
	var g grid
	for i, heading := range headings {
		class := numberClass
		if i == 0 {
			class = ""
		}
		g.Columns = append(g.Columns, column{heading, class})
	}
	return g
}

func (g *grid) add(cells ...any) {
	row := make([]string, len(cells))
	for i, cell := range cells {
		row[i] = fmt.Sprint(cell)
	}
	g.Rows = append(g.Rows, row)
}

// writeCSV writes the grid as CSV (RFC 4180).
func (g grid) writeCSV(to io.Writer) {
	w := csv.NewWriter(to)
	w.UseCRLF = true
	headings := make([]string, len(g.Columns))
	for i, c := range g.Columns {
		headings[i] = service.CSVCell(c.Label.In(locale.English))
	}
	w.Write(headings) // write errors mean that the client has closed the connection
	for _, row := range g.Rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = service.CSVCell(cell)
		}
		w.Write(cells)
	}
	w.Flush()
}

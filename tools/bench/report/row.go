// Package report collects the measurements of bench as rows, and prints and stores them.
package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
)

// A Row is one measurement.
type Row struct {
	Part    string  `json:"part"`
	Table   string  `json:"table,omitempty"` // name of a table of CPU shares; empty: the main table
	What    string  `json:"what"`
	Value   float64 `json:"value"`
	Unit    string  `json:"unit"`
	Aim     string  `json:"aim,omitempty"` // as "<= 5"; empty: none
	Missed  bool    `json:"missed,omitempty"`
	Error   string  `json:"error,omitempty"` // reason of a missing value
	Command string  `json:"command"`         // repeats the measurement
	Commit  string  `json:"commit"`          // of the measured version
}

// A Report collects the rows of a part, in order.
type Report struct{ to *json.Encoder }

func New(w io.Writer) *Report { return &Report{json.NewEncoder(w)} }

// Add adds a row without an aim.
func (r *Report) Add(what string, value float64, unit string) { r.Aimed(what, value, unit, "") }

// Aimed adds a row with an aim, such as "<= 5" or ">= 100".
func (r *Report) Aimed(what string, value float64, unit, aim string) {
	r.Row(Row{What: what, Value: value, Unit: unit, Aim: aim, Missed: !reached(value, aim)})
}

// Failed adds a row for a failed measurement.
func (r *Report) Failed(what, why string) { r.Row(Row{What: what, Error: why}) }

func (r *Report) Row(row Row) {
	if math.IsNaN(row.Value) || math.IsInf(row.Value, 0) {
		row = Row{Table: row.Table, What: row.What, Error: fmt.Sprintf("came out as %v %s", row.Value, row.Unit)}
	}
	if row.Table == "" {
		fmt.Fprintf(os.Stderr, "%s: %s\n", row.What, row.measured())
	}
	if err := r.to.Encode(row); err != nil {
		panic(fmt.Errorf("write a row: %w", err)) // without its results file a run is useless
	}
}

// measured formats the value, or the reason of a missing one.
func (r Row) measured() string {
	if r.Error != "" {
		return "failed: " + r.Error
	}
	return strings.TrimSpace(number(r.Value) + " " + r.Unit)
}

// number formats a value with three significant digits, or all digits before the point.
func number(v float64) string {
	if v == 0 {
		return "0"
	}
	digits := 2 - int(math.Floor(math.Log10(math.Abs(v))))
	return strconv.FormatFloat(v, 'f', min(max(digits, 0), 6), 64)
}

// reached reports whether a value meets an aim; true for "".
func reached(value float64, aim string) bool {
	sign, text, _ := strings.Cut(aim, " ")
	bound, err := strconv.ParseFloat(text, 64)
	switch {
	case aim == "":
		return true
	case err != nil:
		panic(fmt.Errorf("%q is not a valid aim: %w", aim, err))
	case sign == "<=":
		return value <= bound
	case sign == ">=":
		return value >= bound
	}
	panic(fmt.Errorf("%q is not a valid aim", aim))
}

// ReadRows reads the rows of a part; none if the file is missing.
func ReadRows(path string) (rows []Row, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	for decoder := json.NewDecoder(file); ; {
		var r Row
		if err := decoder.Decode(&r); errors.Is(err, io.EOF) {
			return rows, nil
		} else if err != nil {
			return rows, fmt.Errorf("read rows: %w", err)
		}
		rows = append(rows, r)
	}
}

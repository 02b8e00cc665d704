package report

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// Results are the rows of a run of bench, with its machine.
type Results struct {
	Machine Machine `json:"machine"`
	Rows    []Row   `json:"rows"`
}

// key identifies a measurement.
type key struct{ part, table, what string }

func (r Row) key() key { return key{r.Part, r.Table, r.What} }

// Keep writes the results to the folder of their day. Rows of the same day remain for parts that were not
// measured again.
func (r Results) Keep(folder string) error {
	before, err := newest(folder, func(day string) bool { return day < r.Day() })
	if err != nil {
		return err
	}
	others, err := newest(folder, func(day string) bool { return day == r.Day() })
	if err != nil {
		return err
	}
	r.Rows = append(others.without(r.Rows), r.Rows...)
	dir := filepath.Join(folder, r.Day())
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	data, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(filepath.Join(dir, "results.json"), append(data, '\n'), 0o644),
		os.WriteFile(filepath.Join(dir, "results.md"), []byte(r.markdown(before)), 0o644),
	)
}

func (r Results) Day() string { return r.Machine.Date.Format(time.DateOnly) }

// without returns the rows of parts that do not occur in other rows.
func (r Results) without(some []Row) []Row {
	return slices.DeleteFunc(r.Rows, func(row Row) bool {
		return slices.ContainsFunc(some, func(one Row) bool { return one.Part == row.Part })
	})
}

// newest returns the newest results that meet a condition, or none.
func newest(folder string, of func(day string) bool) (r Results, err error) {
	days, err := filepath.Glob(filepath.Join(folder, "????-??-??", "results.json"))
	if err != nil {
		return r, err
	}
	slices.Sort(days)
	for _, path := range slices.Backward(days) {
		if !of(filepath.Base(filepath.Dir(path))) {
			continue
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return r, err
		}
		if err := json.Unmarshal(data, &r); err != nil {
			return r, fmt.Errorf("read %s: %w", path, err)
		}
		return r, nil
	}
	return r, nil
}

// Print writes the tables for a terminal. Missed aims are marked.
func (r Results) Print(w io.Writer) {
	for _, name := range r.tables() {
		out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		fmt.Fprintf(out, "\n%s\n", strings.ToUpper(cmp.Or(name, "what\tmeasured\taim")))
		part := ""
		for _, row := range r.of(name) {
			if name == "" && row.Part != part {
				part = row.Part
				fmt.Fprintf(out, "%s\t\t\n", part)
			}
			mark := ""
			if row.Missed {
				mark = "  missed"
			}
			fmt.Fprintf(out, "  %s\t%s\t%s%s\n", row.What, row.measured(), row.Aim, mark)
		}
		out.Flush()
	}
}

// markdown returns the tables as a page, compared with earlier results.
func (r Results) markdown(before Results) string {
	var b strings.Builder
	b.WriteString(r.Machine.head())
	was := map[key]Row{}
	for _, row := range before.Rows {
		was[row.key()] = row
	}
	if len(was) > 0 {
		fmt.Fprintf(&b, "\nBefore: of %s, commit %s.\n", before.Day(), before.Machine.Commit)
	}
	for _, name := range r.tables() {
		if name != "" {
			fmt.Fprintf(&b, "\n## %s\n", name)
		}
		b.WriteString("\n| what | measured | aim | before |\n|---|---:|---:|---:|\n")
		part := ""
		for _, row := range r.of(name) {
			if name == "" && row.Part != part {
				part = row.Part
				fmt.Fprintf(&b, "| **%s** (`%s`, commit %s) | | | |\n", part, row.Command, row.Commit)
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", cell(row.What), cell(row.measured()), row.aimText(), was[row.key()].measuredText())
		}
	}
	return b.String()
}

// aimText returns the aim, and whether it is missed.
func (r Row) aimText() string {
	if r.Missed {
		return r.Aim + ", missed"
	}
	return r.Aim
}

// measuredText returns the value, if it was measured.
func (r Row) measuredText() string {
	if r.What == "" || r.Error != "" {
		return ""
	}
	return cell(r.measured())
}

// cell escapes a text for a table.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ").Replace(text)
}

// tables returns the names of the tables, the main table, "", first.
func (r Results) tables() []string {
	names := []string{""}
	for _, row := range r.Rows {
		if !slices.Contains(names, row.Table) {
			names = append(names, row.Table)
		}
	}
	return names
}

// of returns the rows of a table.
func (r Results) of(table string) (rows []Row) {
	for _, row := range r.Rows {
		if row.Table == table {
			rows = append(rows, row)
		}
	}
	return rows
}

package rule

import (
	"fmt"
	"strings"
)

// maxFaults is how many faults of a set are named.
const maxFaults = 100

// A Fault is one thing that is wrong with a set of rules.
type Fault struct {
	Pos  Pos    // the zero Pos means the whole set; without a line it means the whole file
	Text string // what is wrong, and what to do
}

// Error returns the fault as in `security.rules:4:12: "when" is missing`.
func (f Fault) Error() string {
	switch {
	case f.Pos.File == "":
		return f.Text
	case f.Pos.Line == 0:
		return f.Pos.File + ": " + f.Text
	}
	return f.Pos.String() + ": " + f.Text
}

// Faults are all that is wrong with a set of rules: one or more, and the first
// 100 of them if there are more.
type Faults []Fault

// Error returns the faults, one a line.
func (f Faults) Error() string {
	lines := make([]string, len(f))
	for i, fault := range f {
		lines[i] = fault.Error()
	}
	if len(f) >= maxFaults {
		lines = append(lines, fmt.Sprintf("there may be more: only %d are named", maxFaults))
	}
	return strings.Join(lines, "\n")
}

// err returns the faults as an error, nil if there are none.
func (f Faults) err() error {
	if len(f) == 0 {
		return nil
	}
	return f
}

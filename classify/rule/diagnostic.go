package rule

import (
	"fmt"
	"strings"
)

// maxDiagnostics bounds the diagnostics of a set.
const maxDiagnostics = 100

// A Diagnostic is an error in a set of rules.
type Diagnostic struct {
	Pos     Pos    // the zero Pos stands for the whole set; without a line for the whole file
	Message string // the problem and its remedy
}

// Error returns the diagnostic with its position, for example `security.rules:4:12: "when" is missing`.
func (f Diagnostic) Error() string {
	switch {
	case f.Pos.File == "":
		return f.Message
	case f.Pos.Line == 0:
		return f.Pos.File + ": " + f.Message
	}
	return f.Pos.String() + ": " + f.Message
}

// Diagnostics are the errors in a set of rules, at least one and at most 100.
type Diagnostics []Diagnostic

// Error returns the diagnostics, one a line.
func (f Diagnostics) Error() string {
	lines := make([]string, len(f))
	for i, fault := range f {
		lines[i] = fault.Error()
	}
	if len(f) >= maxDiagnostics {
		lines = append(lines, fmt.Sprintf("only the first %d errors are listed", maxDiagnostics))
	}
	return strings.Join(lines, "\n")
}

// err returns the diagnostics as an error, nil if there are none.
func (f Diagnostics) err() error {
	if len(f) == 0 {
		return nil
	}
	return f
}

package tables

import "iter"

// A Copy is the content of one table in a form that all engines read and write. Columns that an engine derives from
// others, and tables that only one engine has, are left out.
type Copy struct {
	Name    string
	Columns []string

	// Rows are the values of the columns, as int64, float64, string, []byte or nil. Times are microseconds since
	// 1970, booleans 0 and 1; JSON is text without spaces. A row is valid until the next. An error ends them.
	Rows iter.Seq2[[]any, error]
}

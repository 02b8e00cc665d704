package query

import "fmt"

// A Fault says where a query can't be understood, and what to do.
type Fault struct {
	Pos int // bytes of the query before that
	Msg string
}

// Error returns what to do.
func (f *Fault) Error() string { return f.Msg }

func faultAt(pos int, format string, args ...any) *Fault {
	return &Fault{Pos: pos, Msg: fmt.Sprintf(format, args...)}
}

package query

import "fmt"

// A SyntaxError reports an invalid query, its position and the remedy.
type SyntaxError struct {
	Offset  int // in bytes
	Message string
}

// Error returns the message without the position.
func (f *SyntaxError) Error() string { return f.Message }

func syntaxError(pos int, format string, args ...any) *SyntaxError {
	return &SyntaxError{Offset: pos, Message: fmt.Sprintf(format, args...)}
}

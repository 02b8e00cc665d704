package feed

import "fmt"

// A Kind is the kind of problem that makes a document unreadable, as shown in the feed's status. The set is
// small and fixed, so that kinds can label metrics.
type Kind string

// The kinds of errors.
const (
	Empty     Kind = "empty"              // only white space
	WebPage   Kind = "web page"           // HTML
	Challenge Kind = "login or bot check" // HTML with a login form or a bot check
	OtherJSON Kind = "JSON but no feed"
	OtherXML  Kind = "XML but no feed" // for example OPML or a site map
	Other     Kind = "no feed"         // neither XML nor JSON
	Broken    Kind = "broken"          // a feed damaged beyond repair
	TooDeep   Kind = "too deep"        // nesting exceeds the limit
	TooLarge  Kind = "too large"       // markup exceeds the limits
)

// An Error describes why a document yields no entries.
type Error struct {
	Kind Kind
	Err  error
}

// Error returns the problem in words for users.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

func failed(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Err: fmt.Errorf(format, args...)}
}

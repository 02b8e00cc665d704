package feed

import "fmt"

// A Kind says what is wrong with a document, in words for the feed's status.
// There are few of them, so that they may label metrics.
type Kind string

// The kinds of errors.
const (
	Empty     Kind = "empty"              // nothing but white space
	WebPage   Kind = "web page"           // HTML
	Challenge Kind = "login or bot check" // HTML that asks the visitor for something
	OtherJSON Kind = "JSON but no feed"
	OtherXML  Kind = "XML but no feed" // OPML, a site map
	Other     Kind = "no feed"         // neither XML nor JSON
	Broken    Kind = "broken"          // a feed that nobody can read
	TooDeep   Kind = "too deep"        // nested beyond all reason
	TooLarge  Kind = "too large"       // more markup than we are willing to read
)

// An Error says why a document yields no entries.
type Error struct {
	Kind Kind
	Err  error
}

// Error returns what is wrong, for the feed's reader.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

func failed(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Err: fmt.Errorf(format, args...)}
}

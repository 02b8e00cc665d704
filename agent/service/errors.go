package service

import (
	"errors"
	"fmt"
)

// A Kind says why a request can't be done.
type Kind int

// The kinds of errors.
const (
	KindMalformed    Kind = iota + 1 // it can't be read
	KindInvalid                      // a value is not allowed
	KindNotFound                     // it names nothing that exists
	KindConflict                     // the current state does not allow it
	KindPrecondition                 // it must state the version that it is based on
	KindTooLarge                     // its content exceeds a limit
	KindBusy                         // too many of its kind are running: retry later
)

// An Error is a request that can't be done as asked. Its message is for the user who asked.
type Error struct {
	Kind    Kind
	Message string
	Fields  []FieldError // errors in single parts of the request; optional
}

// A FieldError is an error in one part of a request.
type FieldError struct {
	At      string // such as body.url; empty: the whole body
	Message string
}

// Error returns the message and the errors in single parts.
func (e *Error) Error() string {
	words := e.Message
	for i, f := range e.Fields {
		words += [2]string{": ", "; "}[min(i, 1)] + f.Message
	}
	return words
}

// KindOf returns the kind of an [*Error], or 0 for another error.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return 0
}

// errorf returns an error of a kind.
func errorf(k Kind, format string, args ...any) *Error {
	return &Error{Kind: k, Message: fmt.Sprintf(format, args...)}
}

// fieldf returns an error in one part of a request.
func fieldf(at, format string, args ...any) FieldError {
	return FieldError{At: at, Message: fmt.Sprintf(format, args...)}
}

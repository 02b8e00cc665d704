package fetch

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"time"
)

// A Class says what kind of error ended a fetch. There are few, so they may
// label metrics.
type Class string

// The classes.
const (
	ClassBlocked  Class = "blocked"  // see ErrBlocked
	ClassAddress  Class = "address"  // the URL can't be requested
	ClassDNS      Class = "dns"      // the host's name has no address
	ClassResolver Class = "resolver" // whether it has one can't be found out now
	ClassProxy    Class = "proxy"    // no proxy that we were to go by works
	ClassWall     Class = "bot wall" // the host wants to see a person
	ClassLogin    Class = "login"    // the host wants to know who asks
	ClassConnect  Class = "connect"  // nobody answers there
	ClassTLS      Class = "tls"      // its certificate or handshake is bad
	ClassTimeout  Class = "timeout"  // it took too long
	ClassReset    Class = "reset"    // the connection broke
	ClassRedirect Class = "redirect" // too many, or to nowhere
	ClassClient   Class = "http 4xx"
	ClassServer   Class = "http 5xx"
	ClassStatus   Class = "http other"
	ClassTooLarge Class = "too large"
	ClassEncoding Class = "encoding" // the body is not encoded as it says
)

// An Error is a fetch that brought no document.
type Error struct {
	Class      Class
	Status     int           // HTTP status; 0 if there was no answer
	RetryAfter time.Duration // what the host asks for with 429 and 503; 0 if nothing
	Took       time.Duration // from asking by this way to the failure
	Moved      string        // where permanent redirects led, if all of them were and it may be asked; else ""
	Way        string        // that of the request's Ways it came by; it may have a password in it
	Dead       []string      // those of the request's Ways whose proxy could not be used
	Err        error
}

// maxText is the longest text of an [Error], in bytes: some of them quote what
// a server sent.
const maxText = 300

func (e *Error) Error() string {
	text := e.Err.Error()
	if len(text) <= maxText {
		return text
	}
	return strings.ToValidUTF8(text[:maxText], "") + "..."
}

func (e *Error) Unwrap() error { return e.Err }

// statusError says what an HTTP status other than 200 and 304 means.
func statusError(r *http.Response, now time.Time) *Error {
	e := &Error{Status: r.StatusCode, Class: ClassStatus,
		Err: errors.New(strings.TrimSpace(fmt.Sprintf("the server answered %d %s", r.StatusCode, http.StatusText(r.StatusCode))))}
	switch {
	case r.StatusCode == http.StatusNotModified: // though we have nothing
	case r.StatusCode >= 500:
		e.Class = ClassServer
	case r.StatusCode >= 400:
		e.Class = ClassClient
	case r.StatusCode >= 300:
		e.Class = ClassRedirect
	}
	if r.StatusCode == http.StatusTooManyRequests || r.StatusCode == http.StatusServiceUnavailable {
		e.RetryAfter = retryAfter(r.Header.Get("Retry-After"), now)
	}
	return e
}

// classify tells transport errors apart.
func classify(err error) *Error {
	var known *Error
	var dns *net.DNSError
	var op *net.OpError
	class := ClassReset
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(err, ErrBlocked):
		class = ClassBlocked
	case errors.As(err, &dns) && dns.IsNotFound:
		class = ClassDNS
	case errors.As(err, &dns) && !dns.IsTimeout:
		class = ClassResolver
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), isTimeout(err):
		class = ClassTimeout
	case isTLS(err):
		class = ClassTLS
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
	case errors.As(err, &op) && op.Op == "dial":
		class = ClassConnect
	}
	return &Error{Class: class, Err: err}
}

// isTLS reports whether the handshake failed. Most of its errors have no type.
func isTLS(err error) bool {
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var op *net.OpError
	return errors.As(err, &certificate) || errors.As(err, &record) || errors.Is(err, http.ErrSchemeMismatch) ||
		errors.As(err, &op) && op.Op == "remote error" || // an alert
		strings.HasPrefix(err.Error(), "tls: ")
}

func isTimeout(err error) bool {
	var t net.Error
	return errors.As(err, &t) && t.Timeout()
}

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

// A Class is the kind of error that ended a fetch. The set is small and fixed, so that classes can label
// metrics.
type Class string

// The classes.
const (
	ClassBlocked  Class = "blocked"  // see ErrBlocked
	ClassAddress  Class = "address"  // the URL can't be requested
	ClassDNS      Class = "dns"      // the host name does not exist
	ClassResolver Class = "resolver" // the resolver failed, so that the host name may exist
	ClassProxy    Class = "proxy"    // none of the feed's proxies works
	ClassSecret   Class = "secret"   // a sealed password can't be opened, so that nothing was requested
	ClassBotBlock Class = "bot wall" // the host requires a human visitor
	ClassLogin    Class = "login"    // the host requires a login
	ClassConnect  Class = "connect"  // no connection to the host
	ClassTLS      Class = "tls"      // invalid certificate or failed handshake
	ClassTimeout  Class = "timeout"  // no complete response before the timeout
	ClassReset    Class = "reset"    // the connection broke
	ClassRedirect Class = "redirect" // too many redirects, or an invalid target
	ClassClient   Class = "http 4xx"
	ClassServer   Class = "http 5xx"
	ClassStatus   Class = "http other"
	ClassTooLarge Class = "too large"
	ClassEncoding Class = "encoding" // the body does not match its declared encoding
)

// An Error describes a fetch that returned no document.
type Error struct {
	Class         Class
	Status        int           // HTTP status; 0 without a response
	RetryAfter    time.Duration // delay that the host requests with 429 and 503; 0 if none
	Took          time.Duration // from the start of this route to the failure
	Moved         string        // target of the redirects if all were permanent and it may be requested; else ""
	Route         string        // the request's route that failed; it may contain a password
	FailedProxies []string      // the request's routes whose proxy was unusable
	Err           error
}

// maxText bounds the text of an [Error], in bytes, because some errors quote the server's response.
const maxText = 300

func (e *Error) Error() string {
	text := e.Err.Error()
	if len(text) <= maxText {
		return text
	}
	return strings.ToValidUTF8(text[:maxText], "") + "..."
}

func (e *Error) Unwrap() error { return e.Err }

// statusError returns the error for an HTTP status other than 200, or for a 304 without validators.
func statusError(r *http.Response, now time.Time) *Error {
	e := &Error{Status: r.StatusCode, Class: ClassStatus,
		Err: errors.New(strings.TrimSpace(fmt.Sprintf("the server returned %d %s", r.StatusCode, http.StatusText(r.StatusCode))))}
	switch {
	case r.StatusCode == http.StatusNotModified: // although the request had no validators
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

// classify returns a transport error with its class.
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

// isTLS reports whether the TLS handshake failed. Most of its errors have no type.
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

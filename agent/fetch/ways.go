package fetch

import "net/http"

// maxWays is how many ways one fetch goes at most.
const maxWays = 4

// another reports whether the host may be reached by another way.
func (e *Error) another() bool {
	switch e.Status {
	case http.StatusForbidden, http.StatusProxyAuthRequired, http.StatusTooManyRequests, http.StatusUnavailableForLegalReasons:
		return true
	}
	return e.Class == ClassProxy || e.Class == ClassConnect || e.Class == ClassWall
}

// rank says how much an error tells of the feed: most if its host answered,
// least if only a proxy is to blame.
func (e *Error) rank() int {
	switch {
	case e.Class == ClassProxy:
		return 0
	case e.Status == 0:
		return 1
	}
	return 2
}

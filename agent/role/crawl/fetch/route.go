package fetch

import "net/http"

// maxRoutes bounds the routes of one fetch.
const maxRoutes = 4

// TryOtherRoute reports whether another route may reach the host.
func (e *Error) TryOtherRoute() bool {
	switch e.Status {
	case http.StatusForbidden, http.StatusProxyAuthRequired, http.StatusTooManyRequests, http.StatusUnavailableForLegalReasons:
		return true
	}
	return e.Class == ClassProxy || e.Class == ClassConnect || e.Class == ClassBotBlock
}

// rank orders errors by how much they concern the feed: highest if its host responded, lowest if only a proxy
// failed.
func (e *Error) rank() int {
	switch {
	case e.Class == ClassProxy:
		return 0
	case e.Status == 0:
		return 1
	}
	return 2
}

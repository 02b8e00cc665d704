package fetch

import "net/http"

// Weights of failures.
const (
	temporary = 0.25
	soft      = 0.5
	hard      = 1
)

// Weight returns how much a failure counts towards disabling a feed: 1 for permanent failures, 0.5 for
// failures that a person at either end may repair, 0.25 for temporary failures, and 0 for failures of our own
// proxies and keys. status is the HTTP status, 0 without a response.
//
// Source: Media Cloud's rss-fetcher, fetcher/tasks.py, which counts hard, soft and temporary failures by
// these numbers.
func Weight(class Class, status int) float64 {
	switch class {
	case ClassProxy, ClassSecret:
		return 0
	case ClassTimeout, ClassReset, ClassConnect, ClassResolver, ClassServer:
		return temporary
	case ClassDNS, ClassAddress:
		return hard
	case ClassClient:
		return weightOf4xx(status)
	}
	return soft
}

func weightOf4xx(status int) float64 {
	switch status {
	case http.StatusTooManyRequests, http.StatusRequestTimeout:
		return temporary
	case http.StatusNotFound, http.StatusGone:
		return hard
	}
	return soft
}

package fetch

import "net/http"

// What failures count.
const (
	temporary = 0.25
	soft      = 0.5
	hard      = 1
)

// Weight says how much a failure counts towards giving up on a feed: 1 for
// what will not mend itself, 0.5 for what a person at either end may mend,
// 0.25 for what passes by itself, and 0 for what is the fault of our own
// proxies. status is the HTTP one, 0 if there was no answer.
//
// Source: Media Cloud's rss-fetcher, fetcher/tasks.py, which counts hard, soft
// and temporary failures by these numbers.
func Weight(class Class, status int) float64 {
	switch class {
	case ClassProxy:
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

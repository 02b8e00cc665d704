package api

import "time"

// NextPoll says in words when the feed is polled next; at puts a time in words.
func (f Feed) NextPoll(now time.Time, at func(time.Time) string) string {
	switch s := f.State; {
	case s == nil:
		return "soon"
	case s.Crawl != "":
		return "under way"
	case s.Next.IsZero():
		return "never"
	case s.Next.Before(now):
		return "due"
	default:
		return at(s.Next)
	}
}

// LastPoll says in words how the feed's last poll ended.
func (f Feed) LastPoll() string {
	switch s := f.State; {
	case s == nil || s.Polled.IsZero():
		return "none yet"
	case s.Failures > 0 && s.Class != "":
		return "failed: " + s.Class
	default:
		return string(s.Outcome)
	}
}

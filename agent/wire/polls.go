package wire

import "time"

// PollHistory is the history of a feed's polls, newest first.
type PollHistory struct {
	Polls []PollView `json:"polls" doc:"At most fifty; one entry stands for up to ten polls in a row without new items."`
}

// A PollView is one poll of a feed.
type PollView struct {
	At     time.Time `json:"at"`
	Took   int64     `json:"took_ms"`
	Status int       `json:"status,omitempty" doc:"HTTP; absent without an answer."`
	Size   int64     `json:"size" doc:"Bytes of the document; 0 where there is none, as with 304."`
	Class  string    `json:"class,omitempty" doc:"Class of the error; absent after success."`
	What   string    `json:"what" doc:"Description of the result."`
	Reason string    `json:"reason,omitempty" doc:"Why the feed was polled then; absent if an older agent recorded the poll."`
	Proxy  string    `json:"proxy,omitempty" doc:"ID of the proxy used."`
	Before int       `json:"before,omitempty" doc:"Number of polls just before it without new items, which are not stored separately."`
}

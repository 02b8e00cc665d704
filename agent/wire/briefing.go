package wire

import (
	"time"

	"feedmesh/agent/access"
)

// Authors of a [Briefing].
const (
	ByModel   = "model"
	ByExtract = "extract"
)

// Reasons why a [Briefing] is not written by a model, or was written about other items.
const (
	BriefingOff         = "off"
	BriefingEmpty       = "empty"
	BriefingUnrequested = "unrequested"
	BriefingOlder       = "older"
	BriefingRunning     = "running"
	BriefingBudget      = "budget"
	BriefingBusy        = "busy"
	BriefingPaused      = "paused"
	BriefingTimeout     = "timeout"
	BriefingUnreachable = "unreachable"
	BriefingRefused     = "refused"
	BriefingUnreadable  = "unreadable"
	BriefingUncited     = "uncited"
)

// A BriefingRequest requests a briefing about the top stories, or about a view.
type BriefingRequest struct {
	View     string `query:"view" maxLength:"64" doc:"Name of a view to report on, in place of the top stories."`
	Hours    int    `query:"hours" minimum:"1" maximum:"336" doc:"Hours that the top stories are from; 24 without it. Not with a view, which has a window of its own."`
	Language string `query:"language" maxLength:"32" doc:"Language to write in, such as English or ru; without it that of most items."`
}

// A Briefing is a short text about items, each sentence of which cites some.
type Briefing struct {
	By        string             `json:"by" enum:"model,extract" doc:"model: written by a language model; extract: sentences quoted from the items."`
	Reason    string             `json:"reason,omitempty" enum:"off,empty,unrequested,older,running,budget,busy,paused,timeout,unreachable,refused,unreadable,uncited" doc:"Why it is not written by the model, or older: about items that have changed since."`
	Why       string             `json:"why,omitempty" doc:"The same in words."`
	Model     string             `json:"model,omitempty" doc:"Name of the model that wrote it."`
	Written   time.Time          `json:"written"`
	Sentences []BriefingSentence `json:"sentences" doc:"Plain text, never HTML or Markdown."`
	LeftOut   int                `json:"left_out" doc:"Sentences of the model that were left out since they cite no item, or one that it did not get."`
	Items     []BriefingItem     `json:"items" doc:"Items that the sentences cite, by number."`
}

// A BriefingSentence is a sentence with the items that it is from.
type BriefingSentence struct {
	Text  string `json:"text"`
	Items []int  `json:"items" doc:"Numbers of items, at least one."`
}

// A BriefingItem is an item that a briefing cites.
type BriefingItem struct {
	Number int `json:"number"`
	ItemBrief
}

// MaxBriefingTime bounds the request to the endpoint that writes a briefing. Models on small machines take minutes.
const MaxBriefingTime = 2 * time.Minute

// GetBriefing returns a briefing. It requests the endpoint unless the answer is cached.
var GetBriefing = Operation[BriefingRequest, Briefing]{ID: "get-briefing", Method: "GET", Path: "/api/briefing", Tag: "stories", Scope: access.Search,
	Summary: "A short text about the top stories or a view, each sentence with its items",
	Description: "It is written by the language model of the settings `briefing.url` and `briefing.model`, or cached; otherwise it consists of sentences of the items, and states why. " +
		"An answer takes at most two minutes.",
	Errors: []int{404, 422, 503}, Within: MaxBriefingTime + 15*time.Second}

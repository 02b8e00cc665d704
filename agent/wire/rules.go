package wire

import (
	"time"

	"feedmesh/agent/workbench"
)

// A Backtest is a back-test that runs in the background, or has ended. Only the process that started it
// stores it, and only the last maxKeptBacktests.
type Backtest struct {
	ID     string
	Set    string // of rules
	From   int64  // base version of Text
	Text   string
	Note   string // note for saving Text
	Items  int    // number of items to check, at most
	Done   int    // number of items checked
	Ended  bool
	Err    string           // error text, if it failed
	Report workbench.Report // set when Ended
}

// RuleSets are the rule sets of the mesh.
type RuleSets struct {
	Sets []RuleSet `json:"sets"`
}

// A RuleSet is a rule set, without its text.
type RuleSet struct {
	Name    string      `json:"name"`
	Does    string      `json:"does" doc:"Purpose of the set, in a line."`
	Version int64       `json:"version" doc:"Newest version; 0: none is saved, and the built-in rules apply."`
	Note    string      `json:"note,omitempty" doc:"Note of its author."`
	Changed time.Time   `json:"changed,omitzero"`
	Agents  []RuleAgent `json:"agents" doc:"Processes that use the set."`
}

// A RuleAgent is the version of a set that an agent uses.
type RuleAgent struct {
	ID      string `json:"id"`
	Host    string `json:"host"`
	Version int64  `json:"version" doc:"0: the built-in rules."`
}

// A RuleVersion is a version of a rule set, without its text.
type RuleVersion struct {
	Version int64     `json:"version"`
	Note    string    `json:"note,omitempty"`
	Changed time.Time `json:"changed"`
}

// A RuleVersionPage is a page of versions, newest first.
type RuleVersionPage struct {
	Versions []RuleVersion `json:"versions"`
	Next     int64         `json:"next,omitempty" doc:"Value of before for the next page; absent on the last."`
}

// A RuleText is a version of a rule set with its text.
type RuleText struct {
	Name    string `json:"name"`
	Version int64  `json:"version"` // 0: built-in
	Text    string `json:"text"`
}

// A RuleSetDetail is a version of a rule set, with the operations that the set supports. Methods on rules
// return errors with an HTTP status ([huma.StatusError]) if the request is invalid.
type RuleSetDetail struct {
	Name     string
	Does     string
	Version  int64  // of Text; 0: built-in
	Newest   int64  // newest version; 0 if none
	Text     string // empty if it is binary
	Readable bool   // it is text
	Decides  bool   // decides labels of items: can be tested and applied
	Learns   bool   // can be trained
}

// A RuleCheck is the result of checking a text.
type RuleCheck struct {
	Valid    bool     `json:"sound"`
	Problems []string `json:"faults" doc:"All errors; empty if the text is valid."`
	Warnings []string `json:"warnings" doc:"Warnings for a valid text, which can be saved nevertheless."`
}

// A SavedRules is a version that was saved.
type SavedRules struct {
	RuleVersion
	Notified bool `json:"told" doc:"Whether it was published to the mesh; if not, that is retried within a minute."`
}

// A RuleTest is an item or a document to test rules on.
type RuleTest struct {
	Text     string           `json:"text,omitempty" maxLength:"4194304" doc:"Text of the rules; by default of the newest version."`
	Item     string           `json:"item,omitempty" maxLength:"64" doc:"ID of an item."`
	Document *workbench.Draft `json:"document,omitempty" doc:"A document, instead of an item."`
}

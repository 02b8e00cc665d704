package wire

import (
	"time"

	"feedmesh/agent/access"
	"feedmesh/storage"
)

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

// A RuleSetDetail is a version of a rule set, with the operations that the set supports.
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

// A RuleVersionRequest names a version of a rule set.
type RuleVersionRequest struct {
	Name    string `path:"name" maxLength:"32" doc:"Name of a rule set."`
	Version int64  `query:"version" minimum:"1" doc:"By default the newest."`
}

// An ApplyRulesRequest is a request to relabel stored items by a version of a rule set.
type ApplyRulesRequest struct {
	Name    string `path:"name" maxLength:"32" doc:"Name of a rule set."`
	Version int64  `query:"version" minimum:"1" doc:"By default the newest."`
	All     bool   `query:"all" doc:"Relabel all items, not only those that the version decides differently: the newest from the version before it, an older one from the newest."`
}

// A RuleVersionSearch is a request for a page of versions.
type RuleVersionSearch struct {
	Name   string `path:"name" maxLength:"32" doc:"Name of a rule set."`
	Before int64  `query:"before" minimum:"0" doc:"The value of next of the previous page."`
	Limit  int    `query:"limit" minimum:"1" maximum:"50" default:"20" doc:"Maximum length of the page."`
}

// A PutRulesRequest saves a text as the next version.
type PutRulesRequest struct {
	Name    string `path:"name" maxLength:"32" doc:"Name of a rule set."`
	IfMatch string `header:"If-Match" maxLength:"32" doc:"Base version of the text, as in ETag."`
	Version string `query:"version" maxLength:"18" doc:"The same, for clients that can't send headers."`
	Note    string `query:"note" maxLength:"200" doc:"Note for the list of versions."`
	RawBody []byte `contentType:"text/plain"`
}

// A RuleTextRequest sends a text for a rule set.
type RuleTextRequest struct {
	Name    string `path:"name" maxLength:"32" doc:"Name of a rule set."`
	RawBody []byte `contentType:"text/plain"`
}

// A RestoreRulesRequest saves the text of an old version as the next one.
type RestoreRulesRequest struct {
	Name    string `path:"name" maxLength:"32" doc:"Name of a rule set."`
	Version int64  `query:"version" required:"true" minimum:"0" doc:"Version to restore; 0: the built-in rules."`
}

// A TrainRequest trains the next version of a rule set.
type TrainRequest struct {
	Name  string `path:"name" maxLength:"32" doc:"Name of a rule set."`
	Items int    `query:"items" minimum:"1" maximum:"100000" default:"20000" doc:"Number of newest items to train on, besides corrected items."`
}

// A DiffRequest compares two versions of a rule set.
type DiffRequest struct {
	Name string `path:"name" maxLength:"32" doc:"Name of a rule set."`
	From int64  `query:"from" required:"true" minimum:"0" doc:"Old version; 0: the built-in rules."`
	To   int64  `query:"to" minimum:"1" doc:"The new version; by default the newest."`
}

// maxRules is the maximum length of a text in a request, in bytes.
const maxRules = storage.MaxRules

// The operations on rule sets.
var (
	ListRules = Operation[None, RuleSets]{ID: "list-rules", Method: "GET", Path: "/api/rules", Tag: "rules", Scope: access.Read,
		Summary: "List rule sets, and the version that each agent uses", Errors: []int{503}}
	GetRules = Operation[RuleVersionRequest, Document]{ID: "get-rules", Method: "GET", Path: "/api/rules/{name}", Tag: "rules", Scope: access.Read,
		Summary: "The text of a rule set", Errors: []int{404, 503}, Type: "text/plain",
		Description: "Returns the text as saved, or the built-in rules if none is saved. ETag contains the version."}
	PutRules = Operation[PutRulesRequest, SavedRules]{ID: "put-rules", Method: "PUT", Path: "/api/rules/{name}", Tag: "rules", Scope: access.Rules,
		Summary: "Put a text as the next version of a rule set", Errors: []int{400, 404, 409, 413, 422, 428, 503}, MaxBody: maxRules,
		Description: "Its base version must be the newest, stated by If-Match or the query; 0 if no version is saved. All agents use it within a second. An invalid text changes nothing."}
	ListRuleVersions = Operation[RuleVersionSearch, RuleVersionPage]{ID: "list-rule-versions", Method: "GET", Path: "/api/rules/{name}/versions", Tag: "rules",
		Scope: access.Read, Summary: "The last 50 versions of a rule set, newest first", Errors: []int{404, 503}}
	CheckRules = Operation[RuleTextRequest, RuleCheck]{ID: "check-rules", Method: "POST", Path: "/api/rules/{name}/check", Tag: "rules", Scope: access.Read,
		Summary: "Check a text without saving it", Errors: []int{400, 404, 413}, MaxBody: maxRules}
	RestoreRules = Operation[RestoreRulesRequest, SavedRules]{ID: "restore-rules", Method: "POST", Path: "/api/rules/{name}/restore", Tag: "rules",
		Scope: access.Rules, Summary: "Put the text of an old version as the next one", Errors: []int{404, 409, 422, 503}}
	DiffRules = Operation[DiffRequest, Document]{ID: "diff-rules", Method: "GET", Path: "/api/rules/{name}/diff", Tag: "rules", Scope: access.Read,
		Summary: "Unified diff of two versions of a rule set", Errors: []int{404, 422, 503}, Type: "text/plain"}
	TestRules = Operation[TestRulesRequest, TrialResult]{ID: "test-rules", Method: "POST", Path: "/api/rules/{name}/test", Tag: "rules",
		Scope: access.Read, Summary: "Test rules on one item or document", Errors: []int{400, 404, 413, 422, 503}}
	BacktestRules = Operation[BacktestRequest, Report]{ID: "backtest-rules", Method: "POST", Path: "/api/rules/{name}/backtest", Tag: "rules",
		Scope: access.Rules, Summary: "Back-test a text on the newest items", Errors: []int{400, 404, 413, 422, 429, 503}, MaxBody: maxRules,
		Description: "Compares the decisions of the text with those of the rules in force, and reports the rules with most and no matches, conflicts between rules, and contradictions of manual corrections. Nothing is changed. It stops when the client disconnects."}
	ApplyRules = Operation[ApplyRulesRequest, Job]{ID: "apply-rules", Method: "POST", Path: "/api/rules/{name}/apply", Tag: "rules", Scope: access.Rules,
		Summary: "Relabel stored items by a version of a rule set", Errors: []int{404, 422, 429, 503}, Status: 202,
		Description: "Returns the job, which relabels newest items first; poll it until its state is no longer running. If a job for the version is waiting or running, that job is returned. Relabels the items that a back-test of the version against the rules in force before it reports as changed. Manually corrected items stay unchanged."}
	TrainRules = Operation[TrainRequest, Job]{ID: "train-rules", Method: "POST", Path: "/api/rules/{name}/train", Tag: "rules", Scope: access.Rules,
		Summary: "Train the next version of a rule set on stored items", Errors: []int{404, 422, 429, 503}, Status: 202,
		Description: "Trains on manual corrections and on confident decisions of the rules. Returns the job; the new version is in force when the job is done."}
)

const RulesType = "text/plain; charset=utf-8"

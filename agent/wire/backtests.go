package wire

// A BacktestRequest back-tests a text.
type BacktestRequest struct {
	Name    string `path:"name" maxLength:"32" doc:"Name of a rule set."`
	Items   int    `query:"items" minimum:"1" maximum:"100000" default:"2000" doc:"Number of newest items to test."`
	RawBody []byte `contentType:"text/plain"`
}

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
	Err    string // error text, if it failed
	Report Report // set when Ended
}

// A Report is the result of a back-test.
type Report struct {
	Items         int              `json:"items" doc:"Items tested, from the newest days."`
	Corrected     int              `json:"corrected" doc:"Items with manual corrections, whose labels stay. They count only in the matches of rules below."`
	Outdated      int              `json:"outdated" doc:"Items whose stored labels differ from those of the rules in force; applying the rules changes these too."`
	MicrosPerItem float64          `json:"micros_per_item" doc:"Processor time per item, in microseconds."`
	Effects       Effects          `json:"effects"`
	Categories    []Shift          `json:"categories" doc:"By name."`
	Topics        []Shift          `json:"topics" doc:"The 200 that change most, largest change first."`
	Samples       Samples          `json:"samples"`
	Busiest       []RuleCount      `json:"busiest" doc:"The 50 rules with most matches."`
	Never         []string         `json:"never" doc:"Rules that match no item, in the order of the set; at most 1,000."`
	NeverCount    int              `json:"never_count" doc:"Number of rules that match no item."`
	Conflicts     []Conflict       `json:"conflicts" doc:"Rules, and categories, that often match together and disagree."`
	Corrections   CorrectionReport `json:"said" doc:"Results on manually corrected items."`
}

// Effects counts the items that change. An item may count in several fields.
type Effects struct {
	Same   int `json:"same" doc:"Items that do not change."`
	Spam   int `json:"spam" doc:"Items that become spam."`
	Clean  int `json:"clean" doc:"Items that are no longer spam."`
	Gained int `json:"gained" doc:"Items that gain a category or topic."`
	Lost   int `json:"lost" doc:"Items that lose a category or topic."`

	Changed int `json:"changed" doc:"Items that an apply relabels: those above, and items whose flags, score, or order of labels change."`
}

// A Shift is the number of items with a label before and after.
type Shift struct {
	Name   string `json:"name"`
	Before int    `json:"before"`
	After  int    `json:"after"`
}

// Samples are items for which something changes, at most 20 of each kind.
type Samples struct {
	Spam   []Sample `json:"spam"`
	Clean  []Sample `json:"clean"`
	Gained []Sample `json:"gained"`
	Lost   []Sample `json:"lost"`
}

// A Sample is an item before and after.
type Sample struct {
	ID     string   `json:"id"`
	FeedID string   `json:"feed_id"`
	Title  string   `json:"title"`
	URL    string   `json:"url,omitempty"`
	Before Labelled `json:"before"`
	After  Labelled `json:"after"`
	Why    []string `json:"why" doc:"Reasons of the decision after; for a lost label, of the decision before."`
}

// Labelled is the labels of an item.
type Labelled struct {
	Spam       bool     `json:"spam,omitempty"`
	Categories []string `json:"categories" doc:"Best first."`
	Topics     []string `json:"topics"`
}

// A RuleCount is the number of items that a rule matches.
type RuleCount struct {
	Rule  string `json:"rule" doc:"File and line, such as devops.rules:4."`
	Items int    `json:"items"`
}

// A Conflict is two categories, or two confident rules for different categories, that often match the same
// item. It need not be an error: one category may be a part of the other. Often a rule lacks an exception.
type Conflict struct {
	Kind       string    `json:"kind" enum:"categories,rules"`
	A          string    `json:"a" doc:"Name of a category, or file and line of a rule."`
	B          string    `json:"b"`
	Categories [2]string `json:"says" doc:"Their categories."`
	Items      int       `json:"items" doc:"Items with both."`
	Of         int       `json:"of" doc:"Items with the rarer of the two."`
}

// CorrectionReport compares rules with manual corrections.
type CorrectionReport struct {
	Items int             `json:"items" doc:"Corrected items compared, earliest correction first; at most 10,000."`
	Right int             `json:"right" doc:"Of these, the items whose labels agree with the correction: spam, the first category, the topics. Fields without a correction are ignored."`
	Wrong []Contradiction `json:"wrong" doc:"The 50 rules whose confident conclusions most often contradict corrections."`
}

// A Contradiction is a rule that concludes a category that corrections removed.
type Contradiction struct {
	Rule     string `json:"rule"`
	Category string `json:"says" doc:"Category that the rule concludes."`
	Items    int    `json:"items" doc:"Corrected items without that category."`
	Of       int    `json:"of" doc:"Corrected items that the rule matches."`
}

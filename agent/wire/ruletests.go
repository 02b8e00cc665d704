package wire

// A RuleTest is an item or a document to test rules on.
type RuleTest struct {
	Text     string `json:"text,omitempty" maxLength:"4194304" doc:"Text of the rules; by default of the newest version."`
	Item     string `json:"item,omitempty" maxLength:"64" doc:"ID of an item."`
	Document *Draft `json:"document,omitempty" doc:"A document, instead of an item."`
}

// A Draft is a document to test rules on. All fields may be empty.
type Draft struct {
	Title    string   `json:"title,omitempty" maxLength:"1000"`
	Text     string   `json:"text,omitempty" maxLength:"1000000" doc:"Plain text; by default extracted from the HTML."`
	HTML     string   `json:"html,omitempty" maxLength:"1000000"`
	URL      string   `json:"url,omitempty" maxLength:"2048"`
	Author   string   `json:"author,omitempty" maxLength:"200"`
	Language string   `json:"language,omitempty" maxLength:"8" doc:"ISO 639-1; by default detected."`
	Tags     []string `json:"tags,omitempty" maxItems:"100" doc:"The publisher's categories."`
	FeedID   string   `json:"feed_id,omitempty" maxLength:"64" doc:"ID of the feed whose settings apply."`
}

// A TestRulesRequest tests rules on an item or a document.
type TestRulesRequest struct {
	Name string `path:"name" maxLength:"32" doc:"Name of a rule set."`
	Body RuleTest
}

// A TrialResult is the decision of rules on a document.
type TrialResult struct {
	Spam       bool          `json:"spam"`
	SpamScore  float64       `json:"spam_score" doc:"0 to 1."`
	Flags      []string      `json:"flags"`
	Categories []string      `json:"categories" doc:"Best first."`
	Topics     []string      `json:"topics" doc:"Best first."`
	Score      float64       `json:"score" doc:"Sum of the scores that rules add."`
	Notify     []string      `json:"notify" doc:"Texts of the notifications that rules send."`
	Sentiment  float64       `json:"sentiment" doc:"-1 to 1; 0 if disabled."`
	Guessed    bool          `json:"guessed" doc:"Whether the model, not the rules, chose the categories."`
	Why        []string      `json:"why"`
	Matched    []MatchedRule `json:"fired" doc:"All matching rules, in the order of the set."`
	Micros     float64       `json:"micros" doc:"Time of the decision, in microseconds."`

	Stored *Labelled `json:"stored,omitempty" doc:"Labels of the item in the store."`
}

// A MatchedRule is a matching rule.
type MatchedRule struct {
	Rule     string     `json:"rule" doc:"File and line, such as devops.rules:4."`
	Points   float64    `json:"points"`
	Evidence []Evidence `json:"evidence" doc:"Matching parts of its condition, at most three."`
}

// Evidence is the matching part of a rule's condition.
type Evidence struct {
	Words string `json:"words" doc:"As written in the rule."`
	Field string `json:"field,omitempty"`
}

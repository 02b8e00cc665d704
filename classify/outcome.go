package classify

// Threshold is the number of points from which a category or topic is assigned: for example one term in the
// title.
const Threshold = 3.0

// An Outcome is the result of evaluating rules on a document. Its slices share memory; the caller must not
// change them.
type Outcome struct {
	Labels                 []Label     // labels with points, including those below Threshold: most points first, then by name, a category before a topic
	Matched                []RuleMatch // rules whose condition holds, in the order of the set
	Score                  float64     // sum of the scores that rules added
	Notify                 []string    // notification texts in the order of the set; the rule's position if it has no text
	Star, Mute, Quarantine bool
}

// A Label is a category or topic with its points.
type Label struct {
	Topic   bool
	Name    string
	Points  float64     // assigned from Threshold on
	Matches []RuleMatch // largest contributions first, at most 3
}

// A RuleMatch is a rule whose condition holds.
type RuleMatch struct {
	Rule     string     // its position, "devops.rules:4"
	Evidence []Evidence // at most 3, best fields first
	Points   float64    // given to its category and topic before the body's part is capped, or added to the score
}

// Evidence is a term that occurs, or a fact that holds.
type Evidence struct {
	Words string // as written in the rule
	Field string // "title"; empty for a fact
}

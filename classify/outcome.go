package classify

// Threshold is how many points make a category or topic the document's: one term
// in the title, or the like.
const Threshold = 3.0

// An Outcome is what rules say of a document. Parts of it share memory, so the
// caller must not change it.
type Outcome struct {
	Labels                 []Label  // those that have points, most points first, then by name, a category before a topic; also those below Threshold
	Fired                  []Fired  // the rules that hold, in the order of the set
	Score                  float64  // what rules added
	Notify                 []string // what to say to those who listen, in the order of the set; a rule's place where it says nothing
	Star, Mute, Quarantine bool
}

// A Label is a category or topic that something speaks for.
type Label struct {
	Topic  bool
	Name   string
	Points float64 // Threshold and more make it the document's
	Why    []Fired // at most 3, what weighs most first
}

// Fired is a rule that holds.
type Fired struct {
	Rule     string     // its place, "devops.rules:4"
	Evidence []Evidence // at most 3, best fields first
	Points   float64    // what it gave its category and topic, before the body's part is capped, or added to the score
}

// Evidence is a term that occurs, or a fact that is known.
type Evidence struct {
	Words string // as the rule has it
	Field string // "title"; empty for a fact
}

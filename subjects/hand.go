package subjects

// A Hand is what a person decided of items, events and stories of one lane. It
// goes the way of items, for the one actor that places these to do it.
type Hand struct {
	ID string `json:"id"` // drawn
	Do Doing  `json:"do"`
	A  string `json:"a"`
	B  string `json:"b,omitempty"`
}

// A Doing names what a person does to A, or to A and B.
type Doing string

// What persons do. It holds against all that is found later.
const (
	SplitItem   Doing = "split item"   // item A leaves its event and story
	SplitEvent  Doing = "split event"  // event A leaves its story
	JoinStories Doing = "join stories" // story B becomes part of story A
	RepeatItem  Doing = "repeat item"  // item B repeats item A, and belongs to its event
	DifferItem  Doing = "differ item"  // item A does not repeat what it is said to repeat
)

package subjects

// Override is a manual edit of items, events or stories of one partition. It travels on the cluster queue
// because only the partition's active cluster actor changes their placement.
type Override struct {
	ID   string   `json:"id"` // random
	Kind EditKind `json:"do"`
	A    string   `json:"a"`
	B    string   `json:"b,omitempty"`
}

// EditKind names a manual edit of A, or of A and B.
type EditKind string

// The manual edits. They take precedence over all later automatic decisions.
const (
	SplitItem   EditKind = "split item"   // item A leaves its event and story
	SplitEvent  EditKind = "split event"  // event A leaves its story
	JoinStories EditKind = "join stories" // story B becomes part of story A
	RepeatItem  EditKind = "repeat item"  // item B is a duplicate of item A and joins its event
	DifferItem  EditKind = "differ item"  // item A is not a duplicate of its assigned original
)

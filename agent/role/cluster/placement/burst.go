package placement

import "time"

// BurstsNote is the name under which [storage.Notes] store the current bursts: a JSON list of [Burst].
const BurstsNote = "bursts"

// A Burst is a story, category or topic whose items arrive faster than before.
type Burst struct {
	Of    string    `json:"of"`   // "story", "category" or "topic"
	Name  string    `json:"name"` // the story's ID, or the name
	Since time.Time `json:"since"`
	Items int       `json:"items"` // since then
}

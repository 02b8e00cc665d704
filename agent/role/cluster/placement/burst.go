package placement

import "time"

// BurstsNote is the name under which [storage.Notes] store the current bursts: a JSON list of [Burst].
const BurstsNote = "bursts"

// The kinds of bursts.
const (
	OfStory    = "story"
	OfCategory = "category"
	OfTopic    = "topic"
	OfView     = "view" // its name is the view's number; only alerts read it
)

// A Burst is a story, category, topic or view whose items arrive faster than before.
type Burst struct {
	Of    string    `json:"of"`
	Name  string    `json:"name"` // the story's ID, or the name
	Since time.Time `json:"since"`
	Items int       `json:"items"` // since then
}

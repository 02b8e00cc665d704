package tell

import "time"

// BurstsNote is the name under which [storage.Notes] has what bursts at present: a
// list of [Burst], as JSON.
const BurstsNote = "bursts"

// A Burst is something whose items come more often than they used to.
type Burst struct {
	Of    string    `json:"of"`   // "story", "category" or "topic"
	Name  string    `json:"name"` // its ID, or its name
	Since time.Time `json:"since"`
	Items int       `json:"items"` // since then
}

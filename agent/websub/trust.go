package websub

// Trust is the reliability of a hub's pushes: 0 for none, approaching 1 while it pushes all new content. Call
// its methods in the order of the events.
type Trust float64

// Pushed records a push with new content.
func (t *Trust) Pushed() { *t += (1 - *t) / 4 }

// Missed records new content that was not pushed.
func (t *Trust) Missed() { *t /= 2 }

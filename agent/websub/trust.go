package websub

// Trust is how far a feed's hub can be relied on to push all that is new: 0 not
// at all, towards 1 as it keeps doing so. Who keeps it calls its methods in the
// order of what was seen.
type Trust float64

// Pushed takes note that a push brought something new.
func (t *Trust) Pushed() { *t += (1 - *t) / 4 }

// Missed takes note that something new was found that no push had brought.
func (t *Trust) Missed() { *t /= 2 }

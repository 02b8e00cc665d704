package policy

import "time"

// Newest returns the date of the newest item learned; zero if there is none.
func (m *Model) Newest() time.Time {
	if m.newest == 0 {
		return time.Time{}
	}
	return time.Unix(m.newest, 0).UTC()
}

package keep

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"feedmesh/storage"
)

// A State is what the last round found and did. It is stored as a note of the store, for the console and for the
// next holder of the lease.
type State struct {
	Policy   Policy    `json:"policy"`   // of the last round
	Settings string    `json:"settings"` // hash of all settings that the plan follows, those of feeds included
	Counted  time.Time `json:"counted"`  // when Plan was counted
	Plan     Plan      `json:"plan"`
	Begins   time.Time `json:"begins,omitzero"` // when the plan is purged; zero: nothing is to be purged
	Reason   Reason    `json:"reason,omitempty"`

	Ended  time.Time `json:"ended,omitzero"` // when the last purge that deleted items ended
	Purged int64     `json:"purged"`         // items that it deleted
}

// A Reason states why a purge begins when it does.
type Reason string

// The reasons.
const (
	Small   Reason = "few items"            // the daily rest: purged immediately
	Changed Reason = "the settings changed" // purged an hour later
	Large   Reason = "a large part of the items although no setting changed: is the clock right, or was the node off for long?"
)

const (
	changedDelay = time.Hour      // from a changed setting to the purge that it causes
	largeDelay   = 24 * time.Hour // from the discovery of a large purge without a changed setting to the purge
	staleAfter   = 48 * time.Hour // after its begin, the announcement of a purge that has not ended is void

	// A purge of at least largeItems that are more than one in largeShare of all items is large.
	largeItems = 1000
	largeShare = 10
)

// announce returns the state after a count: when and why the plan is purged. A purge that was announced and has not
// ended goes on, unless the settings changed.
func announce(last State, settings string, plan Plan, stored int64, now time.Time) State {
	next := last
	next.Settings, next.Counted, next.Plan = settings, now, plan
	isLarge := plan.Items >= largeItems && plan.Items*largeShare > stored
	switch {
	case plan.Items == 0:
		next.Begins, next.Reason = time.Time{}, ""
	case settings != last.Settings:
		next.Begins, next.Reason = now.Add(changedDelay), Changed
	case !last.Begins.IsZero() && now.Sub(last.Begins) < staleAfter && last.Begins.Sub(now) <= largeDelay && (last.Reason != Small || !isLarge):
	case isLarge:
		next.Begins, next.Reason = now.Add(largeDelay), Large
	default:
		next.Begins, next.Reason = now, Small
	}
	return next
}

// noteName is the name of the note that stores the state.
const noteName = "retention"

// ReadState returns the state of the last round; the zero State before the first. An unreadable note counts as none:
// then the next purge is announced again.
func ReadState(ctx context.Context, from storage.Records) (State, error) {
	text, err := storage.Notes(from).Read(ctx, noteName)
	var s State
	if err != nil || json.Unmarshal(text, &s) != nil {
		return State{}, err
	}
	return s, nil
}

func putState(ctx context.Context, to storage.Records, fence storage.Fence, s State) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return storage.Notes(to).Put(ctx, fence, noteName, text)
}

// hashOf returns a short hash of the settings.
func hashOf(settings string) string {
	sum := sha256.Sum256([]byte(settings))
	return hex.EncodeToString(sum[:8])
}

package secret

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// A failure is the error of the last poll for which a value was to be opened, in this process or another.
type failure struct {
	err error
	at  time.Time
}

const (
	maxFailures = 1000           // recorded
	failureAge  = 48 * time.Hour // after which a failure is forgotten: feeds are polled more often
	maxListed   = 5              // owners that [Keys.Check] lists
)

// Observe records whether the values of a feed, proxy or subscription could be opened for a request.
func (k *Keys) Observe(owner string, err error) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if err == nil {
		delete(k.polls, owner)
	} else if len(k.polls) < maxFailures {
		k.polls[owner] = failure{err, time.Now()}
	}
}

// Check returns an error that states which values can't be opened, or are in clear text, and what to do.
func (k *Keys) Check(ctx context.Context) error {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	failed := maps.Clone(k.failed)
	for owner, f := range k.polls {
		if time.Since(f.at) > failureAge {
			delete(k.polls, owner)
		} else if failed[owner] == nil {
			if failed == nil {
				failed = map[string]error{}
			}
			failed[owner] = f.err
		}
	}
	if len(failed) > 0 {
		owners := slices.Sorted(maps.Keys(failed))
		text := strings.Join(owners[:min(len(owners), maxListed)], ", ")
		if len(owners) > maxListed {
			text += ", ..."
		}
		return fmt.Errorf("%d feeds, proxies or subscriptions are not used, because their passwords can't be opened (%s): %w", len(owners), text, failed[owners[0]])
	}
	named, err := k.named(ctx)
	if err != nil {
		return nil // the check of the store reports it
	}
	for _, id := range named {
		if _, err := k.find(id); err != nil {
			return fmt.Errorf("passwords of feeds, proxies or subscriptions can't be opened: %w", err)
		}
	}
	if k.clear > 0 {
		return fmt.Errorf("the passwords of %d feeds, proxies and subscriptions are stored in clear text: set --secret-key-file, the same file for all agents", k.clear)
	}
	return nil
}

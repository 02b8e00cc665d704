package secret

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"feedmesh/storage"
)

// A Renewal goes through all feeds, proxies and subscriptions of a store and seals again what is in clear text, sealed with another
// than the first key, or for the feed's former address.
type Renewal struct {
	keys   *Keys
	used   map[string]bool // IDs of keys
	seen   map[string]bool // owners
	failed map[string]error
	clear  int
}

// Renew begins a renewal.
func (k *Keys) Renew() *Renewal {
	return &Renewal{keys: k, used: map[string]bool{}, seen: map[string]bool{}, failed: map[string]error{}}
}

// Request returns the request of a feed, sealed by the first key. isFormer reports whether a feed's ID is a former one
// of this feed; nil if the feed has none. What can't be sealed stays as it is, and is reported.
func (n *Renewal) Request(ctx context.Context, feedID string, r *storage.Request, isFormer func(id string) bool) *storage.Request {
	n.seen[feedID] = true
	renewed, err := ofRequest(r, n.renewer(ctx, feedID, isFormer))
	if err != nil {
		n.failed[feedID] = err
		return r
	}
	return renewed
}

// Proxy returns the URL of a proxy, as [Renewal.Request] does.
func (n *Renewal) Proxy(ctx context.Context, p storage.Proxy) string {
	n.seen["proxy "+p.ID] = true
	url, err := ofProxy(p.URL, n.renewer(ctx, p.ID, nil))
	if err != nil {
		n.failed["proxy "+p.ID] = err
		return p.URL
	}
	return url
}

// Receiver returns the address and the secret of a subscription, as [Renewal.Request] does.
func (n *Renewal) Receiver(ctx context.Context, s storage.Subscription) (address, secret string) {
	n.seen[subscriptionOwner(s.ID)] = true
	address, secret, err := ofReceiver(s, n.renewer(ctx, s.ID, nil))
	if err != nil {
		n.failed[subscriptionOwner(s.ID)] = err
		return s.Receiver, s.Secret
	}
	return address, secret
}

func (n *Renewal) renewer(ctx context.Context, owner string, isFormer func(string) bool) func(field, text string) (string, error) {
	counted := false
	return func(field, text string) (_ string, err error) {
		s, is := parse(text)
		if is {
			defer func() {
				if err != nil {
					n.used[s.key] = true
				}
			}()
			if s.owner != owner && (isFormer == nil || !isFormer(s.owner)) {
				return "", &ValueError{field, errDamaged}
			}
			if text, err = n.keys.open(s, field); err != nil {
				return "", err
			}
		}
		first, configured, err := n.keys.sealing(ctx)
		switch {
		case err != nil:
			return "", fmt.Errorf("the %s can't be sealed: %w", field, err)
		case configured && is && s.owner == owner && s.key == first.id:
			n.used[s.key] = true
			return s.String(), nil
		case configured:
			n.used[first.id] = true
			return first.seal(owner, field, text), nil
		case !counted:
			n.clear++
			counted = true
		}
		return text, nil
	}
}

// Done ends a renewal: readiness reports what failed, and the store names the keys in use.
func (n *Renewal) Done(ctx context.Context) error {
	k := n.keys
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.failed, k.clear = n.failed, n.clear
	maps.DeleteFunc(k.polls, func(owner string, _ failure) bool { return !n.seen[owner] })
	named, err := k.named(ctx)
	if err != nil {
		return err
	}
	if len(k.keys) > 0 && slices.Contains(named, k.keys[0].id) {
		n.used[k.keys[0].id] = true // values may have been sealed meanwhile
	}
	used := slices.Sorted(maps.Keys(n.used))
	if slices.Equal(used, slices.Sorted(slices.Values(named))) {
		return nil
	}
	return k.name(ctx, used)
}

// sealing is [Keys.first] for callers without the lock.
func (k *Keys) sealing(ctx context.Context) (key, bool, error) {
	if k == nil {
		return key{}, false, nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.first(ctx)
}

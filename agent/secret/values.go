package secret

import (
	"context"
	"maps"
	"net/url"
	"slices"
	"strings"

	"feedmesh/storage"
)

// ofRequest returns a request with what do returns for each secret value. r may be nil.
func ofRequest(r *storage.Request, do func(field, text string) (string, error)) (*storage.Request, error) {
	if r == nil {
		return nil, nil
	}
	out, err := *r, error(nil)
	if r.Password != "" {
		if out.Password, err = do("password", r.Password); err != nil {
			return nil, err
		}
	}
	out.Header = maps.Clone(r.Header)
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		if out.Header[name], err = do("header "+strings.ToLower(name), r.Header[name]); err != nil {
			return nil, err
		}
	}
	return &out, nil
}

// ofProxy returns the URL of a proxy with what do returns for its password, which is bound to its address too.
func ofProxy(raw string, do func(field, text string) (string, error)) (string, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return raw, nil // fails when it is used
	}
	password, is := u.User.Password()
	if !is || password == "" {
		return raw, nil
	}
	text, err := do("password for "+u.Scheme+"://"+u.Host, password)
	if err != nil || text == password {
		return raw, err
	}
	u.User = url.UserPassword(u.User.Username(), text)
	return u.String(), nil
}

// SealRequest returns the request of a feed with the values sealed that are in clear text; others stay, even those that
// can't be opened. Without a key file it returns r. The error states what to do.
func (k *Keys) SealRequest(ctx context.Context, feedID string, r *storage.Request) (*storage.Request, error) {
	return ofRequest(r, k.sealer(ctx, feedID))
}

// SealProxy returns the URL of a proxy with its password sealed, as [Keys.SealRequest] does.
func (k *Keys) SealProxy(ctx context.Context, p storage.Proxy) (string, error) {
	return ofProxy(p.URL, k.sealer(ctx, p.ID))
}

// SealReceiver returns the address and the secret of a subscription, sealed as [Keys.SealRequest] does.
func (k *Keys) SealReceiver(ctx context.Context, s storage.Subscription) (address, secret string, err error) {
	return ofReceiver(s, k.sealer(ctx, s.ID))
}

// OpenReceiver returns the address and the secret of a subscription, opened as [Keys.OpenRequest] does.
func (k *Keys) OpenReceiver(s storage.Subscription) (address, secret string, err error) {
	address, secret, err = ofReceiver(s, k.opener(s.ID))
	k.Observe(subscriptionOwner(s.ID), err)
	return address, secret, err
}

// subscriptionOwner returns the name of a subscription in reports.
func subscriptionOwner(id string) string { return "subscription " + id }

// ofReceiver returns what do returns for the address and the secret of a subscription.
func ofReceiver(s storage.Subscription, do func(field, text string) (string, error)) (address, secret string, err error) {
	if address, err = do("receiver", s.Receiver); err != nil {
		return "", "", err
	}
	if s.Secret == "" {
		return address, "", nil
	}
	secret, err = do("secret", s.Secret)
	return address, secret, err
}

func (k *Keys) sealer(ctx context.Context, owner string) func(field, text string) (string, error) {
	return func(field, text string) (string, error) {
		if _, is := parse(text); is || k == nil {
			return text, nil
		}
		k.mu.Lock()
		defer k.mu.Unlock()
		first, is, err := k.first(ctx)
		if !is || err != nil {
			return text, err
		}
		return first.seal(owner, field, text), nil
	}
}

// OpenRequest returns the request of a feed with its values opened; those in clear text stay. The error names the value
// and states what to do.
func (k *Keys) OpenRequest(feedID string, r *storage.Request) (*storage.Request, error) {
	opened, err := ofRequest(r, k.opener(feedID))
	if r != nil {
		k.Observe(feedID, err)
	}
	return opened, err
}

// OpenProxy returns the URL of a proxy with its password opened, as [Keys.OpenRequest] does.
func (k *Keys) OpenProxy(id, url string) (string, error) {
	opened, err := ofProxy(url, k.opener(id))
	k.Observe("proxy "+id, err)
	return opened, err
}

func (k *Keys) opener(owner string) func(field, text string) (string, error) {
	return func(field, text string) (string, error) {
		s, is := parse(text)
		if !is {
			return text, nil
		}
		if s.owner != owner {
			return "", &ValueError{field, errDamaged}
		}
		return k.open(s, field)
	}
}

func (k *Keys) open(s sealed, field string) (string, error) {
	if k == nil {
		return "", &ValueError{field, &MissingKeyError{Key: s.key}}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	key, err := k.find(s.key)
	text := ""
	if err == nil {
		text, err = key.open(s, field)
	}
	if err != nil {
		return "", &ValueError{field, err}
	}
	return text, nil
}

// A ValueError reports a value that can't be opened.
type ValueError struct {
	Field string // such as "password"
	Err   error
}

func (e *ValueError) Error() string { return "the " + e.Field + " can't be opened: " + e.Err.Error() }

func (e *ValueError) Unwrap() error { return e.Err }

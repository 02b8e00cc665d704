package storage

import (
	"context"
	"time"
)

// Proxies is the part of a [Store] that remembers proxies.
type Proxies interface {
	// Proxies returns all proxies, ordered by ID.
	Proxies(ctx context.Context) ([]Proxy, error)

	// PutProxy stores the proxy in place of any with its ID.
	PutProxy(ctx context.Context, proxy Proxy) error

	// RemoveProxy forgets the proxy with the given ID. It returns
	// [ErrNotFound] if there is none.
	RemoveProxy(ctx context.Context, id string) error
}

// A Proxy is a way to hosts that do not answer us directly.
type Proxy struct {
	ID     string    `json:"id"`
	URL    string    `json:"url"`              // http, https or socks5; a password in it is kept as given, readable to whoever reads the store
	Hosts  []string  `json:"hosts,omitempty"`  // it serves those that end so, as in "example.org"; empty: any that need one
	Always bool      `json:"always,omitempty"` // used at once for its hosts, not only after a refusal
	Added  time.Time `json:"added"`
}

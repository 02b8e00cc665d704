package storage

import (
	"context"
	"time"
)

// Proxies is the part of a [Store] that stores proxies.
type Proxies interface {
	// Proxies returns all proxies, ordered by ID.
	Proxies(ctx context.Context) ([]Proxy, error)

	// PutProxy stores the proxy, replacing a proxy with the same ID.
	PutProxy(ctx context.Context, proxy Proxy) error

	// RemoveProxy deletes the proxy with the given ID, or returns [ErrNotFound].
	RemoveProxy(ctx context.Context, id string) error
}

// A Proxy is a route to hosts that reject direct requests.
type Proxy struct {
	ID     string    `json:"id"`
	URL    string    `json:"url"`              // http, https or socks5; a password is stored in plain text, readable by everyone with access to the store
	Hosts  []string  `json:"hosts,omitempty"`  // domain suffixes it serves, such as "example.org"; empty: any host that needs a proxy
	Always bool      `json:"always,omitempty"` // used from the first request to its hosts, not only after a rejected request
	Added  time.Time `json:"added"`
}

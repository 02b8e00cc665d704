package storage

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// A Proxy is a route to hosts that reject direct requests: a proxy server, or the crawlers of a region.
type Proxy struct {
	ID     string    `json:"id"`
	URL    string    `json:"url"`              // http, https or socks5, with its password sealed, except in a mesh without a key; or region:NAME
	Hosts  []string  `json:"hosts,omitempty"`  // domain suffixes it serves, such as "example.org"; empty: any host that needs a proxy
	Always bool      `json:"always,omitempty"` // used from the first request to its hosts, not only after a rejected request
	Added  time.Time `json:"added"`
}

// RegionScheme begins the URL of the crawlers of a region.
const RegionScheme = "region:"

// Region returns the region whose crawlers the route leads through; empty for a proxy server.
func (p Proxy) Region() string {
	if region, is := strings.CutPrefix(p.URL, RegionScheme); is {
		return region
	}
	return ""
}

// isRegion matches names of regions, which are part of subjects and consumers.
var isRegion = regexp.MustCompile(`^[a-z0-9](-?[a-z0-9])*$`)

// maxRegion is the maximum length of a region's name in bytes.
const maxRegion = 32

// CheckRegion returns an error if a text is no name of a region.
func CheckRegion(name string) error {
	if len(name) > maxRegion || !isRegion.MatchString(name) {
		return fmt.Errorf("%.100q is no name of a region; write at most %d lower-case letters, digits and hyphens, such as eu-west", name, maxRegion)
	}
	return nil
}

var proxyTable = tableOf(Table{Name: "proxies", Keys: 1, Order: "id"}, func(p *Proxy) []Column {
	return []Column{
		{Name: "id", Field: &p.ID}, {Name: "url", Field: &p.URL}, {Name: "hosts", Field: &p.Hosts},
		{Name: "always", Field: &p.Always}, {Name: "added", Field: &p.Added},
	}
})

// Proxies returns the proxies of a [Store].
func Proxies(of Records) ProxyRecords { return ProxyRecords{of} }

// ProxyRecords are the proxies of a [Store].
type ProxyRecords struct{ records Records }

// List returns all proxies, ordered by ID.
func (p ProxyRecords) List(ctx context.Context) ([]Proxy, error) {
	return listRecords[Proxy](ctx, p.records, proxyTable, allRecords)
}

// Put stores the proxy, replacing a proxy with the same ID.
func (p ProxyRecords) Put(ctx context.Context, proxy Proxy) error {
	return putRecord(ctx, p.records, proxyTable, proxy, proxy.ID)
}

// Remove deletes the proxy with the given ID, or returns [ErrNotFound].
func (p ProxyRecords) Remove(ctx context.Context, id string) error {
	return removeRecord[Proxy](ctx, p.records, proxyTable, id)
}

package query

import (
	"net/url"
	"strings"
)

// Hosts returns the values of [Host] for a URL: its host in lower case without "www.", and the parent domains
// that contain a dot. It returns nil if there is no host.
func Hosts(address string) []string {
	u, err := url.Parse(address)
	if err != nil {
		return nil
	}
	host := normalizeHost(u.Hostname())
	if host == "" {
		return nil
	}
	hosts := []string{host}
	for {
		_, above, ok := strings.Cut(host, ".")
		if !ok || !strings.Contains(above, ".") || len(hosts) == maxHosts {
			return hosts
		}
		hosts, host = append(hosts, above), above
	}
}

// maxHosts bounds the index entries of a single made-up URL.
const maxHosts = 10

// normalizeHost returns the form in which hosts are compared.
func normalizeHost(host string) string {
	return strings.TrimPrefix(strings.Trim(strings.ToLower(host), "."), "www.")
}

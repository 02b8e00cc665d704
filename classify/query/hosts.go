package query

import (
	"net/url"
	"strings"
)

// Hosts returns the values that an address has for [Host]: its host in small
// letters without "www.", and the hosts above it that have a dot. Nil if it has
// no host.
func Hosts(address string) []string {
	u, err := url.Parse(address)
	if err != nil {
		return nil
	}
	host := plainHost(u.Hostname())
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

// maxHosts bounds what one made-up address can have an index hold.
const maxHosts = 10

// plainHost returns the form in which hosts are compared.
func plainHost(host string) string {
	return strings.TrimPrefix(strings.Trim(strings.ToLower(host), "."), "www.")
}

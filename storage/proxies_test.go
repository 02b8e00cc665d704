package storage

import (
	"strings"
	"testing"
)

func TestCheckRegion(t *testing.T) {
	for _, good := range []string{"us", "eu-west", "3", "a-b-c", strings.Repeat("x", maxRegion)} {
		if err := CheckRegion(good); err != nil {
			t.Errorf("%s: got %v, want none", good, err)
		}
		if got := (Proxy{URL: RegionScheme + good}).Region(); got != good {
			t.Errorf("%s: got region %q", good, got)
		}
	}
	for _, bad := range []string{"", "US", "us.east", "us east", "-us", "us-", "a--b", "*", ">", "é", strings.Repeat("x", maxRegion+1)} {
		if CheckRegion(bad) == nil {
			t.Errorf("%q: got no error", bad)
		}
	}
	if got := (Proxy{URL: "http://proxy.example"}).Region(); got != "" {
		t.Errorf("a proxy server: got region %q, want none", got)
	}
}

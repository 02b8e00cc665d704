package role

import (
	"strings"
	"testing"
)

func TestSelect(t *testing.T) {
	for _, test := range []struct {
		names, want, faults string
	}{
		{"all", "schedule crawl parse prepare classify cluster store index api", ""},
		{"store crawl crawl", "crawl store", ""},
		{"api all", "schedule crawl parse prepare classify cluster store index api", ""},
		{"", "", ""},
		{"crawl craw prase", "crawl", `roles: unknown role "craw"|roles: unknown role "prase"`},
		{"Crawl", "", `roles: unknown role "Crawl"; available: schedule, crawl, parse, prepare, classify, cluster, store, index, api`},
	} {
		roles, err := Select(strings.Fields(test.names))
		if got := strings.Join(Names(roles), " "); got != test.want {
			t.Errorf("%q: got roles %q, want %q", test.names, got, test.want)
		}
		if (err != nil) != (test.faults != "") {
			t.Errorf("%q: got %v, want %q", test.names, err, test.faults)
		}
		for fault := range strings.SplitSeq(test.faults, "|") {
			if err != nil && !strings.Contains(err.Error(), fault) {
				t.Errorf("%q: got %v, want %q included", test.names, err, fault)
			}
		}
	}
}

func TestRoles_HaveDescriptions(t *testing.T) {
	for _, r := range All {
		if r.Name == "" || r.Description == "" || r.Run == nil || strings.Contains(r.Description, "\n") {
			t.Errorf("role %q: got description %q, want one line", r.Name, r.Description)
		}
		if r.Index && !r.Store {
			t.Errorf("role %s: needs an index but no store, which fills the index", r.Name)
		}
	}
}

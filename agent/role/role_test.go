package role

import (
	"os"
	"strings"
	"testing"

	"feedmesh/subjects"
)

func TestSelect(t *testing.T) {
	all := strings.Join(Names(All), " ")
	for _, test := range []struct {
		names, want, faults string
	}{
		{"all", all, ""},
		{"store crawl crawl", "crawl store", ""},
		{"api all", all, ""},
		{"", "", ""},
		{"crawl craw prase", "crawl", `roles: unknown role "craw"|roles: unknown role "prase"`},
		{"Crawl", "", `roles: unknown role "Crawl"; available: ` + strings.Join(Names(All), ", ")},
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

func TestRoles_ServeEachQueueOnce(t *testing.T) {
	served := map[string]int{}
	for _, r := range All {
		for _, queue := range r.Serves {
			served[queue]++
		}
	}
	for _, queue := range subjects.QueueNames {
		if served[queue] != 1 {
			t.Errorf("queue %s is served by %d roles, want 1", queue, served[queue])
		}
	}
	if len(served) != len(subjects.QueueNames) {
		t.Errorf("roles serve %d queues, want %d", len(served), len(subjects.QueueNames))
	}
}

// TestRoles_AreDocumented looks for the roles and their queues in the tables of docs/architecture.md.
func TestRoles_AreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	_, streams, _ := strings.Cut(string(page), "| one for each queue |")
	streams, _, _ = strings.Cut(streams, "\n")
	for _, r := range All {
		if !strings.Contains(string(page), "\n| "+r.Name+" | ") {
			t.Errorf("the table of roles in docs/architecture.md lacks %s", r.Name)
		}
		for _, queue := range r.Serves {
			if !strings.Contains(streams, "`"+queue+"`") && !strings.Contains(streams, "`"+queue+".") {
				t.Errorf("the table of streams in docs/architecture.md lacks %s", queue)
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

package console

import (
	"maps"
	"slices"
	"strings"
	"time"

	"feedmesh/agent/api"
)

// A liveMesh is what of the mesh's page changes by itself, in words: the page is
// made of it, and its script puts newer words in their place.
type liveMesh struct {
	Figures []figure    `json:"figures"`
	Tables  []liveTable `json:"tables"`
}

// A figure is one number of a page.
type figure struct {
	ID    string `json:"id"` // of its element
	Label string `json:"-"`
	Value string `json:"value"`
}

// A liveTable is a table whose rows are words. The first of a row names it.
type liveTable struct {
	ID      string     `json:"id"` // of its heading; its body is "ID-rows"
	Heading string     `json:"-"`
	About   string     `json:"-"`
	Columns []column   `json:"-"`
	Rows    [][]string `json:"rows"`
}

// A column of a table. Class is that of its cells.
type column struct{ Label, Class string }

const (
	numberClass = "number"
	wideClass   = "wide"
	unknown     = "–"
)

// liveOf returns how the mesh is, in words.
func liveOf(s api.Status, now time.Time) liveMesh {
	return liveMesh{
		Figures: []figure{
			{"known", "Feeds known", count(s.Feeds.Known)}, {"polled", "Polled", count(s.Feeds.Polled)}, {"out", "Being polled", count(s.Feeds.Out)},
			{"failing", "Failing", count(s.Feeds.Failing)}, {"gone", "Gone", count(s.Feeds.Gone)},
			{"items", "Items kept", count(s.Items)}, {"indexed", "Searchable", count(s.Indexed)},
		},
		Tables: []liveTable{queueTable(s), agentTable(s, now), activeTable(s, now)},
	}
}

func queueTable(s api.Status) liveTable {
	t := liveTable{
		ID: "queues", Heading: "Queues", About: "What waits, in the order of an item's way.",
		Columns: []column{{"Queue", ""}, {"Tasks", numberClass}, {"Size", numberClass}, {"Full", numberClass}, {"Oldest", numberClass}},
		Rows:    [][]string{},
	}
	for _, q := range s.Queues {
		oldest := unknown
		if q.Tasks > 0 {
			oldest = span(q.Oldest)
		}
		t.Rows = append(t.Rows, []string{q.Queue, count(int64(q.Tasks)), size(int64(q.Bytes)), percent(q.Fill), oldest})
	}
	return t
}

func agentTable(s api.Status, now time.Time) liveTable {
	t := liveTable{
		ID: "agents", Heading: "Agents", About: "The processes that make the mesh, and what they do.",
		Columns: []column{
			{"Agent", ""}, {"Roles", wideClass}, {"Version", ""}, {"Cores", numberClass}, {"Memory", numberClass},
			{"Tasks done", numberClass}, {"Started", ""}, {"Heard of", ""},
		},
		Rows: [][]string{},
	}
	for _, a := range s.Agents {
		t.Rows = append(t.Rows, []string{
			a.Host + " " + a.ID, strings.Join(a.Roles, ", "), a.Version, tenth(a.Load), size(a.Memory), count(int64(a.Done)), when(a.Started, now), when(a.Seen, now),
		})
	}
	return t
}

func activeTable(s api.Status, now time.Time) liveTable {
	t := liveTable{
		ID: "active", Heading: "Active actors", About: "Work that one agent does alone; the others stand by.",
		Columns: []column{{"Actor", ""}, {"Agent", ""}, {"Since", ""}}, Rows: [][]string{},
	}
	for _, name := range slices.Sorted(maps.Keys(s.Active)) {
		lease := s.Active[name]
		agent := "nobody"
		if lease.Agent != "" {
			agent = lease.Host + " " + lease.Agent
		}
		since, _ := time.Parse(time.RFC3339, lease.Since) // zero if it says none
		t.Rows = append(t.Rows, []string{name, agent, when(since, now)})
	}
	return t
}

// when says how long ago a time was.
func when(t, now time.Time) string {
	if s := stamped(t, now); s != nil {
		return s.Ago
	}
	return unknown
}

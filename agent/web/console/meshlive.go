package console

import (
	"maps"
	"slices"
	"strings"
	"time"

	"feedmesh/agent/wire"
)

// A liveMesh is the part of the mesh page that updates itself, as formatted text. The page is rendered from
// it, and mesh.js replaces changed text.
type liveMesh struct {
	Figures []figure    `json:"figures"`
	Tables  []liveTable `json:"tables"`
}

// A figure is a labelled number on a page.
type figure struct {
	ID    string `json:"id"` // ID of its element
	Label string `json:"-"`
	Value string `json:"value"`
}

// A liveTable is a table of text. The first cell of a row is its header.
type liveTable struct {
	ID      string     `json:"id"` // ID of its heading; its body has "ID-rows"
	Heading string     `json:"-"`
	About   string     `json:"-"`
	Columns []column   `json:"-"`
	Rows    [][]string `json:"rows"`
}

// A column is a table column. Class is the CSS class of its cells.
type column struct{ Label, Class string }

const (
	numberClass = "number"
	wideClass   = "wide"
	unknown     = "–"
)

// liveOf formats the state of the mesh.
func liveOf(s wire.Status, now time.Time) liveMesh {
	return liveMesh{
		Figures: []figure{
			{"known", "Feeds", count(s.Feeds.Stored)}, {"polled", "Polled", count(s.Feeds.Polled)}, {"out", "Being polled", count(s.Feeds.InFlight)},
			{"failing", "Failing", count(s.Feeds.Failing)}, {"gone", "Gone", count(s.Feeds.Gone)},
			{"items", "Items stored", count(s.Items)}, {"indexed", "Searchable", count(s.Indexed)},
		},
		Tables: []liveTable{queueTable(s), agentTable(s, now), activeTable(s, now)},
	}
}

func queueTable(s wire.Status) liveTable {
	t := liveTable{
		ID: "queues", Heading: "Queues", About: "Waiting tasks, in the order of processing.",
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

func agentTable(s wire.Status, now time.Time) liveTable {
	t := liveTable{
		ID: "agents", Heading: "Agents", About: "The processes of the mesh and their roles.",
		Columns: []column{
			{"Agent", ""}, {"Roles", wideClass}, {"Version", ""}, {"Cores", numberClass}, {"Memory", numberClass},
			{"Tasks done", numberClass}, {"Started", ""}, {"Last seen", ""},
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

func activeTable(s wire.Status, now time.Time) liveTable {
	t := liveTable{
		ID: "active", Heading: "Active actors", About: "Actors of which one instance is active; the others are on standby.",
		Columns: []column{{"Actor", ""}, {"Agent", ""}, {"Since", ""}}, Rows: [][]string{},
	}
	for _, name := range slices.Sorted(maps.Keys(s.Active)) {
		lease := s.Active[name]
		agent := "none"
		if lease.Agent != "" {
			agent = lease.Host + " " + lease.Agent
		}
		since, _ := time.Parse(time.RFC3339, lease.Since) // zero if it is not set
		t.Rows = append(t.Rows, []string{name, agent, when(since, now)})
	}
	return t
}

// when formats how long ago a time was.
func when(t, now time.Time) string {
	if s := newTimestamp(t, now); s != nil {
		return s.Ago
	}
	return unknown
}

// Package role lists the roles that a process can run ([All]). Each role is a package below: its actors execute
// the tasks of queues and publish the tasks that follow. Package work contains what they share. Memory is
// bounded by batch, queue and window sizes stated at each role.
package role

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"feedmesh/agent/role/api"
	"feedmesh/agent/role/classify"
	"feedmesh/agent/role/cluster"
	"feedmesh/agent/role/crawl"
	"feedmesh/agent/role/deliver"
	"feedmesh/agent/role/index"
	"feedmesh/agent/role/parse"
	"feedmesh/agent/role/prepare"
	"feedmesh/agent/role/schedule"
	"feedmesh/agent/role/store"
	"feedmesh/agent/role/work"
	"feedmesh/subjects"
)

// A Role is a function that a process can perform in the mesh.
type Role struct {
	Name        string
	Description string   // in one line
	Serves      []string // names of the queues whose tasks it executes
	Rules       []string // names of the rule sets that it applies
	Store       bool     // needs the store
	Index       bool     // needs the index
	Listens     bool     // serves the address of the API

	// Run performs the role until ctx ends, and returns after the work in progress is finished.
	Run func(ctx context.Context, env *Env) error
}

// Deliver is the name of the role that sends for subscriptions.
const Deliver = "deliver"

// All lists the roles in the order in which an item passes them.
var All = []Role{
	{
		Name: "schedule", Serves: []string{subjects.ObserveQueue.Name}, Store: true, Run: worker(schedule.Run),
		Description: "decide when each feed is due, and dispatch due feeds; one active in the mesh, others on standby",
	},
	{
		Name: "crawl", Serves: []string{subjects.CrawlQueue.Name, subjects.PageQueue.Name}, Run: worker(crawl.Run),
		Description: "fetch due feeds, and pass their documents on unchanged",
	},
	{
		Name: "parse", Serves: []string{subjects.ParseQueue.Name}, Store: true, Run: worker(parse.Run),
		Description: "parse documents of any format, and pass on new and changed entries",
	},
	{
		Name: "prepare", Serves: []string{subjects.PrepareQueue.Name}, Rules: []string{"prepare"}, Run: worker(prepare.Run),
		Description: "turn entries into items: clean markup, absolute links, plausible dates, language",
	},
	{
		Name: "classify", Serves: []string{subjects.ClassifyQueue.Name}, Rules: []string{"classify", "spam", "model"}, Run: worker(classify.Run),
		Description: "label items with spam, categories and topics, each with its reason",
	},
	{
		Name: "cluster", Serves: []string{subjects.ClusterQueue.Name}, Store: true, Run: worker(cluster.Run),
		Description: "find duplicates, events and stories; one active for each language, others on standby",
	},
	{
		Name: "store", Serves: []string{subjects.StoreQueue.Name}, Store: true, Run: worker(store.Run),
		Description: "store items and the feeds' statistics, each document in one transaction",
	},
	{
		Name: "index", Serves: []string{subjects.IndexQueue.Name, subjects.ViewQueue.Name}, Store: true, Index: true, Run: worker(index.Run),
		Description: "index items in batches; one active repairs differences from the store, and one finds the views of items",
	},
	{
		Name: Deliver, Store: true, Run: worker(deliver.Run),
		Description: "send the items of views to the receivers of subscriptions: webhooks and others",
	},
	{
		Name: "api", Store: true, Index: true, Listens: true,
		Run:         func(ctx context.Context, env *Env) error { return api.Run(ctx, env.Env, env.Options) },
		Description: "serve the REST API and the console: search, feeds, mesh status",
	},
}

// Env contains the dependencies that the roles of one process share, and those of the API.
type Env struct {
	*work.Env
	api.Options
}

// worker adapts a role that needs no API.
func worker(run func(context.Context, *work.Env) error) func(context.Context, *Env) error {
	return func(ctx context.Context, env *Env) error { return run(ctx, env.Env) }
}

// Select returns the roles with the given names, each once, in the order of [All]; "all" selects every role.
func Select(names []string) ([]Role, error) {
	var roles []Role
	for _, r := range All {
		if slices.Contains(names, r.Name) || slices.Contains(names, "all") {
			roles = append(roles, r)
		}
	}
	var faults []error
	for _, name := range names {
		isNamed := func(r Role) bool { return r.Name == name }
		if name != "all" && !slices.ContainsFunc(All, isNamed) {
			faults = append(faults, fmt.Errorf("roles: unknown role %q; available: %s", name, strings.Join(Names(All), ", ")))
		}
	}
	return roles, errors.Join(faults...)
}

// Serving returns the name of the role that serves each queue.
func Serving() map[string]string {
	roles := map[string]string{}
	for _, r := range All {
		for _, queue := range r.Serves {
			roles[queue] = r.Name
		}
	}
	return roles
}

// Names returns the names of the roles.
func Names(roles []Role) []string {
	names := make([]string, len(roles))
	for i, r := range roles {
		names[i] = r.Name
	}
	return names
}

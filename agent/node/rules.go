package node

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"feedmesh/agent/api"
	"feedmesh/agent/role"
	"feedmesh/classify/text"
	"feedmesh/storage"
)

const (
	// spreadEvery is how often the mesh is told the newest rules again, in case
	// it was away when they were put, or has lost them.
	spreadEvery = time.Minute

	// firstRules is how long a node waits for the rules in force before its roles
	// begin with the program's own.
	firstRules = 10 * time.Second
)

// newRuleSets returns the rule sets that this program reads, and gives the roles
// what they need of them.
func newRuleSets(env *role.Env) []*ruleSet {
	var prepare *ruleSet
	prepare, env.Prepare = ruleSetOf(api.Rulebook{
		Name: "prepare", Does: "what becomes of entries' markup, links and titles", Standard: document(text.Default()),
	}, role.Prepare, text.Parse)
	return append([]*ruleSet{prepare}, labelSets(env)...)
}

// document returns rules as a person may edit them.
func document(rules json.Marshaler) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(rules); err != nil {
		panic(err) // they are the program's own
	}
	return b.Bytes()
}

// A ruleSet is a rule set that this program reads, and which version of it is in
// force here.
type ruleSet struct {
	api.Rulebook
	by      role.Role                              // who goes by it
	force   func(version int64, text []byte) error // puts a text in force, unless it is wrong
	version atomic.Int64                           // in force; 0: the program's own
}

// ruleSetOf returns a rule set whose texts mean T, and what returns the one in
// force: the program's own at first. That must be sound; it is read when it is asked
// for, as agents that only fetch never do.
func ruleSetOf[T any](book api.Rulebook, by role.Role, parse func([]byte) (*T, error)) (*ruleSet, func() *T) {
	standard := sync.OnceValue(func() *T {
		rules, err := parse(book.Standard)
		if err != nil {
			panic(fmt.Errorf("the program's own rules %s: %w", book.Name, err))
		}
		return rules
	})
	book.Check = func(text []byte) error { _, err := parse(text); return err }
	set := &ruleSet{Rulebook: book, by: by}
	inForce := new(atomic.Pointer[T])
	set.force = func(version int64, text []byte) error {
		rules, err := parse(text)
		if err != nil {
			return err
		}
		inForce.Store(rules)
		set.version.Store(version)
		return nil
	}
	return set, func() *T {
		if rules := inForce.Load(); rules != nil {
			return rules
		}
		return standard()
	}
}

// rulebooks returns what the api needs to know of the rule sets.
func (n *node) rulebooks() []api.Rulebook {
	books := make([]api.Rulebook, len(n.rules))
	for i, set := range n.rules {
		books[i] = set.Rulebook
	}
	return books
}

// startRules has the mesh go by the newest rules of the store, if this node has
// it for the api, and the node's roles by those in force in the mesh, until ctx
// ends. It returns when the first are in force.
func (n *node) startRules(ctx context.Context, group *errgroup.Group, env *role.Env) {
	if n.plays(role.API) {
		n.spreadRules(ctx, env.Store)
		group.Go(func() error {
			for {
				select {
				case <-ctx.Done():
					return nil
				case <-time.After(spreadEvery):
					n.spreadRules(ctx, env.Store)
				}
			}
		})
	}
	for _, set := range n.rules {
		if n.plays(set.by) || n.plays(role.API) { // which tries them on what is stored
			n.followRules(ctx, group, set)
		}
	}
}

// spreadRules tells the mesh the newest rules of the store. What is away is told
// of by those who wait for it.
func (n *node) spreadRules(ctx context.Context, store storage.RuleSets) {
	for _, set := range n.rules {
		err := n.mesh.PutRules(ctx, set.Name, func(ctx context.Context) (storage.RuleSet, error) {
			return store.Rules(ctx, set.Name, 0)
		})
		if err != nil && ctx.Err() == nil && !errors.Is(err, storage.ErrUnavailable) {
			n.options.Log.Warn("the mesh can't be told which rules are the newest", "rules", set.Name, "err", err)
		}
	}
}

// followRules puts in force here what is in force in the mesh, until ctx ends. It
// returns when it has heard what that is, or after firstRules.
func (n *node) followRules(ctx context.Context, group *errgroup.Group, set *ruleSet) {
	heard := make(chan struct{})
	first := sync.OnceFunc(func() { close(heard) })
	group.Go(func() error {
		return n.mesh.WatchRules(ctx, set.Name, func(version int64, text []byte) {
			n.hearRules(set, version, text)
			first()
		})
	})
	select {
	case <-heard:
	case <-ctx.Done():
	case <-time.After(firstRules):
		n.options.Log.Warn("which rules are in force is not known yet: the program's own hold until it is", "rules", set.Name)
	}
}

// hearRules puts a version in force. One that this program can't read, since a
// newer one wrote it, leaves what there is.
func (n *node) hearRules(set *ruleSet, version int64, text []byte) {
	if version == 0 { // there is none
		return
	}
	if err := set.force(version, text); err != nil {
		n.options.Log.Error("these rules can't be read by this program: those before them stay in force",
			"rules", set.Name, "version", version, "in_force", set.version.Load(), "err", err)
		return
	}
	n.options.Log.Info("rules are in force", "rules", set.Name, "version", version)
	select {
	case n.news <- struct{}{}:
	default: // the mesh is about to be told already
	}
}

// rulesInForce returns the version in force here of each set that the node goes by.
func (n *node) rulesInForce() map[string]int64 {
	versions := map[string]int64{}
	for _, set := range n.rules {
		if n.plays(set.by) {
			versions[set.Name] = set.version.Load()
		}
	}
	return versions
}

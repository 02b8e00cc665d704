package node

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"feedmesh/agent/role"
	"feedmesh/agent/service"
	"feedmesh/classify/text"
	"feedmesh/storage"
)

const (
	// publishInterval is the interval at which the newest rules are written to the mesh again, in case it was
	// unavailable or lost them.
	publishInterval = time.Minute

	// firstRulesTimeout is the timeout for the active rules at startup; afterwards the roles start with the built-in
	// rules.
	firstRulesTimeout = 10 * time.Second
)

// ruleSets are the rule sets that this program reads.
type ruleSets struct {
	*process
	env     *role.Env
	sets    []*ruleSet
	changed chan struct{} // receives after another version is activated
}

// newRuleSets returns the rule sets, and gives the roles access to the active versions.
func newRuleSets(p *process, env *role.Env) *ruleSets {
	var prepare *ruleSet
	prepare, env.Prepare = ruleSetOf(service.RuleSetSpec{
		Name: "prepare", Does: "what becomes of entries' markup, links and titles", Default: document(text.Default()),
	}, text.Parse)
	return &ruleSets{p, env, append([]*ruleSet{prepare}, labelSets(env)...), make(chan struct{}, 1)}
}

// document returns rules as indented JSON for editing.
func document(rules json.Marshaler) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(rules); err != nil {
		panic(err) // built-in rules always encode
	}
	return b.Bytes()
}

// ruleSet is a rule set of this program with the version that is active in this process.
type ruleSet struct {
	service.RuleSetSpec
	activate func(version int64, text []byte) error // activates a text, unless it is invalid
	version  atomic.Int64                           // active version; 0: built in
}

// ruleSetOf returns a rule set whose texts parse to T, and a function that returns the active T, at first the
// built-in one. The built-in text must be valid. It is parsed on first use, because agents that only fetch
// never need it.
func ruleSetOf[T any](spec service.RuleSetSpec, parse func([]byte) (*T, error)) (*ruleSet, func() *T) {
	builtIn := sync.OnceValue(func() *T {
		rules, err := parse(spec.Default)
		if err != nil {
			panic(fmt.Errorf("built-in rules %s: %w", spec.Name, err))
		}
		return rules
	})
	spec.Check = func(text []byte) error { _, err := parse(text); return err }
	set := &ruleSet{RuleSetSpec: spec}
	active := new(atomic.Pointer[T])
	set.activate = func(version int64, text []byte) error {
		rules, err := parse(text)
		if err != nil {
			return err
		}
		active.Store(rules)
		set.version.Store(version)
		return nil
	}
	return set, func() *T {
		if rules := active.Load(); rules != nil {
			return rules
		}
		return builtIn()
	}
}

// specs returns the rule set descriptions for the API.
func (r *ruleSets) specs() []service.RuleSetSpec {
	specs := make([]service.RuleSetSpec, len(r.sets))
	for i, set := range r.sets {
		specs[i] = set.RuleSetSpec
	}
	return specs
}

// start keeps the mesh at the newest rules of the store, if this node serves the API, and the node's
// roles at the active rules of the mesh, until ctx ends. It returns when the first rules are active.
func (r *ruleSets) start(ctx context.Context, group *errgroup.Group) {
	if r.env.Serve != nil {
		r.publish(ctx)
		group.Go(func() error {
			for {
				select {
				case <-ctx.Done():
					return nil
				case <-time.After(publishInterval):
					r.publish(ctx)
				}
			}
		})
	}
	for _, set := range r.sets {
		if r.applies(set.Name) || r.env.Serve != nil { // the API evaluates drafts on stored items
			r.follow(ctx, group, set)
		}
	}
}

// applies reports whether a role of this node applies a rule set.
func (r *ruleSets) applies(set string) bool {
	return r.needs(func(role role.Role) bool { return slices.Contains(role.Rules, set) })
}

// publish writes the newest rules of the store to the mesh. An unavailable store is logged elsewhere.
func (r *ruleSets) publish(ctx context.Context) {
	for _, set := range r.sets {
		err := r.env.Mesh.PutRules(ctx, set.Name, func(ctx context.Context) (storage.RuleSet, error) {
			return storage.RuleSets(r.env.Store).Read(ctx, set.Name, 0)
		})
		if err != nil && ctx.Err() == nil && !errors.Is(err, storage.ErrUnavailable) {
			r.options.Log.Warn("activate newest rules failed", "rules", set.Name, "err", err)
		}
	}
}

// follow applies the active rules of the mesh, until ctx ends. It returns after the first version, or
// after firstRulesTimeout.
func (r *ruleSets) follow(ctx context.Context, group *errgroup.Group, set *ruleSet) {
	received := make(chan struct{})
	first := sync.OnceFunc(func() { close(received) })
	group.Go(func() error {
		return r.env.Mesh.WatchRules(ctx, set.Name, func(version int64, text []byte) {
			r.activate(set, version, text)
			first()
		})
	})
	select {
	case <-received:
	case <-ctx.Done():
	case <-time.After(firstRulesTimeout):
		r.options.Log.Warn("active rules not received yet, use built-in rules", "rules", set.Name)
	}
}

// activate activates a version. A version that this program can't parse, because a newer program wrote it,
// is ignored.
func (r *ruleSets) activate(set *ruleSet, version int64, text []byte) {
	if version == 0 { // none is active
		return
	}
	if err := set.activate(version, text); err != nil {
		r.options.Log.Error("rules decode failed, keep the previous version",
			"rules", set.Name, "version", version, "in_force", set.version.Load(), "err", err)
		return
	}
	r.options.Log.Info("rules activated", "rules", set.Name, "version", version)
	select {
	case r.changed <- struct{}{}:
	default: // a heartbeat is requested already
	}
}

// activeVersions returns the active version of each rule set of the node's roles.
func (r *ruleSets) activeVersions() map[string]int64 {
	versions := map[string]int64{}
	for _, set := range r.sets {
		if r.applies(set.Name) {
			versions[set.Name] = set.version.Load()
		}
	}
	return versions
}

package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"feedmesh/agent/wire"
	"feedmesh/agent/workbench"
	"feedmesh/classify/rule"
	"feedmesh/storage"
)

// A RuleSetSpec describes a rule set that this program supports.
type RuleSetSpec struct {
	Name    string                  // of the set
	Does    string                  // purpose, in a line
	Check   func(text []byte) error // nil if the text is valid, else all errors, joined
	Default []byte                  // built-in text, in force until a version is saved

	// Warn returns warnings for a valid text. Nil: no warnings.
	Warn func(text []byte) []string

	// Decider returns the decider of a text, with all else as in force here, and the text's rules if it has
	// any. Nil: the set does not decide labels of items.
	Decider func(text []byte) (workbench.Decider, []rule.Rule, error)

	// Learn trains the next text on the newest text and examples. It returns a note on its quality and its
	// figures as JSON. Nil: the set can't be trained.
	Learn func(ctx context.Context, newest []byte, examples workbench.Examples) (next []byte, note string, figures json.RawMessage, err error)
}

const rulesType = "text/plain; charset=utf-8"

func (s *Server) ruleRoutes(api huma.API) {
	huma.Register(api, op("GET", "/api/rules", "list-rules", "List rule sets, and the version that each agent uses", 503), s.listRules)
	get := op("GET", "/api/rules/{name}", "get-rules", "The text of a rule set", 404, 503)
	get.Description = "Returns the text as saved, or the built-in rules if none is saved. ETag contains the version."
	get.Responses = map[string]*huma.Response{"200": {
		Content: map[string]*huma.MediaType{"text/plain": {Schema: &huma.Schema{Type: huma.TypeString}}},
	}}
	huma.Register(api, get, s.getRules)
	put := op("PUT", "/api/rules/{name}", "put-rules", "Put a text as the next version of a rule set", 400, 404, 409, 413, 422, 428, 503)
	put.Description = "Its base version must be the newest, stated by If-Match or the query; 0 if no version is saved. All agents use it within a second. An invalid text changes nothing."
	put.MaxBodyBytes = storage.MaxRules + 1 // exclusive
	huma.Register(api, put, s.putRules)
	huma.Register(api, op("GET", "/api/rules/{name}/versions", "list-rule-versions", "The last 50 versions of a rule set, newest first", 404, 503), s.listRuleVersions)
	check := op("POST", "/api/rules/{name}/check", "check-rules", "Check a text without saving it", 400, 404, 413)
	check.MaxBodyBytes = storage.MaxRules + 1 // exclusive
	huma.Register(api, check, s.checkRules)
	huma.Register(api, op("POST", "/api/rules/{name}/restore", "restore-rules", "Put the text of an old version as the next one", 404, 409, 422, 503), s.restoreRules)
}

// ruleSetSpec returns the set with the given name, or a 404 that lists all sets.
func (s *Server) ruleSetSpec(name string) (RuleSetSpec, error) {
	var names []string
	for _, b := range s.RuleSetSpecs {
		if b.Name == name {
			return b, nil
		}
		names = append(names, b.Name)
	}
	return RuleSetSpec{}, huma.Error404NotFound(fmt.Sprintf("there is no rule set %q; there are: %s", name, strings.Join(names, ", ")))
}

func (s *Server) listRules(ctx context.Context, _ *struct{}) (*body[wire.RuleSets], error) {
	agents, err := s.Mesh.Agents(ctx)
	if err != nil {
		return nil, s.problem(err)
	}
	out := &body[wire.RuleSets]{Body: wire.RuleSets{Sets: []wire.RuleSet{}}}
	for _, b := range s.RuleSetSpecs {
		newest, err := s.newestRules(ctx, b.Name)
		if err != nil {
			return nil, s.problem(err)
		}
		set := wire.RuleSet{Name: b.Name, Does: b.Does, Version: newest.Version, Note: newest.Note, Changed: newest.Changed, Agents: []wire.RuleAgent{}}
		for _, a := range agents {
			if version, goesBy := a.Rules[b.Name]; goesBy {
				set.Agents = append(set.Agents, wire.RuleAgent{ID: a.ID, Host: a.Host, Version: version})
			}
		}
		out.Body.Sets = append(out.Body.Sets, set)
	}
	return out, nil
}

// newestRules returns the newest version of a set without its text, or the zero value.
func (s *Server) newestRules(ctx context.Context, name string) (storage.RuleSet, error) {
	versions, err := storage.RuleSets(s.Store).Versions(ctx, name, 0, 1)
	if err != nil || len(versions) == 0 {
		return storage.RuleSet{}, err
	}
	return versions[0], nil
}

func (s *Server) getRules(ctx context.Context, in *struct {
	Name    string `path:"name" maxLength:"32"`
	Version int64  `query:"version" minimum:"1" doc:"By default the newest."`
}) (*struct {
	ContentType string `header:"Content-Type"`
	ETag        string `header:"ETag"`
	Body        []byte
}, error) {
	spec, err := s.ruleSetSpec(in.Name)
	if err != nil {
		return nil, err
	}
	set, err := storage.RuleSets(s.Store).Read(ctx, spec.Name, in.Version)
	if errors.Is(err, storage.ErrNotFound) && in.Version == 0 {
		set, err = storage.RuleSet{Text: spec.Default}, nil
	}
	if err != nil {
		return nil, s.problem(fmt.Errorf("version %d of rules %s: %w", in.Version, in.Name, err))
	}
	return &struct {
		ContentType string `header:"Content-Type"`
		ETag        string `header:"ETag"`
		Body        []byte
	}{rulesType, fmt.Sprintf(`"%d"`, set.Version), set.Text}, nil
}

func (s *Server) listRuleVersions(ctx context.Context, in *struct {
	Name   string `path:"name" maxLength:"32"`
	Before int64  `query:"before" minimum:"0" doc:"The value of next of the previous page."`
	Limit  int    `query:"limit" minimum:"1" maximum:"50" default:"20"`
}) (*body[wire.RuleVersionPage], error) {
	spec, err := s.ruleSetSpec(in.Name)
	if err != nil {
		return nil, err
	}
	versions, err := storage.RuleSets(s.Store).Versions(ctx, spec.Name, in.Before, in.Limit+1) // one more than shown, to detect that more exist
	if err != nil {
		return nil, s.problem(err)
	}
	out := &body[wire.RuleVersionPage]{Body: wire.RuleVersionPage{Versions: []wire.RuleVersion{}}}
	if len(versions) > in.Limit {
		versions = versions[:in.Limit]
		out.Body.Next = versions[in.Limit-1].Version
	}
	for _, set := range versions {
		out.Body.Versions = append(out.Body.Versions, versionOf(set))
	}
	return out, nil
}

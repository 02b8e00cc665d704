package service

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"feedmesh/agent/wire"
	"feedmesh/agent/workbench"
	"feedmesh/storage"
)

// maxBacktests is the number of concurrent back-tests of a process.
const maxBacktests = 2

func (s *Server) workbenchRoutes(api huma.API) {
	huma.Register(api, op("POST", "/api/rules/{name}/test", "test-rules", "Test rules on one item or document", 400, 404, 413, 422, 503), s.testRules)

	backtest := op("POST", "/api/rules/{name}/backtest", "backtest-rules", "Back-test a text on the newest items", 400, 404, 413, 422, 429, 503)
	backtest.Description = "Compares the decisions of the text with those of the rules in force, and reports the rules with most and no matches, conflicts between rules, and contradictions of manual corrections. Nothing is changed. It stops when the client disconnects."
	backtest.MaxBodyBytes = storage.MaxRules + 1 // exclusive
	huma.Register(api, backtest, s.backtestRules)

	apply := op("POST", "/api/rules/{name}/apply", "apply-rules", "Relabel stored items by a version of a rule set", 404, 422, 429, 503)
	apply.DefaultStatus = http.StatusAccepted
	apply.Description = "Returns the job, which relabels newest items first; poll it until its state is no longer running. If a job for the version is waiting or running, that job is returned. Manually corrected items stay unchanged."
	huma.Register(api, apply, s.applyRules)

	train := op("POST", "/api/rules/{name}/train", "train-rules", "Train the next version of a rule set on stored items", 404, 422, 429, 503)
	train.DefaultStatus = http.StatusAccepted
	train.Description = "Trains on manual corrections and on confident decisions of the rules. Returns the job; the new version is in force when the job is done."
	huma.Register(api, train, s.trainRules)

	diff := op("GET", "/api/rules/{name}/diff", "diff-rules", "Unified diff of two versions of a rule set", 404, 422, 503)
	diff.Responses = map[string]*huma.Response{"200": {
		Content: map[string]*huma.MediaType{"text/plain": {Schema: &huma.Schema{Type: huma.TypeString}}},
	}}
	huma.Register(api, diff, s.diffRules)
}

// decidingSet returns the set with the given name if it decides labels of items.
func (s *Server) decidingSet(name string) (RuleSetSpec, error) {
	spec, err := s.ruleSetSpec(name)
	if err != nil || spec.Decider != nil {
		return spec, err
	}
	var others []string
	for _, b := range s.RuleSetSpecs {
		if b.Decider != nil {
			others = append(others, b.Name)
		}
	}
	return spec, huma.Error422UnprocessableEntity(fmt.Sprintf(
		"rules %s do not decide what items are, so there is nothing to try or apply; those that do: %s", name, strings.Join(others, ", ")))
}

// versionText returns the text of a version of a set; version 0 is the newest, or the built-in text without
// any.
func (s *Server) versionText(ctx context.Context, spec RuleSetSpec, version int64) (storage.RuleSet, error) {
	set, err := storage.RuleSets(s.Store).Read(ctx, spec.Name, version)
	if errors.Is(err, storage.ErrNotFound) && version == 0 {
		return storage.RuleSet{Name: spec.Name, Text: spec.Default}, nil
	}
	if err != nil {
		return set, fmt.Errorf("version %d of rules %s: %w", version, spec.Name, err)
	}
	return set, nil
}

func (s *Server) testRules(ctx context.Context, in *struct {
	Name string `path:"name" maxLength:"32"`
	Body wire.RuleTest
}) (*body[workbench.TrialResult], error) {
	spec, err := s.decidingSet(in.Name)
	if err != nil {
		return nil, err
	}
	if (in.Body.Item == "") == (in.Body.Document == nil) {
		return nil, huma.Error422UnprocessableEntity("give an item's ID or a document to try the rules on, one of them")
	}
	set := storage.RuleSet{Text: []byte(in.Body.Text)}
	if in.Body.Text == "" {
		if set, err = s.versionText(ctx, spec, 0); err != nil {
			return nil, s.problem(err)
		}
	}
	by, _, err := spec.Decider(set.Text)
	if err != nil {
		return nil, invalidRules(spec, err)
	}
	var tried workbench.TrialResult
	if in.Body.Document != nil {
		tried, err = workbench.TestDraft(ctx, s.Store, by, *in.Body.Document)
	} else {
		tried, err = workbench.TestItem(ctx, s.Store, by, in.Body.Item)
	}
	if err != nil {
		return nil, s.problem(err)
	}
	return &body[workbench.TrialResult]{Body: tried}, nil
}

// invalidRules returns the errors of a text as a response.
func invalidRules(spec RuleSetSpec, err error) error {
	var details []error
	for _, f := range ruleErrors(err) {
		details = append(details, &huma.ErrorDetail{Message: f})
	}
	return huma.Error422UnprocessableEntity(fmt.Sprintf("rules %s are invalid, nothing was changed", spec.Name), details...)
}

func (s *Server) backtestRules(ctx context.Context, in *struct {
	Name    string `path:"name" maxLength:"32"`
	Items   int    `query:"items" minimum:"1" maximum:"100000" default:"2000" doc:"Number of newest items to test."`
	RawBody []byte `contentType:"text/plain"`
}) (*body[workbench.Report], error) {
	spec, err := s.decidingSet(in.Name)
	if err != nil {
		return nil, err
	}
	after, rules, err := spec.Decider(in.RawBody)
	if err != nil {
		return nil, invalidRules(spec, err)
	}
	select {
	case s.backtestSlots <- struct{}{}:
		defer func() { <-s.backtestSlots }()
	default:
		return nil, huma.Error429TooManyRequests(fmt.Sprintf("%d back-tests are running on this node; retry when one has finished", maxBacktests))
	}
	report, err := workbench.Backtest(ctx, s.Store, workbench.Trial{Before: s.Decider(), After: after, Rules: rules, Items: in.Items})
	if err != nil {
		return nil, s.problem(err)
	}
	return &body[workbench.Report]{Body: report}, nil
}

func (s *Server) applyRules(ctx context.Context, in *struct {
	Name    string `path:"name" maxLength:"32"`
	Version int64  `query:"version" minimum:"1" doc:"By default the newest."`
}) (*body[wire.Job], error) {
	spec, err := s.decidingSet(in.Name)
	if err != nil {
		return nil, err
	}
	job, err := s.applyVersion(ctx, spec, in.Version)
	if err != nil {
		return nil, err
	}
	return &body[wire.Job]{Body: job}, nil
}

func (s *Server) trainRules(ctx context.Context, in *struct {
	Name  string `path:"name" maxLength:"32"`
	Items int    `query:"items" minimum:"1" maximum:"100000" default:"20000" doc:"Number of newest items to train on, besides corrected items."`
}) (*body[wire.Job], error) {
	spec, err := s.trainableSet(in.Name)
	if err != nil {
		return nil, err
	}
	return s.beginJob(workbench.StartTrain(ctx, s.Store, spec.Name, in.Items, s.Now()))
}

func (s *Server) diffRules(ctx context.Context, in *struct {
	Name string `path:"name" maxLength:"32"`
	From int64  `query:"from" required:"true" minimum:"0" doc:"Old version; 0: the built-in rules."`
	To   int64  `query:"to" minimum:"1" doc:"The new version; by default the newest."`
}) (*struct {
	ContentType string `header:"Content-Type"`
	Body        []byte
}, error) {
	spec, err := s.ruleSetSpec(in.Name)
	if err != nil {
		return nil, err
	}
	diff, err := s.diffVersions(ctx, spec, in.From, in.To)
	if err != nil {
		return nil, err
	}
	return &struct {
		ContentType string `header:"Content-Type"`
		Body        []byte
	}{rulesType, []byte(diff)}, nil
}

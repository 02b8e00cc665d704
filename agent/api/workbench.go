package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"feedmesh/agent/workbench"
	"feedmesh/storage"
)

// maxBacktests is how many back-tests may run at once in a process.
const maxBacktests = 2

// A RuleTest is what to try rules on: an item of the store, or a document.
type RuleTest struct {
	Text     string           `json:"text,omitempty" maxLength:"4194304" doc:"Of the rules; by default that of the newest version."`
	Item     string           `json:"item,omitempty" maxLength:"64" doc:"ID of an item."`
	Document *workbench.Draft `json:"document,omitempty" doc:"A document in words, in place of an item."`
}

func (s *Server) workbenchRoutes(api huma.API) {
	huma.Register(api, op("POST", "/api/rules/{name}/test", "test-rules", "What a text makes of one item or document, and why", 400, 404, 413, 422, 503), s.testRules)

	backtest := op("POST", "/api/rules/{name}/backtest", "backtest-rules", "What a text would change about the newest items", 400, 404, 413, 422, 429, 503)
	backtest.Description = "Changes nothing. It compares what the text decides with what is decided now, says which rules fire most and never, and which are at odds with one another or with what people corrected. It ends when the client goes."
	backtest.MaxBodyBytes = storage.MaxRules + 1 // exclusive
	huma.Register(api, backtest, s.backtestRules)

	apply := op("POST", "/api/rules/{name}/apply", "apply-rules", "Label anew what is stored, by a version of a rule set", 404, 422, 429, 503)
	apply.DefaultStatus = http.StatusAccepted
	apply.Description = "Answers with the job that does so, newest items first: ask for that until its state is no longer running. While one waits or runs for the version, it begins no other. Items that people corrected stay as they are."
	huma.Register(api, apply, s.applyRules)

	train := op("POST", "/api/rules/{name}/train", "train-rules", "Learn the next version of a rule set from what is stored", 404, 422, 429, 503)
	train.DefaultStatus = http.StatusAccepted
	train.Description = "Learns from what people corrected, and from what the rules say confidently of other items. Answers with the job that does so; what it learned is in force as soon as it is done."
	huma.Register(api, train, s.trainRules)

	diff := op("GET", "/api/rules/{name}/diff", "diff-rules", "What makes one version of a rule set of another, as a unified diff", 404, 422, 503)
	diff.Responses = map[string]*huma.Response{"200": {
		Content: map[string]*huma.MediaType{"text/plain": {Schema: &huma.Schema{Type: huma.TypeString}}},
	}}
	huma.Register(api, diff, s.diffRules)
}

// deciding returns the set with the given name if it decides what items are.
func (s *Server) deciding(name string) (Rulebook, error) {
	book, err := s.rulebook(name)
	if err != nil || book.Decider != nil {
		return book, err
	}
	var others []string
	for _, b := range s.Rulebooks {
		if b.Decider != nil {
			others = append(others, b.Name)
		}
	}
	return book, huma.Error422UnprocessableEntity(fmt.Sprintf(
		"rules %s do not decide what items are, so there is nothing to try or apply; those that do: %s", name, strings.Join(others, ", ")))
}

// versionText returns the text of a version of a set: of the newest for version
// 0, or of the program's own rules if there is none.
func (s *Server) versionText(ctx context.Context, book Rulebook, version int64) (storage.RuleSet, error) {
	set, err := s.Store.Rules(ctx, book.Name, version)
	if errors.Is(err, storage.ErrNotFound) && version == 0 {
		return storage.RuleSet{Name: book.Name, Text: book.Standard}, nil
	}
	if err != nil {
		return set, fmt.Errorf("version %d of rules %s: %w", version, book.Name, err)
	}
	return set, nil
}

func (s *Server) testRules(ctx context.Context, in *struct {
	Name string `path:"name" maxLength:"32"`
	Body RuleTest
}) (*body[workbench.Tried], error) {
	book, err := s.deciding(in.Name)
	if err != nil {
		return nil, err
	}
	if (in.Body.Item == "") == (in.Body.Document == nil) {
		return nil, huma.Error422UnprocessableEntity("give an item's ID or a document to try the rules on, one of them")
	}
	set := storage.RuleSet{Text: []byte(in.Body.Text)}
	if in.Body.Text == "" {
		if set, err = s.versionText(ctx, book, 0); err != nil {
			return nil, s.problem(err)
		}
	}
	by, _, err := book.Decider(set.Text)
	if err != nil {
		return nil, wrongRules(book, err)
	}
	var tried workbench.Tried
	if in.Body.Document != nil {
		tried, err = workbench.TryDraft(ctx, s.Store, by, *in.Body.Document)
	} else {
		tried, err = workbench.TryItem(ctx, s.Store, by, in.Body.Item)
	}
	if err != nil {
		return nil, s.problem(err)
	}
	return &body[workbench.Tried]{Body: tried}, nil
}

// wrongRules says what is wrong with a text.
func wrongRules(book Rulebook, err error) error {
	var details []error
	for _, f := range faultsOf(err) {
		details = append(details, &huma.ErrorDetail{Message: f})
	}
	return huma.Error422UnprocessableEntity(fmt.Sprintf("rules %s are wrong, nothing was changed", book.Name), details...)
}

func (s *Server) backtestRules(ctx context.Context, in *struct {
	Name    string `path:"name" maxLength:"32"`
	Items   int    `query:"items" minimum:"1" maximum:"100000" default:"2000" doc:"How many of the newest to look at."`
	RawBody []byte `contentType:"text/plain"`
}) (*body[workbench.Report], error) {
	book, err := s.deciding(in.Name)
	if err != nil {
		return nil, err
	}
	after, rules, err := book.Decider(in.RawBody)
	if err != nil {
		return nil, wrongRules(book, err)
	}
	select {
	case s.benches <- struct{}{}:
		defer func() { <-s.benches }()
	default:
		return nil, huma.Error429TooManyRequests(fmt.Sprintf("%d back-tests are under way here already; try again when one has ended", maxBacktests))
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
}) (*body[Job], error) {
	book, err := s.deciding(in.Name)
	if err != nil {
		return nil, err
	}
	job, err := s.applyVersion(ctx, book, in.Version)
	if err != nil {
		return nil, err
	}
	return &body[Job]{Body: job}, nil
}

func (s *Server) trainRules(ctx context.Context, in *struct {
	Name  string `path:"name" maxLength:"32"`
	Items int    `query:"items" minimum:"1" maximum:"100000" default:"20000" doc:"How many of the newest to learn from, besides those that people corrected."`
}) (*body[Job], error) {
	book, err := s.learning(in.Name)
	if err != nil {
		return nil, err
	}
	return s.beginJob(workbench.BeginTrain(ctx, s.Store, book.Name, in.Items, s.Now()))
}

func (s *Server) diffRules(ctx context.Context, in *struct {
	Name string `path:"name" maxLength:"32"`
	From int64  `query:"from" required:"true" minimum:"0" doc:"The old version; 0: the program's own rules."`
	To   int64  `query:"to" minimum:"1" doc:"The new version; by default the newest."`
}) (*struct {
	ContentType string `header:"Content-Type"`
	Body        []byte
}, error) {
	book, err := s.rulebook(in.Name)
	if err != nil {
		return nil, err
	}
	diff, err := s.diffVersions(ctx, book, in.From, in.To)
	if err != nil {
		return nil, err
	}
	return &struct {
		ContentType string `header:"Content-Type"`
		Body        []byte
	}{rulesType, []byte(diff)}, nil
}

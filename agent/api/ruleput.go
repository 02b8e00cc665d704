package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"feedmesh/classify/rule"
	"feedmesh/storage"
)

// A RuleCheck says what is wrong with a text.
type RuleCheck struct {
	Sound    bool     `json:"sound"`
	Faults   []string `json:"faults" doc:"All that is wrong, in words; none if it is sound."`
	Warnings []string `json:"warnings" doc:"What is odd about a sound text, in words: it can be put all the same."`
}

// A RulePut is a version that was put.
type RulePut struct {
	RuleVersion
	Told bool `json:"told" doc:"Whether the mesh was told; if not, it will be within a minute."`
}

func (s *Server) putRules(ctx context.Context, in *struct {
	Name    string `path:"name" maxLength:"32"`
	IfMatch string `header:"If-Match" maxLength:"32" doc:"The version that the text was made from, as in ETag."`
	Version string `query:"version" maxLength:"18" doc:"The same, for who can't send headers."`
	Note    string `query:"note" maxLength:"200" doc:"What changes, for the list of versions."`
	RawBody []byte `contentType:"text/plain"`
}) (*body[RulePut], error) {
	book, err := s.rulebook(in.Name)
	if err != nil {
		return nil, err
	}
	from, err := baseVersion(in.IfMatch, in.Version)
	if err != nil {
		return nil, err
	}
	return s.putText(ctx, book, storage.RuleSet{Version: from, Text: in.RawBody, Note: in.Note})
}

// baseVersion returns the version that a text was made from.
func baseVersion(ifMatch, query string) (int64, error) {
	tag := strings.Trim(strings.TrimPrefix(strings.TrimSpace(ifMatch), "W/"), `"`)
	switch {
	case tag == "" && query == "":
		return 0, huma.NewError(http.StatusPreconditionRequired,
			"say which version the text was made from, with If-Match or ?version=: 0 if there is none yet")
	case tag == "":
		tag = query
	case query != "" && query != tag:
		return 0, huma.Error400BadRequest(fmt.Sprintf("If-Match says version %q and the query %q", tag, query))
	}
	version, err := strconv.ParseInt(tag, 10, 64)
	if err != nil || version < 0 {
		return 0, huma.Error400BadRequest(fmt.Sprintf("%q is no version: it is a whole number from 0", tag))
	}
	return version, nil
}

// putText stores a sound text as the next version and tells the mesh.
func (s *Server) putText(ctx context.Context, book Rulebook, set storage.RuleSet) (*body[RulePut], error) {
	if faults := faultsOf(book.Check(set.Text)); len(faults) > 0 {
		details := make([]error, len(faults))
		for i, f := range faults {
			details[i] = &huma.ErrorDetail{Message: f}
		}
		return nil, huma.Error422UnprocessableEntity(fmt.Sprintf("rules %s are wrong, nothing was changed", book.Name), details...)
	}
	put, err := s.putVersion(ctx, book, set)
	if err != nil {
		return nil, s.problem(err)
	}
	return &body[RulePut]{Body: put}, nil
}

// putVersion stores a sound text as the next version and tells the mesh.
func (s *Server) putVersion(ctx context.Context, book Rulebook, set storage.RuleSet) (RulePut, error) {
	set.Name, set.Changed = book.Name, s.Now()
	next, err := s.Store.PutRules(ctx, set)
	if err != nil {
		return RulePut{}, fmt.Errorf("rules %s: %w", book.Name, err)
	}
	err = s.Mesh.PutRules(ctx, book.Name, func(ctx context.Context) (storage.RuleSet, error) {
		return s.Store.Rules(ctx, book.Name, 0)
	})
	if err != nil { // it is stored, and whoever has the store tells the mesh again
		s.Log.Warn("the mesh can't be told of new rules yet", "rules", book.Name, "err", err)
	}
	return RulePut{RuleVersion: versionOf(next), Told: err == nil}, nil
}

// versionOf returns a version as clients see it.
func versionOf(set storage.RuleSet) RuleVersion {
	return RuleVersion{Version: set.Version, Note: set.Note, Changed: set.Changed}
}

// maxFaults is how many faults of a text are told.
const maxFaults = 100

// faultsOf returns the errors that were joined, or the faults of a set of rules,
// in words, at most maxFaults.
func faultsOf(err error) []string {
	if err == nil {
		return nil
	}
	all := []error{err}
	var found rule.Faults
	if joined, is := err.(interface{ Unwrap() []error }); is {
		all = joined.Unwrap()
	} else if errors.As(err, &found) {
		all = nil
		for _, fault := range found {
			all = append(all, fault)
		}
	}
	faults := make([]string, len(all))
	for i, fault := range all {
		faults[i] = fault.Error()
	}
	return atMost(faults)
}

// atMost returns the first maxFaults of what is said of a text, and how many more
// there are.
func atMost(said []string) []string {
	if len(said) <= maxFaults {
		return said
	}
	return append(said[:maxFaults:maxFaults], fmt.Sprintf("and %d more", len(said)-maxFaults))
}

func (s *Server) checkRules(_ context.Context, in *struct {
	Name    string `path:"name" maxLength:"32"`
	RawBody []byte `contentType:"text/plain"`
}) (*body[RuleCheck], error) {
	book, err := s.rulebook(in.Name)
	if err != nil {
		return nil, err
	}
	return &body[RuleCheck]{Body: checkText(book, in.RawBody)}, nil
}

// checkText says what is wrong with a text.
func checkText(book Rulebook, text []byte) RuleCheck {
	faults, warnings := faultsOf(book.Check(text)), []string{}
	if len(faults) == 0 && book.Warn != nil {
		warnings = append(warnings, atMost(book.Warn(text))...)
	}
	return RuleCheck{Sound: len(faults) == 0, Faults: append([]string{}, faults...), Warnings: warnings}
}

func (s *Server) restoreRules(ctx context.Context, in *struct {
	Name    string `path:"name" maxLength:"32"`
	Version int64  `query:"version" required:"true" minimum:"0" doc:"Whose text to put; 0: the program's own rules."`
}) (*body[RulePut], error) {
	book, err := s.rulebook(in.Name)
	if err != nil {
		return nil, err
	}
	return s.restoreVersion(ctx, book, in.Version)
}

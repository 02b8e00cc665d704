package service

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"feedmesh/agent/wire"
	"feedmesh/classify/rule"
	"feedmesh/storage"
)

func (s *Server) putRules(ctx context.Context, in *struct {
	Name    string `path:"name" maxLength:"32"`
	IfMatch string `header:"If-Match" maxLength:"32" doc:"Base version of the text, as in ETag."`
	Version string `query:"version" maxLength:"18" doc:"The same, for clients that can't send headers."`
	Note    string `query:"note" maxLength:"200" doc:"Note for the list of versions."`
	RawBody []byte `contentType:"text/plain"`
}) (*body[wire.SavedRules], error) {
	spec, err := s.ruleSetSpec(in.Name)
	if err != nil {
		return nil, err
	}
	from, err := baseVersion(in.IfMatch, in.Version)
	if err != nil {
		return nil, err
	}
	return s.putText(ctx, spec, storage.RuleSet{Version: from, Text: in.RawBody, Note: in.Note})
}

// baseVersion returns the version that a text is based on.
func baseVersion(ifMatch, query string) (int64, error) {
	tag := strings.Trim(strings.TrimPrefix(strings.TrimSpace(ifMatch), "W/"), `"`)
	switch {
	case tag == "" && query == "":
		return 0, huma.NewError(http.StatusPreconditionRequired,
			"state the base version with If-Match or ?version=; 0 if no version is saved")
	case tag == "":
		tag = query
	case query != "" && query != tag:
		return 0, huma.Error400BadRequest(fmt.Sprintf("If-Match states version %q, the query %q", tag, query))
	}
	version, err := strconv.ParseInt(tag, 10, 64)
	if err != nil || version < 0 {
		return 0, huma.Error400BadRequest(fmt.Sprintf("%q is not a version: use a whole number from 0", tag))
	}
	return version, nil
}

// putText checks a text, stores it as the next version and publishes it.
func (s *Server) putText(ctx context.Context, spec RuleSetSpec, set storage.RuleSet) (*body[wire.SavedRules], error) {
	if messages := ruleErrors(spec.Check(set.Text)); len(messages) > 0 {
		details := make([]error, len(messages))
		for i, f := range messages {
			details[i] = &huma.ErrorDetail{Message: f}
		}
		return nil, huma.Error422UnprocessableEntity(fmt.Sprintf("rules %s are invalid, nothing was changed", spec.Name), details...)
	}
	put, err := s.putVersion(ctx, spec, set)
	if err != nil {
		return nil, s.problem(err)
	}
	return &body[wire.SavedRules]{Body: put}, nil
}

// putVersion stores a valid text as the next version and publishes it to the mesh.
func (s *Server) putVersion(ctx context.Context, spec RuleSetSpec, set storage.RuleSet) (wire.SavedRules, error) {
	set.Name, set.Changed = spec.Name, s.Now()
	next, err := storage.RuleSets(s.Store).Put(ctx, set)
	if err != nil {
		return wire.SavedRules{}, fmt.Errorf("rules %s: %w", spec.Name, err)
	}
	err = s.Mesh.PutRules(ctx, spec.Name, func(ctx context.Context) (storage.RuleSet, error) {
		return storage.RuleSets(s.Store).Read(ctx, spec.Name, 0)
	})
	if err != nil { // it is stored; agents with the store publish it again
		s.Log.Warn("rules publication failed, will retry", "rules", spec.Name, "err", err)
	}
	return wire.SavedRules{RuleVersion: versionOf(next), Notified: err == nil}, nil
}

// versionOf returns a version in the form of the API.
func versionOf(set storage.RuleSet) wire.RuleVersion {
	return wire.RuleVersion{Version: set.Version, Note: set.Note, Changed: set.Changed}
}

// maxRuleErrors is the maximum number of errors returned for a text.
const maxRuleErrors = 100

// ruleErrors returns the messages of joined errors or of a rule set's diagnostics, at most maxRuleErrors.
func ruleErrors(err error) []string {
	if err == nil {
		return nil
	}
	all := []error{err}
	var found rule.Diagnostics
	if joined, is := err.(interface{ Unwrap() []error }); is {
		all = joined.Unwrap()
	} else if errors.As(err, &found) {
		all = nil
		for _, diagnostic := range found {
			all = append(all, diagnostic)
		}
	}
	messages := make([]string, len(all))
	for i, e := range all {
		messages[i] = e.Error()
	}
	return atMost(messages)
}

// atMost returns the first maxRuleErrors messages, and the number of the others.
func atMost(messages []string) []string {
	if len(messages) <= maxRuleErrors {
		return messages
	}
	return append(messages[:maxRuleErrors:maxRuleErrors], fmt.Sprintf("and %d more", len(messages)-maxRuleErrors))
}

func (s *Server) checkRules(_ context.Context, in *struct {
	Name    string `path:"name" maxLength:"32"`
	RawBody []byte `contentType:"text/plain"`
}) (*body[wire.RuleCheck], error) {
	spec, err := s.ruleSetSpec(in.Name)
	if err != nil {
		return nil, err
	}
	return &body[wire.RuleCheck]{Body: checkText(spec, in.RawBody)}, nil
}

// checkText returns the errors and warnings of a text.
func checkText(spec RuleSetSpec, text []byte) wire.RuleCheck {
	problems, warnings := ruleErrors(spec.Check(text)), []string{}
	if len(problems) == 0 && spec.Warn != nil {
		warnings = append(warnings, atMost(spec.Warn(text))...)
	}
	return wire.RuleCheck{Valid: len(problems) == 0, Problems: append([]string{}, problems...), Warnings: warnings}
}

func (s *Server) restoreRules(ctx context.Context, in *struct {
	Name    string `path:"name" maxLength:"32"`
	Version int64  `query:"version" required:"true" minimum:"0" doc:"Version to restore; 0: the built-in rules."`
}) (*body[wire.SavedRules], error) {
	spec, err := s.ruleSetSpec(in.Name)
	if err != nil {
		return nil, err
	}
	return s.restoreVersion(ctx, spec, in.Version)
}

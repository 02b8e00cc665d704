package service

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"feedmesh/agent/wire"
	"feedmesh/agent/workbench"
	"feedmesh/classify/rule"
	"feedmesh/storage"
)

// Rules answers requests about rule sets and their versions.
type Rules struct{ *core }

// List returns the rule sets, and the version of each that every agent uses.
func (r *Rules) List(ctx context.Context, _ wire.None) (wire.RuleSets, error) {
	agents, err := r.Mesh.Agents(ctx)
	if err != nil {
		return wire.RuleSets{}, err
	}
	out := wire.RuleSets{Sets: []wire.RuleSet{}}
	for _, spec := range r.RuleSetSpecs {
		newest, err := r.newestRules(ctx, spec.Name)
		if err != nil {
			return wire.RuleSets{}, err
		}
		set := wire.RuleSet{Name: spec.Name, Does: spec.Does, Version: newest.Version, Note: newest.Note, Changed: newest.Changed, Agents: []wire.RuleAgent{}}
		for _, a := range agents {
			if version, uses := a.Rules[spec.Name]; uses {
				set.Agents = append(set.Agents, wire.RuleAgent{ID: a.ID, Host: a.Host, Version: version})
			}
		}
		out.Sets = append(out.Sets, set)
	}
	return out, nil
}

// Get returns the text of a version as saved, or the built-in rules if none is saved.
func (r *Rules) Get(ctx context.Context, in wire.RuleVersionRequest) (wire.Document, error) {
	spec, err := r.ruleSetSpec(in.Name)
	if err != nil {
		return wire.Document{}, err
	}
	set, err := r.versionText(ctx, spec, in.Version)
	return wire.Document{Type: wire.RulesType, ETag: fmt.Sprintf(`"%d"`, set.Version), Data: set.Text}, err
}

// Detail returns a version of a rule set with the operations that the set supports.
func (r *Rules) Detail(ctx context.Context, in wire.RuleVersionRequest) (wire.RuleSetDetail, error) {
	spec, err := r.ruleSetSpec(in.Name)
	if err != nil {
		return wire.RuleSetDetail{}, err
	}
	set, err := r.versionText(ctx, spec, in.Version)
	if err != nil {
		return wire.RuleSetDetail{}, err
	}
	newest, err := r.newestRules(ctx, in.Name)
	if err != nil {
		return wire.RuleSetDetail{}, err
	}
	d := wire.RuleSetDetail{
		Name: spec.Name, Does: spec.Does, Version: set.Version, Newest: newest.Version, Readable: utf8.Valid(set.Text),
		Decides: spec.Decider != nil, Learns: spec.Learn != nil,
	}
	if d.Readable {
		d.Text = string(set.Text)
	}
	return d, nil
}

// Versions returns a page of a set's versions, newest first.
func (r *Rules) Versions(ctx context.Context, in wire.RuleVersionSearch) (wire.RuleVersionPage, error) {
	spec, err := r.ruleSetSpec(in.Name)
	if err != nil {
		return wire.RuleVersionPage{}, err
	}
	versions, err := storage.RuleSets(r.Store).Versions(ctx, spec.Name, in.Before, in.Limit+1) // one more than shown, to detect that more exist
	if err != nil {
		return wire.RuleVersionPage{}, err
	}
	var page wire.RuleVersionPage
	versions, more := firstPage(versions, in.Limit)
	if more {
		page.Next = versions[in.Limit-1].Version
	}
	page.Versions = convert(versions, versionOf)
	return page, nil
}

// Check returns the errors and warnings of a text without saving it.
func (r *Rules) Check(_ context.Context, in wire.RuleTextRequest) (wire.RuleCheck, error) {
	spec, err := r.ruleSetSpec(in.Name)
	if err != nil {
		return wire.RuleCheck{}, err
	}
	problems, warnings := ruleErrors(spec.Check(in.RawBody)), []string{}
	if len(problems) == 0 && spec.Warn != nil {
		warnings = append(warnings, atMost(spec.Warn(in.RawBody))...)
	}
	return wire.RuleCheck{Valid: len(problems) == 0, Problems: append([]string{}, problems...), Warnings: warnings}, nil
}

// Put saves a text as the next version of its set. The error is [storage.ErrConflict] if a newer version
// exists.
func (r *Rules) Put(ctx context.Context, in wire.PutRulesRequest) (wire.SavedRules, error) {
	spec, err := r.ruleSetSpec(in.Name)
	if err != nil {
		return wire.SavedRules{}, err
	}
	from, err := baseVersion(in.IfMatch, in.Version)
	if err != nil {
		return wire.SavedRules{}, err
	}
	return r.put(ctx, spec, storage.RuleSet{Version: from, Text: in.RawBody, Note: in.Note})
}

// put checks a text, stores it as the next version and publishes it.
func (r *Rules) put(ctx context.Context, spec RuleSetSpec, set storage.RuleSet) (wire.SavedRules, error) {
	if err := spec.Check(set.Text); err != nil {
		return wire.SavedRules{}, invalidRules(spec, err)
	}
	return r.putVersion(ctx, spec, set)
}

// Restore saves the text of an old version as the next version; version 0 is the built-in rules.
func (r *Rules) Restore(ctx context.Context, in wire.RestoreRulesRequest) (wire.SavedRules, error) {
	spec, err := r.ruleSetSpec(in.Name)
	if err != nil {
		return wire.SavedRules{}, err
	}
	old, err := r.exactText(ctx, spec, in.Version)
	if err != nil {
		return wire.SavedRules{}, err
	}
	note := "built-in rules restored"
	if in.Version > 0 {
		note = fmt.Sprintf("version %d restored", in.Version)
	}
	newest, err := r.newestRules(ctx, spec.Name)
	if err != nil {
		return wire.SavedRules{}, err
	}
	return r.put(ctx, spec, storage.RuleSet{Version: newest.Version, Text: old.Text, Note: note})
}

// Diff returns the unified diff of two versions of a set.
func (r *Rules) Diff(ctx context.Context, in wire.DiffRequest) (wire.Document, error) {
	spec, err := r.ruleSetSpec(in.Name)
	if err != nil {
		return wire.Document{}, err
	}
	old, err := r.exactText(ctx, spec, in.From)
	if err != nil {
		return wire.Document{}, err
	}
	fresh, err := r.versionText(ctx, spec, in.To)
	if err != nil {
		return wire.Document{}, err
	}
	if !utf8.Valid(old.Text) || !utf8.Valid(fresh.Text) {
		return wire.Document{}, errorf(KindInvalid, "rules %s are binary and can't be compared line by line", spec.Name)
	}
	name := func(set storage.RuleSet) string { return fmt.Sprintf("%s, version %d", spec.Name, set.Version) }
	return wire.Document{Type: wire.RulesType, Data: []byte(workbench.Diff(name(old), string(old.Text), name(fresh), string(fresh.Text)))}, nil
}

// baseVersion returns the version that a text is based on.
func baseVersion(ifMatch, query string) (int64, error) {
	tag := strings.Trim(strings.TrimPrefix(strings.TrimSpace(ifMatch), "W/"), `"`)
	switch {
	case tag == "" && query == "":
		return 0, errorf(KindPrecondition,
			"state the base version with If-Match or ?version=; 0 if no version is saved")
	case tag == "":
		tag = query
	case query != "" && query != tag:
		return 0, errorf(KindMalformed, "If-Match states version %q, the query %q", tag, query)
	}
	version, err := strconv.ParseInt(tag, 10, 64)
	if err != nil || version < 0 {
		return 0, errorf(KindMalformed, "%q is not a version: use a whole number from 0", tag)
	}
	return version, nil
}

// versionOf returns a version in the form of the API.
func versionOf(set storage.RuleSet) wire.RuleVersion {
	return wire.RuleVersion{Version: set.Version, Note: set.Note, Changed: set.Changed}
}

// MaxRuleErrors is the maximum number of errors returned for a text.
const MaxRuleErrors = 100

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
	return atMost(convert(all, error.Error))
}

// atMost returns the first maxRuleErrors messages, and the number of the others.
func atMost(messages []string) []string {
	if len(messages) <= MaxRuleErrors {
		return messages
	}
	return append(messages[:MaxRuleErrors:MaxRuleErrors], fmt.Sprintf("and %d more", len(messages)-MaxRuleErrors))
}

// invalidRules returns the errors of a text.
func invalidRules(spec RuleSetSpec, err error) error {
	e := errorf(KindInvalid, "rules %s are invalid, nothing was changed", spec.Name)
	for _, message := range ruleErrors(err) {
		e.Fields = append(e.Fields, FieldError{Message: message})
	}
	return e
}

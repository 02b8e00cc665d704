package service

import (
	"context"
	"fmt"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"feedmesh/agent/wire"
	"feedmesh/agent/workbench"
	"feedmesh/storage"
)

// RuleSets returns the rule sets, and the version of each that every agent uses.
func (s *Server) RuleSets(ctx context.Context) ([]wire.RuleSet, error) {
	sets, err := s.listRules(ctx, nil)
	if err != nil {
		return nil, err
	}
	return sets.Body.Sets, nil
}

// RuleSetDetail returns a version of a rule set; version 0 is the newest.
func (s *Server) RuleSetDetail(ctx context.Context, name string, version int64) (wire.RuleSetDetail, error) {
	spec, err := s.ruleSetSpec(name)
	if err != nil {
		return wire.RuleSetDetail{}, err
	}
	set, err := s.versionText(ctx, spec, version)
	if err != nil {
		return wire.RuleSetDetail{}, s.problem(err)
	}
	newest, err := s.newestRules(ctx, name)
	if err != nil {
		return wire.RuleSetDetail{}, s.problem(err)
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

// RuleVersions returns the last versions of a set, newest first.
func (s *Server) RuleVersions(ctx context.Context, name string) ([]wire.RuleVersion, error) {
	spec, err := s.ruleSetSpec(name)
	if err != nil {
		return nil, err
	}
	stored, err := storage.RuleSets(s.Store).Versions(ctx, spec.Name, 0, storage.MaxRuleVersions)
	if err != nil {
		return nil, s.problem(err)
	}
	var list []wire.RuleVersion
	for _, set := range stored {
		list = append(list, versionOf(set))
	}
	return list, nil
}

// CheckRules returns the errors and warnings of a text without saving it.
func (s *Server) CheckRules(_ context.Context, name, text string) (wire.RuleCheck, error) {
	spec, err := s.ruleSetSpec(name)
	if err != nil {
		return wire.RuleCheck{}, err
	}
	return checkText(spec, []byte(text)), nil
}

// PutRules saves a text as the next version of its set. from is its base version. The error is
// [storage.ErrConflict] if a newer version exists.
func (s *Server) PutRules(ctx context.Context, name string, from int64, note, text string) (wire.SavedRules, error) {
	spec, err := s.ruleSetSpec(name)
	if err != nil {
		return wire.SavedRules{}, err
	}
	if err := spec.Check([]byte(text)); err != nil {
		return wire.SavedRules{}, invalidRules(spec, err)
	}
	return s.putVersion(ctx, spec, storage.RuleSet{Version: from, Text: []byte(text), Note: note})
}

// RestoreRules saves the text of an old version as the next version; version 0 is the built-in rules.
func (s *Server) RestoreRules(ctx context.Context, name string, version int64) error {
	spec, err := s.ruleSetSpec(name)
	if err != nil {
		return err
	}
	_, err = s.restoreVersion(ctx, spec, version)
	return err
}

// DiffRules returns the unified diff of two versions of a set. from 0 is the built-in version, to 0 the
// newest.
func (s *Server) DiffRules(ctx context.Context, name string, from, to int64) (string, error) {
	spec, err := s.ruleSetSpec(name)
	if err != nil {
		return "", err
	}
	return s.diffVersions(ctx, spec, from, to)
}

// ApplyRules starts a job that labels the stored items again by a version of a set.
func (s *Server) ApplyRules(ctx context.Context, name string, version int64) (wire.Job, error) {
	spec, err := s.decidingSet(name)
	if err != nil {
		return wire.Job{}, err
	}
	return s.applyVersion(ctx, spec, version)
}

// TrainRules starts a job that trains the next version of a set on stored items.
func (s *Server) TrainRules(ctx context.Context, name string) (wire.Job, error) {
	spec, err := s.trainableSet(name)
	if err != nil {
		return wire.Job{}, err
	}
	job, err := s.beginJob(workbench.StartTrain(ctx, s.Store, spec.Name, defaultTrainItems, s.Now()))
	if err != nil {
		return wire.Job{}, err
	}
	return job.Body, nil
}

// defaultTrainItems is the default number of newest items to train on.
const defaultTrainItems = 20_000

// trainableSet returns the set with the given name if it can be trained.
func (s *Server) trainableSet(name string) (RuleSetSpec, error) {
	spec, err := s.ruleSetSpec(name)
	if err == nil && spec.Learn == nil {
		err = huma.Error422UnprocessableEntity(fmt.Sprintf("rules %s can't be trained: they are edited manually", name))
	}
	return spec, err
}

// Jobs returns the last jobs, newest first.
func (s *Server) Jobs(ctx context.Context) ([]wire.Job, error) {
	jobs, err := s.listJobs(ctx, nil)
	if err != nil {
		return nil, err
	}
	return jobs.Body.Jobs, nil
}

// CancelJob cancels a job, within a second.
func (s *Server) CancelJob(ctx context.Context, id string) error {
	_, err := s.beginJob(workbench.CancelJob(ctx, s.Store, id))
	return err
}

// UndoJob starts a job that restores the labels that a relabel changed.
func (s *Server) UndoJob(ctx context.Context, id string) error {
	_, err := s.beginJob(workbench.StartUndo(ctx, s.Store, id, s.Now()))
	return err
}

// applyVersion starts the job of ApplyRules.
func (s *Server) applyVersion(ctx context.Context, spec RuleSetSpec, version int64) (wire.Job, error) {
	set, err := s.versionText(ctx, spec, version)
	if err != nil {
		return wire.Job{}, s.problem(err)
	}
	if _, _, err := spec.Decider(set.Text); err != nil {
		return wire.Job{}, invalidRules(spec, err)
	}
	job, err := s.beginJob(workbench.StartRelabel(ctx, s.Store, spec.Name, set.Version, s.Now()))
	if err != nil {
		return wire.Job{}, err
	}
	return job.Body, nil
}

// restoreVersion saves the text of an old version as the next version.
func (s *Server) restoreVersion(ctx context.Context, spec RuleSetSpec, version int64) (*body[wire.SavedRules], error) {
	old, note := storage.RuleSet{Text: spec.Default}, "built-in rules restored"
	if version > 0 {
		var err error
		if old, err = storage.RuleSets(s.Store).Read(ctx, spec.Name, version); err != nil {
			return nil, s.problem(fmt.Errorf("version %d of rules %s: %w", version, spec.Name, err))
		}
		note = fmt.Sprintf("version %d restored", version)
	}
	newest, err := s.newestRules(ctx, spec.Name)
	if err != nil {
		return nil, s.problem(err)
	}
	return s.putText(ctx, spec, storage.RuleSet{Version: newest.Version, Text: old.Text, Note: note})
}

// diffVersions returns the unified diff of two versions.
func (s *Server) diffVersions(ctx context.Context, spec RuleSetSpec, from, to int64) (string, error) {
	old, err := storage.RuleSet{Text: spec.Default}, error(nil)
	if from > 0 {
		if old, err = s.versionText(ctx, spec, from); err != nil {
			return "", s.problem(err)
		}
	}
	fresh, err := s.versionText(ctx, spec, to)
	if err != nil {
		return "", s.problem(err)
	}
	if !utf8.Valid(old.Text) || !utf8.Valid(fresh.Text) {
		return "", huma.Error422UnprocessableEntity(fmt.Sprintf("rules %s are binary and can't be compared line by line", spec.Name))
	}
	name := func(set storage.RuleSet) string { return fmt.Sprintf("%s, version %d", spec.Name, set.Version) }
	return workbench.Diff(name(old), string(old.Text), name(fresh), string(fresh.Text)), nil
}

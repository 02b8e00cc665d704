package api

import (
	"context"
	"fmt"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"feedmesh/agent/workbench"
	"feedmesh/storage"
)

// What follows is the work with rules as pages do it. Errors that are the asker's
// have the status that REST answers with ([huma.StatusError]).

// A RuleDesk is a rule set and what can be done with it.
type RuleDesk struct {
	Name     string
	Does     string
	Version  int64  // of Text; 0: the program's own
	Newest   int64  // there is; 0 if there is none
	Text     string // empty if it is no text for people
	Readable bool   // it is text
	Decides  bool   // what items are, so that it can be tried and applied
	Learns   bool   // from what is stored
}

// RuleSets returns the rule sets, and which version of each the agents go by.
func (s *Server) RuleSets(ctx context.Context) ([]RuleSet, error) {
	sets, err := s.listRules(ctx, nil)
	if err != nil {
		return nil, err
	}
	return sets.Body.Sets, nil
}

// RuleDesk returns a version of a rule set, the newest for version 0.
func (s *Server) RuleDesk(ctx context.Context, name string, version int64) (RuleDesk, error) {
	book, err := s.rulebook(name)
	if err != nil {
		return RuleDesk{}, err
	}
	set, err := s.versionText(ctx, book, version)
	if err != nil {
		return RuleDesk{}, s.problem(err)
	}
	newest, err := s.newestRules(ctx, name)
	if err != nil {
		return RuleDesk{}, s.problem(err)
	}
	d := RuleDesk{
		Name: book.Name, Does: book.Does, Version: set.Version, Newest: newest.Version, Readable: utf8.Valid(set.Text),
		Decides: book.Decider != nil, Learns: book.Learn != nil,
	}
	if d.Readable {
		d.Text = string(set.Text)
	}
	return d, nil
}

// RuleVersions returns the last versions of a set, newest first.
func (s *Server) RuleVersions(ctx context.Context, name string) ([]RuleVersion, error) {
	book, err := s.rulebook(name)
	if err != nil {
		return nil, err
	}
	stored, err := s.Store.RuleVersions(ctx, book.Name, 0, storage.RuleVersionsKept)
	if err != nil {
		return nil, s.problem(err)
	}
	var list []RuleVersion
	for _, set := range stored {
		list = append(list, versionOf(set))
	}
	return list, nil
}

// CheckRules says what is wrong with a text of a set, and changes nothing.
func (s *Server) CheckRules(_ context.Context, name, text string) (RuleCheck, error) {
	book, err := s.rulebook(name)
	if err != nil {
		return RuleCheck{}, err
	}
	return checkText(book, []byte(text)), nil
}

// PutRules puts a text, made from the given version, as the next one of its set.
// The error is [storage.ErrConflict] if somebody else was faster.
func (s *Server) PutRules(ctx context.Context, name string, from int64, note, text string) (RulePut, error) {
	book, err := s.rulebook(name)
	if err != nil {
		return RulePut{}, err
	}
	if err := book.Check([]byte(text)); err != nil {
		return RulePut{}, wrongRules(book, err)
	}
	return s.putVersion(ctx, book, storage.RuleSet{Version: from, Text: []byte(text), Note: note})
}

// RestoreRules puts the text of an old version as the next one; of 0, the
// program's own.
func (s *Server) RestoreRules(ctx context.Context, name string, version int64) error {
	book, err := s.rulebook(name)
	if err != nil {
		return err
	}
	_, err = s.restoreVersion(ctx, book, version)
	return err
}

// DiffRules returns what makes one version of a set of another, as a unified diff.
// from 0 is the program's own, to 0 the newest.
func (s *Server) DiffRules(ctx context.Context, name string, from, to int64) (string, error) {
	book, err := s.rulebook(name)
	if err != nil {
		return "", err
	}
	return s.diffVersions(ctx, book, from, to)
}

// ApplyRules has what is stored labelled anew by a version of a set.
func (s *Server) ApplyRules(ctx context.Context, name string, version int64) (Job, error) {
	book, err := s.deciding(name)
	if err != nil {
		return Job{}, err
	}
	return s.applyVersion(ctx, book, version)
}

// TrainRules has the next version of a set learned from what is stored.
func (s *Server) TrainRules(ctx context.Context, name string) (Job, error) {
	book, err := s.learning(name)
	if err != nil {
		return Job{}, err
	}
	job, err := s.beginJob(workbench.BeginTrain(ctx, s.Store, book.Name, trainedItems, s.Now()))
	if err != nil {
		return Job{}, err
	}
	return job.Body, nil
}

// trainedItems is how many of the newest items a training looks at, where nobody
// says.
const trainedItems = 20_000

// learning returns the set with the given name if it can be learned.
func (s *Server) learning(name string) (Rulebook, error) {
	book, err := s.rulebook(name)
	if err == nil && book.Learn == nil {
		err = huma.Error422UnprocessableEntity(fmt.Sprintf("rules %s are written by people, they can't be learned", name))
	}
	return book, err
}

// Jobs returns the last jobs, newest first.
func (s *Server) Jobs(ctx context.Context) ([]Job, error) {
	jobs, err := s.listJobs(ctx, nil)
	if err != nil {
		return nil, err
	}
	return jobs.Body.Jobs, nil
}

// CancelJob has a job end within a second.
func (s *Server) CancelJob(ctx context.Context, id string) error {
	_, err := s.beginJob(workbench.CancelJob(ctx, s.Store, id))
	return err
}

// UndoJob has items given the labels back that a relabel changed.
func (s *Server) UndoJob(ctx context.Context, id string) error {
	_, err := s.beginJob(workbench.BeginUndo(ctx, s.Store, id, s.Now()))
	return err
}

// applyVersion begins the job that labels what is stored by a version of a set.
func (s *Server) applyVersion(ctx context.Context, book Rulebook, version int64) (Job, error) {
	set, err := s.versionText(ctx, book, version)
	if err != nil {
		return Job{}, s.problem(err)
	}
	if _, _, err := book.Decider(set.Text); err != nil {
		return Job{}, wrongRules(book, err)
	}
	job, err := s.beginJob(workbench.BeginRelabel(ctx, s.Store, book.Name, set.Version, s.Now()))
	if err != nil {
		return Job{}, err
	}
	return job.Body, nil
}

// restoreVersion puts the text of an old version as the next one.
func (s *Server) restoreVersion(ctx context.Context, book Rulebook, version int64) (*body[RulePut], error) {
	old, note := storage.RuleSet{Text: book.Standard}, "the program's own rules again"
	if version > 0 {
		var err error
		if old, err = s.Store.Rules(ctx, book.Name, version); err != nil {
			return nil, s.problem(fmt.Errorf("version %d of rules %s: %w", version, book.Name, err))
		}
		note = fmt.Sprintf("version %d again", version)
	}
	newest, err := s.newestRules(ctx, book.Name)
	if err != nil {
		return nil, s.problem(err)
	}
	return s.putText(ctx, book, storage.RuleSet{Version: newest.Version, Text: old.Text, Note: note})
}

// diffVersions returns what makes one version of a set of another.
func (s *Server) diffVersions(ctx context.Context, book Rulebook, from, to int64) (string, error) {
	old, err := storage.RuleSet{Text: book.Standard}, error(nil)
	if from > 0 {
		if old, err = s.versionText(ctx, book, from); err != nil {
			return "", s.problem(err)
		}
	}
	fresh, err := s.versionText(ctx, book, to)
	if err != nil {
		return "", s.problem(err)
	}
	if !utf8.Valid(old.Text) || !utf8.Valid(fresh.Text) {
		return "", huma.Error422UnprocessableEntity(fmt.Sprintf("rules %s are no text that could be compared line by line", book.Name))
	}
	name := func(set storage.RuleSet) string { return fmt.Sprintf("%s, version %d", book.Name, set.Version) }
	return workbench.Diff(name(old), string(old.Text), name(fresh), string(fresh.Text)), nil
}

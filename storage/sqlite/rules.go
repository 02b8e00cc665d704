package sqlite

import (
	"context"

	"feedmesh/storage"
)

const (
	ruleVersions = `
		SELECT name, version, note, changed FROM rules
		WHERE name = ?1 AND (?2 = 0 OR version < ?2) ORDER BY version DESC LIMIT ?3`
	putRules       = `INSERT INTO rules (name, version, note, changed, text) VALUES (?, ?, ?, ?, nullif(?, x''))`
	deleteOldRules = `DELETE FROM rules WHERE name = ? AND version <= ?`
)

// PutRules implements [storage.RuleSets].
func (s *Store) PutRules(ctx context.Context, set storage.RuleSet) (next storage.RuleSet, err error) {
	err = s.transaction(ctx, "put rules", func(w *writer) error {
		var newest storage.RuleSet
		stored, err := collect(ctx, w.ruleVersions, scanRules, set.Name, 0, 1)
		if err != nil {
			return err
		}
		if len(stored) > 0 {
			newest = stored[0]
		}
		if next, err = storage.NextRules(newest, set); err != nil {
			return err
		}
		if _, err := w.putRules.ExecContext(ctx, next.Name, next.Version, next.Note, micros(next.Changed), set.Text); err != nil {
			return err
		}
		_, err = w.deleteOldRules.ExecContext(ctx, next.Name, next.Version-storage.MaxRuleVersions)
		return err
	})
	if err != nil {
		return storage.RuleSet{}, err
	}
	return next, nil
}

const rulesByVersion = `
	SELECT name, version, note, changed, text FROM rules
	WHERE name = ?1 AND (?2 = 0 OR version = ?2) ORDER BY version DESC LIMIT 1`

// Rules implements [storage.RuleSets].
func (s *Store) Rules(ctx context.Context, name string, version int64) (set storage.RuleSet, err error) {
	err = s.read.rules.QueryRowContext(ctx, name, version).Scan(append(rulesFields(&set), &set.Text)...)
	return set, s.wrap(ctx, "read rules", err)
}

// RuleVersions implements [storage.RuleSets].
func (s *Store) RuleVersions(ctx context.Context, name string, before int64, limit int) ([]storage.RuleSet, error) {
	page, err := collect(ctx, s.read.ruleVersions, scanRules, name, before, max(limit, 0))
	return page, s.wrap(ctx, "list versions of rules", err)
}

func scanRules(row scanner) (set storage.RuleSet, err error) {
	err = row.Scan(rulesFields(&set)...)
	return set, err
}

// rulesFields returns the destinations of a version's columns.
func rulesFields(set *storage.RuleSet) []any {
	return []any{&set.Name, &set.Version, &set.Note, nullTime{&set.Changed}}
}

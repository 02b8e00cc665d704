package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"feedmesh/storage"
)

const (
	// The lock serializes PutRules: a new set has no row to lock.
	lockRules = `LOCK TABLE rules IN SHARE ROW EXCLUSIVE MODE`

	ruleVersions = `
		SELECT name, version, note, changed FROM rules
		WHERE name = $1 AND ($2 = 0::bigint OR version < $2) ORDER BY version DESC LIMIT $3`
	putRules       = `INSERT INTO rules (name, version, note, changed, text) VALUES ($1, $2, $3, $4, $5)`
	deleteOldRules = `DELETE FROM rules WHERE name = $1 AND version <= $2`
)

// PutRules implements [storage.RuleSets].
func (s *Store) PutRules(ctx context.Context, set storage.RuleSet) (next storage.RuleSet, err error) {
	err = s.transaction(ctx, "put rules", func(ctx context.Context, tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, lockRules); err != nil {
			return err
		}
		var newest storage.RuleSet
		stored, err := collect(ctx, tx, scanRules, ruleVersions, set.Name, int64(0), 1)
		if err != nil {
			return err
		}
		if len(stored) > 0 {
			newest = stored[0]
		}
		if next, err = storage.NextRules(newest, set); err != nil {
			return err
		}
		statements := &pgx.Batch{}
		statements.Queue(putRules, clean(next.Name, next.Version, next.Note, next.Changed, set.Text)...)
		statements.Queue(deleteOldRules, clean(next.Name, next.Version-storage.MaxRuleVersions)...)
		return tx.SendBatch(ctx, statements).Close()
	})
	if err != nil {
		return storage.RuleSet{}, err
	}
	return next, nil
}

const rulesByVersion = `
	SELECT name, version, note, changed, text FROM rules
	WHERE name = $1 AND ($2 = 0::bigint OR version = $2) ORDER BY version DESC LIMIT 1`

// Rules implements [storage.RuleSets].
func (s *Store) Rules(ctx context.Context, name string, version int64) (set storage.RuleSet, err error) {
	err = s.do(ctx, "read rules", func(ctx context.Context) (err error) {
		set, err = one(ctx, s.pool, func(row pgx.CollectableRow) (set storage.RuleSet, err error) {
			err = row.Scan(append(rulesFields(&set), &set.Text)...)
			return set, err
		}, rulesByVersion, name, version)
		return err
	})
	return set, err
}

// RuleVersions implements [storage.RuleSets].
func (s *Store) RuleVersions(ctx context.Context, name string, before int64, limit int) ([]storage.RuleSet, error) {
	return read(ctx, s, "list versions of rules", scanRules, ruleVersions, name, before, max(limit, 0))
}

func scanRules(row pgx.CollectableRow) (set storage.RuleSet, err error) {
	err = row.Scan(rulesFields(&set)...)
	return set, err
}

// rulesFields returns the destinations of a version's columns.
func rulesFields(set *storage.RuleSet) []any {
	return []any{&set.Name, &set.Version, &set.Note, nullTime{&set.Changed}}
}

package memory

import (
	"context"

	"feedmesh/storage"
)

// PutRules implements [storage.RuleSets].
func (s *Store) PutRules(ctx context.Context, set storage.RuleSet) (storage.RuleSet, error) {
	if err := s.lock(ctx); err != nil {
		return storage.RuleSet{}, err
	}
	defer s.mu.Unlock()
	var newest storage.RuleSet
	kept := s.rules[set.Name]
	if len(kept) > 0 {
		newest = kept[len(kept)-1]
	}
	next, err := storage.NextRules(newest, set)
	if err != nil {
		return storage.RuleSet{}, err
	}
	set.Version = next.Version
	kept = append(kept, copyRules(set))
	s.rules[set.Name] = kept[max(len(kept)-storage.MaxRuleVersions, 0):]
	return next, nil
}

// Rules implements [storage.RuleSets].
func (s *Store) Rules(ctx context.Context, name string, version int64) (storage.RuleSet, error) {
	if err := s.lock(ctx); err != nil {
		return storage.RuleSet{}, err
	}
	defer s.mu.Unlock()
	kept := s.rules[name]
	for i := len(kept) - 1; i >= 0; i-- {
		if version == 0 || kept[i].Version == version {
			return copyRules(kept[i]), nil
		}
	}
	return storage.RuleSet{}, storage.ErrNotFound
}

// RuleVersions implements [storage.RuleSets].
func (s *Store) RuleVersions(ctx context.Context, name string, before int64, limit int) ([]storage.RuleSet, error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	var page []storage.RuleSet
	kept := s.rules[name]
	for i := len(kept) - 1; i >= 0; i-- {
		if before == 0 || kept[i].Version < before {
			set := kept[i]
			set.Text = nil
			page = append(page, set)
		}
	}
	return first(page, limit), nil
}

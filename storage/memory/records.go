package memory

import (
	"cmp"
	"context"
	"reflect"
	"slices"
	"strings"
	"time"

	"feedmesh/storage"
)

// ReadRecords implements [storage.Records].
func (s *Store) ReadRecords(ctx context.Context, t *storage.Table, q storage.RecordQuery) ([]any, error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	return lockedRecords{s}.ReadRecords(ctx, t, q)
}

// ChangeRecord implements [storage.Records].
func (s *Store) ChangeRecord(ctx context.Context, t *storage.Table, c storage.RecordChange) error {
	if err := s.lock(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	return lockedRecords{s}.ChangeRecord(ctx, t, c)
}

// lockedRecords are the records of a locked store.
type lockedRecords struct{ s *Store }

func (l lockedRecords) ReadRecords(_ context.Context, t *storage.Table, q storage.RecordQuery) (found []any, err error) {
	for _, record := range l.s.records[t.Name] {
		if hasKey(t, record, q.Key) {
			found = append(found, copyRecord(t, record, q.Whole))
		}
	}
	return first(found, q.Limit), nil
}

func (l lockedRecords) ChangeRecord(_ context.Context, t *storage.Table, c storage.RecordChange) error {
	if l.s.fenced(c.Fence) {
		return storage.ErrFenced
	}
	all := l.s.records[t.Name]
	var stored any
	if at := slices.IndexFunc(all, func(r any) bool { return hasKey(t, r, c.Key) }); at >= 0 {
		stored = copyRecord(t, all[at], true)
	}
	record, err := c.Apply(stored)
	if err != nil || record == nil && stored == nil {
		return err
	}
	of := record
	if record == nil {
		of = stored
	}
	key := keyOf(t, of)
	rest := slices.DeleteFunc(slices.Clone(all), func(r any) bool { return hasKey(t, r, key) })
	if record != nil {
		if len(rest) == len(all) && t.Max > 0 && len(all) >= t.Max {
			return storage.ErrTooMany
		}
		rest = append(rest, copyRecord(t, record, true))
		slices.SortFunc(rest, func(a, b any) int { return compareRecords(t, a, b) })
		kept := 0
		rest = slices.DeleteFunc(rest, func(r any) bool {
			if !hasKey(t, r, key[:len(key)-1]) {
				return false
			}
			kept++
			old := t.Keep > 0 && kept > t.Keep
			if job, is := keyOf(t, r)[0].(string); old && is && t.Owned != "" {
				delete(l.s.savedLabels, job)
			}
			return old
		})
	}
	l.s.records[t.Name] = rest
	return nil
}

func keyOf(t *storage.Table, record any) (key []any) {
	for _, c := range t.Columns(record)[:t.Keys] {
		key = append(key, reflect.ValueOf(c.Field).Elem().Interface())
	}
	return key
}

func hasKey(t *storage.Table, record any, key []any) bool {
	return slices.Equal(keyOf(t, record)[:len(key)], key)
}

func compareRecords(t *storage.Table, a, b any) (order int) {
	for term := range strings.SplitSeq(t.Order, ", ") {
		name, descending := strings.CutSuffix(term, " DESC")
		next := 0
		for i, c := range t.Columns(a) {
			if c.Name != name {
				continue
			}
			switch x := c.Field.(type) {
			case *string:
				next = cmp.Compare(*x, *t.Columns(b)[i].Field.(*string))
			case *int64:
				next = cmp.Compare(*x, *t.Columns(b)[i].Field.(*int64))
			case *time.Time:
				next = x.Compare(*t.Columns(b)[i].Field.(*time.Time))
			}
		}
		if descending {
			next = -next
		}
		order = cmp.Or(order, next)
	}
	return order
}

func copyRecord(t *storage.Table, record any, whole bool) any {
	to := t.New()
	from := t.Columns(record)
	for i, c := range t.Columns(to) {
		if c.Large && !whole {
			continue
		}
		switch x := from[i].Field.(type) {
		case *time.Time:
			*c.Field.(*time.Time) = micro(*x)
			if x.IsZero() {
				*c.Field.(*time.Time) = time.Time{}
			}
		case *[]string:
			*c.Field.(*[]string) = slices.Clone(*x)
		case *[]byte:
			*c.Field.(*[]byte) = slices.Clone(*x)
		default:
			reflect.ValueOf(c.Field).Elem().Set(reflect.ValueOf(x).Elem())
		}
	}
	return to
}

package sqlite

import (
	"context"
	"math"
	"time"

	"feedmesh/storage"
)

const (
	memberColumns  = `m.view, m.item_id, m.serial, m.entered, m.published, m.past, m.absent, m.story_id, m.original_id`
	relatedColumns = `m.view, m.item_id, m.serial, m.published FROM json_each(?1) j`
	ofViews        = ` AND NOT m.absent AND m.view IN (SELECT value FROM json_each(?2))`

	membersOfItems     = `SELECT ` + memberColumns + ` FROM json_each(?) j CROSS JOIN view_members m ON m.item_id = j.value`
	membersOfStories   = `SELECT i.story_id, ` + relatedColumns + ` CROSS JOIN items i ON i.story_id = j.value CROSS JOIN view_members m ON m.item_id = i.id WHERE i.story_id <> ''` + ofViews
	membersOfOriginals = `
		SELECT i.id, ` + relatedColumns + ` CROSS JOIN items i ON i.id = j.value AND i.duplicate_of = '' CROSS JOIN view_members m ON m.item_id = i.id WHERE true` + ofViews + `
		UNION ALL
		SELECT i.duplicate_of, ` + relatedColumns + ` CROSS JOIN items i ON i.duplicate_of = j.value AND i.duplicate_of <> '' CROSS JOIN view_members m ON m.item_id = i.id WHERE true` + ofViews
)

func scanMember(row scanner) (m storage.Member, err error) {
	err = row.Scan(&m.View, &m.ItemID, &m.Serial, nullTime{&m.Entered}, nullTime{&m.Published}, &m.Past, &m.Absent, &m.StoryID, &m.OriginalID)
	return m, err
}

func scanRelatedMember(row scanner) (m storage.RelatedMember, err error) {
	err = row.Scan(&m.Of, &m.View, &m.ItemID, &m.Serial, nullTime{&m.Published})
	return m, err
}

// MembersOfItems implements [storage.Members].
func (s memberStore) MembersOfItems(ctx context.Context, ids ...string) ([]storage.Member, error) {
	return read(ctx, s.engine, "read members of items", membersOfItems, scanMember, asJSON(ids))
}

// MembersOfStories implements [storage.Members].
func (s memberStore) MembersOfStories(ctx context.Context, views []int64, stories ...string) ([]storage.RelatedMember, error) {
	return read(ctx, s.engine, "read members of stories", membersOfStories, scanRelatedMember, asJSON(stories), asJSON(views))
}

// MembersOfOriginals implements [storage.Members].
func (s memberStore) MembersOfOriginals(ctx context.Context, views []int64, originals ...string) ([]storage.RelatedMember, error) {
	return read(ctx, s.engine, "read members of originals", membersOfOriginals, scanRelatedMember, asJSON(originals), asJSON(views))
}

const (
	nextSerial = `INSERT INTO view_serial (id, last) VALUES (1, 1) ON CONFLICT (id) DO UPDATE SET last = last + 1 RETURNING last`
	putMember  = `
		INSERT INTO view_members (view, item_id, serial, entered, published, past, absent, story_id, original_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (item_id, view) DO UPDATE SET serial = excluded.serial, entered = excluded.entered, published = excluded.published,
			past = excluded.past, absent = excluded.absent, story_id = excluded.story_id, original_id = excluded.original_id`
	deleteMembersOfItems = `DELETE FROM view_members WHERE item_id IN (SELECT value FROM json_each(?))`
)

// ChangeMembers implements [storage.Members].
func (s memberStore) ChangeMembers(ctx context.Context, fence storage.Fence, members []storage.Member, gone []string) error {
	return s.transaction(ctx, "change members", func(w *writer) error {
		if err := checkFence(ctx, w, fence); err != nil {
			return err
		}
		for _, m := range members {
			if m.Serial == 0 {
				if err := w.row(ctx, nextSerial).Scan(&m.Serial); err != nil {
					return err
				}
			}
			if _, err := w.exec(ctx, putMember, m.View, m.ItemID, m.Serial, micros(m.Entered), micros(m.Published), m.Past, m.Absent, m.StoryID, m.OriginalID); err != nil {
				return err
			}
		}
		if len(gone) == 0 {
			return nil
		}
		_, err := w.exec(ctx, deleteMembersOfItems, asJSON(gone))
		return err
	})
}

const (
	newestMembers = `
		SELECT ` + memberColumns + ` FROM view_members m
		WHERE view = ?1 AND absent = 0 AND published >= ?2 AND published <= ?3 AND (published < ?3 OR item_id > ?4)
		ORDER BY published DESC, item_id LIMIT ?5`
	oldestMembers = `
		SELECT ` + memberColumns + ` FROM view_members m
		WHERE view = ?1 AND absent = 0 AND published >= ?2 AND published >= ?3 AND (published > ?3 OR item_id < ?4)
		ORDER BY published, item_id DESC LIMIT ?5`
	countMembers = `SELECT view, count(*) FROM view_members WHERE view IN (SELECT value FROM json_each(?1)) AND absent = 0 AND published >= ?2 GROUP BY view`
)

// ListMembers implements [storage.Members].
func (s memberStore) ListMembers(ctx context.Context, q storage.MemberQuery, after storage.Member, limit int) ([]storage.Member, error) {
	statement, from := newestMembers, int64(math.MaxInt64)
	if q.Oldest {
		statement, from = oldestMembers, math.MinInt64
	}
	if after.ItemID != "" {
		from = micros(after.Published)
	}
	return read(ctx, s.engine, "list members", statement, scanMember, q.View, sinceOrAlways(q.Since), from, after.ItemID, max(limit, 0))
}

// sinceOrAlways returns the microseconds of a lower bound, which the zero time is not.
func sinceOrAlways(t time.Time) int64 {
	if t.IsZero() {
		return math.MinInt64
	}
	return micros(t)
}

// CountMembers implements [storage.Members].
func (s memberStore) CountMembers(ctx context.Context, since time.Time, views ...int64) (map[int64]int64, error) {
	return readMap(ctx, s.engine, "count members", countMembers, func(row scanner, view, n *int64) error { return row.Scan(view, n) },
		asJSON(views), sinceOrAlways(since))
}

const (
	removeMembers = `
		DELETE FROM view_members WHERE view = ?1 AND item_id IN (SELECT item_id FROM view_members WHERE view = ?1 AND published < ?2 LIMIT ?3)`
	// Each view is found by one lookup in the index.
	viewsWithMembers = `
		WITH RECURSIVE found (view) AS (
			SELECT min(view) FROM view_members
			UNION ALL SELECT (SELECT min(view) FROM view_members WHERE view > found.view) FROM found WHERE found.view IS NOT NULL
		)
		SELECT view FROM found WHERE view IS NOT NULL`
)

// RemoveMembers implements [storage.Members].
func (s memberStore) RemoveMembers(ctx context.Context, fence storage.Fence, view int64, before time.Time, limit int) (int, error) {
	until := int64(math.MaxInt64)
	if !before.IsZero() {
		until = micros(before)
	}
	return inTransaction(ctx, s.engine, "remove members", func(w *writer) (int, error) {
		if err := checkFence(ctx, w, fence); err != nil {
			return 0, err
		}
		done, err := w.exec(ctx, removeMembers, view, until, max(limit, 0))
		if err != nil {
			return 0, err
		}
		n, err := done.RowsAffected()
		return int(n), err
	})
}

// ViewsWithMembers implements [storage.Members].
func (s memberStore) ViewsWithMembers(ctx context.Context) ([]int64, error) {
	return read(ctx, s.engine, "list views with members", viewsWithMembers, func(row scanner) (view int64, err error) {
		err = row.Scan(&view)
		return view, err
	})
}

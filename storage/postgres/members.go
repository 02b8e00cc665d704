package postgres

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"feedmesh/storage"
)

const (
	memberColumns  = `m.view, m.item_id, m.serial, m.entered, m.published, m.past, m.absent, m.story_id, m.original_id`
	relatedColumns = `m.view, m.item_id, m.serial, m.published`
	ofViews        = ` AND NOT m.absent AND m.view = ANY($2)`

	membersOfItems     = `SELECT ` + memberColumns + ` FROM view_members m WHERE m.item_id = ANY($1)`
	membersOfStories   = `SELECT i.story_id, ` + relatedColumns + ` FROM items i JOIN view_members m ON m.item_id = i.id WHERE i.story_id = ANY($1) AND i.story_id <> ''` + ofViews
	membersOfOriginals = `
		SELECT i.id, ` + relatedColumns + ` FROM items i JOIN view_members m ON m.item_id = i.id
		WHERE i.id = ANY($1) AND i.duplicate_of = ''` + ofViews + `
		UNION ALL
		SELECT i.duplicate_of, ` + relatedColumns + ` FROM items i JOIN view_members m ON m.item_id = i.id
		WHERE i.duplicate_of = ANY($1) AND i.duplicate_of <> ''` + ofViews
)

func scanMember(row pgx.CollectableRow) (m storage.Member, err error) {
	err = row.Scan(&m.View, &m.ItemID, &m.Serial, nullTime{&m.Entered}, nullTime{&m.Published}, &m.Past, &m.Absent, &m.StoryID, &m.OriginalID)
	return m, err
}

func scanRelatedMember(row pgx.CollectableRow) (m storage.RelatedMember, err error) {
	err = row.Scan(&m.Of, &m.View, &m.ItemID, &m.Serial, nullTime{&m.Published})
	return m, err
}

// MembersOfItems implements [storage.Members].
func (s memberStore) MembersOfItems(ctx context.Context, ids ...string) ([]storage.Member, error) {
	return read(ctx, s.engine, "read members of items", scanMember, membersOfItems, cleanTexts(ids))
}

// MembersOfStories implements [storage.Members].
func (s memberStore) MembersOfStories(ctx context.Context, views []int64, stories ...string) ([]storage.RelatedMember, error) {
	return read(ctx, s.engine, "read members of stories", scanRelatedMember, membersOfStories, cleanTexts(stories), views)
}

// MembersOfOriginals implements [storage.Members].
func (s memberStore) MembersOfOriginals(ctx context.Context, views []int64, originals ...string) ([]storage.RelatedMember, error) {
	return read(ctx, s.engine, "read members of originals", scanRelatedMember, membersOfOriginals, cleanTexts(originals), views)
}

const (
	nextSerials = `INSERT INTO view_serial AS v (id, last) VALUES (1, $1) ON CONFLICT (id) DO UPDATE SET last = v.last + $1 RETURNING last`
	putMembers  = `
		INSERT INTO view_members (view, item_id, serial, entered, published, past, absent, story_id, original_id)
		SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::timestamptz[], $5::timestamptz[], $6::boolean[], $7::boolean[], $8::text[], $9::text[])
		ON CONFLICT (item_id, view) DO UPDATE SET serial = excluded.serial, entered = excluded.entered, published = excluded.published,
			past = excluded.past, absent = excluded.absent, story_id = excluded.story_id, original_id = excluded.original_id`
	deleteMembersOfItems = `DELETE FROM view_members WHERE item_id = ANY($1)`
)

// ChangeMembers implements [storage.Members].
func (s memberStore) ChangeMembers(ctx context.Context, fence storage.Fence, members []storage.Member, gone []string) error {
	return s.transaction(ctx, "change members", func(ctx context.Context, tx pgx.Tx) error {
		if err := lockFenceShared(ctx, tx, fence); err != nil {
			return err
		}
		numbered, err := numberMembers(ctx, tx, members)
		if err != nil {
			return err
		}
		statements := &pgx.Batch{}
		statements.Queue(putMembers, memberValues(lastOfEach(numbered))...)
		statements.Queue(deleteMembersOfItems, cleanTexts(gone))
		return tx.SendBatch(ctx, statements).Close()
	})
}

// lastOfEach returns of a batch the last member of each view and item, sorted: concurrent transactions that lock rows in the
// same order cannot lock each other out.
func lastOfEach(members []storage.Member) []storage.Member {
	sorted := slices.Clone(members)
	compare := func(a, b storage.Member) int {
		return cmp.Or(cmp.Compare(a.ItemID, b.ItemID), cmp.Compare(a.View, b.View))
	}
	slices.Reverse(sorted)
	slices.SortStableFunc(sorted, compare)
	return slices.CompactFunc(sorted, func(a, b storage.Member) bool { return compare(a, b) == 0 })
}

// numberMembers returns the members with serials for new ones.
func numberMembers(ctx context.Context, tx pgx.Tx, members []storage.Member) ([]storage.Member, error) {
	members = slices.Clone(members)
	var isNew []*storage.Member
	for i := range members {
		if members[i].Serial == 0 {
			isNew = append(isNew, &members[i])
		}
	}
	if len(isNew) == 0 {
		return members, nil
	}
	last, err := one(ctx, tx, pgx.RowTo[int64], nextSerials, len(isNew))
	for i, m := range isNew {
		m.Serial = last - int64(len(isNew)-1-i)
	}
	return members, err
}

func memberValues(members []storage.Member) []any {
	return []any{
		column(members, func(m storage.Member) int64 { return m.View }), column(members, func(m storage.Member) string { return cleanText(m.ItemID) }),
		column(members, func(m storage.Member) int64 { return m.Serial }), column(members, func(m storage.Member) time.Time { return micro(m.Entered) }),
		column(members, func(m storage.Member) time.Time { return micro(m.Published) }), column(members, func(m storage.Member) bool { return m.Past }),
		column(members, func(m storage.Member) bool { return m.Absent }), column(members, func(m storage.Member) string { return cleanText(m.StoryID) }),
		column(members, func(m storage.Member) string { return cleanText(m.OriginalID) }),
	}
}

const (
	listedMembers = `
		SELECT ` + memberColumns + ` FROM view_members m
		WHERE view = $1 AND NOT absent AND ($2::timestamptz IS NULL OR published >= $2)`
	newestMembers = listedMembers + `
			AND ($3::timestamptz IS NULL OR published <= $3 AND (published < $3 OR item_id > $4))
		ORDER BY published DESC, item_id LIMIT $5`
	oldestMembers = listedMembers + `
			AND ($3::timestamptz IS NULL OR published >= $3 AND (published > $3 OR item_id < $4))
		ORDER BY published, item_id DESC LIMIT $5`
	countMembers = `
		SELECT view, count(*) FROM view_members
		WHERE view = ANY($1) AND NOT absent AND ($2::timestamptz IS NULL OR published >= $2) GROUP BY view`
)

// ListMembers implements [storage.Members].
func (s memberStore) ListMembers(ctx context.Context, q storage.MemberQuery, after storage.Member, limit int) ([]storage.Member, error) {
	statement := newestMembers
	if q.Oldest {
		statement = oldestMembers
	}
	return read(ctx, s.engine, "list members", scanMember, statement, q.View, timeOrNull(q.Since), timeOrNull(after.Published), after.ItemID, max(limit, 0))
}

// CountMembers implements [storage.Members].
func (s memberStore) CountMembers(ctx context.Context, since time.Time, views ...int64) (map[int64]int64, error) {
	return readMap(ctx, s.engine, "count members", func(row pgx.CollectableRow, view, n *int64) error { return row.Scan(view, n) },
		countMembers, views, timeOrNull(since))
}

const (
	removeMembers = `
		DELETE FROM view_members WHERE view = $1 AND item_id IN (
			SELECT item_id FROM view_members WHERE view = $1 AND ($2::timestamptz IS NULL OR published < $2) LIMIT $3)`
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
	return inTransaction(ctx, s.engine, defaultTimeout, "remove members", func(ctx context.Context, tx pgx.Tx) (int, error) {
		if err := lockFenceShared(ctx, tx, fence); err != nil {
			return 0, err
		}
		done, err := tx.Exec(ctx, removeMembers, view, timeOrNull(before), max(limit, 0))
		return int(done.RowsAffected()), err
	})
}

// ViewsWithMembers implements [storage.Members].
func (s memberStore) ViewsWithMembers(ctx context.Context) ([]int64, error) {
	return read(ctx, s.engine, "list views with members", pgx.RowTo[int64], viewsWithMembers)
}

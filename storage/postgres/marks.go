package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"feedmesh/storage"
)

// isListed must match the conditions of the indexes listed_items and listed_items_by_feed.
const isListed = `NOT i.spam AND i.duplicate_of = '' AND NOT coalesce(i.flags ? 'muted', false)`

const (
	// In all statements below, $1 is the client.
	joinMarks = `
		JOIN feeds f ON f.num = i.feed
		LEFT JOIN marks m ON m.client = $1 AND m.item_id = i.id
		LEFT JOIN read_until a ON a.client = $1 AND a.feed = 0
		LEFT JOIN read_until u ON u.client = $1 AND u.feed = i.feed`
	isRead   = `coalesce(m.read, i.first_seen <= greatest(a.until, u.until), false)`
	itemTime = `least(i.published, i.first_seen)` // of the index listed_items_by_time
)

const (
	markedFields  = `i.id, f.id, i.first_seen, ` + itemTime + `, ` + markFields
	arrivalFields = `i.id, f.id, i.first_seen, NULL::timestamptz, ` + markFields // without a read of the item: they are in the index
	markFields    = isRead + `, coalesce(m.starred, false)`
)

// listFields returns the columns of a list.
func listFields(q storage.MarkQuery) string {
	if q.ByTime {
		return markedFields
	}
	return arrivalFields
}

func scanMarked(row pgx.CollectableRow) (m storage.MarkedItem, err error) {
	err = row.Scan(&m.ItemID, &m.FeedID, nullTime{&m.FirstSeen}, nullTime{&m.Time}, &m.Read, &m.Starred)
	return m, err
}

// In order of ID, as in all transactions that mark items, so that they cannot deadlock.
const markItems = `
	INSERT INTO marks (client, item_id, read, starred)
	SELECT $1, id, $3::boolean, coalesce($4::boolean, false) FROM items WHERE id = ANY($2) ORDER BY id
	ON CONFLICT (client, item_id) DO UPDATE SET read = coalesce($3, marks.read), starred = coalesce($4, marks.starred)`

// Mark implements [storage.Marks].
func (s markStore) Mark(ctx context.Context, client string, m storage.MarkChange, itemIDs ...string) error {
	return s.do(ctx, "mark items", func(ctx context.Context) error {
		_, err := s.pool.Exec(ctx, markItems, clean(client, cleanTexts(itemIDs), m.Read, m.Starred)...)
		return err
	})
}

const (
	// $2 is the feed's ID, $3 the tag, both empty for any, $4 the time.
	readUntil = `
		INSERT INTO read_until (client, feed, until)
		SELECT $1, num, $4 FROM feeds WHERE ($2 = '' OR id = $2) AND ($3 = '' OR tags ? $3) ORDER BY num
		ON CONFLICT (client, feed) DO UPDATE SET until = greatest(read_until.until, excluded.until)`
	allReadUntil = `
		INSERT INTO read_until (client, feed, until) VALUES ($1, 0, $2)
		ON CONFLICT (client, feed) DO UPDATE SET until = greatest(read_until.until, excluded.until)`
	readUnread = `
		UPDATE marks SET read = true FROM items i JOIN feeds f ON f.num = i.feed
		WHERE client = $1 AND NOT read AND i.id = item_id AND i.first_seen <= $4
			AND ($2 = '' OR f.id = $2) AND ($3 = '' OR f.tags ? $3)`
)

// MarkAllRead implements [storage.Marks].
func (s markStore) MarkAllRead(ctx context.Context, client string, stream storage.Stream, until time.Time) error {
	return s.transaction(ctx, "mark all read", func(ctx context.Context, tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, readUnread, clean(client, stream.FeedID, stream.Tag, until)...); err != nil {
			return err
		}
		if stream == (storage.Stream{}) {
			_, err := tx.Exec(ctx, allReadUntil, clean(client, until)...)
			return err
		}
		_, err := tx.Exec(ctx, readUntil, clean(client, stream.FeedID, stream.Tag, until)...)
		return err
	})
}

// ListMarked implements [storage.Marks].
func (s markStore) ListMarked(ctx context.Context, client string, q storage.MarkQuery, after storage.MarkedItem, limit int) ([]storage.MarkedItem, error) {
	statement, args := listMarked(client, q, after, limit)
	return read(ctx, s.engine, "list marked items", scanMarked, statement, clean(args...)...)
}

// listMarked returns the statement and arguments of a query. It contains only the requested conditions, so
// that the planner can use the index that implies the others.
func listMarked(client string, q storage.MarkQuery, after storage.MarkedItem, limit int) (string, []any) {
	args := []any{client}
	var b strings.Builder
	add := func(text string, values ...any) {
		for _, value := range values {
			args = append(args, value)
			text = strings.Replace(text, "$?", fmt.Sprintf("$%d", len(args)), 1)
		}
		b.WriteString(text)
	}
	starred := q.Starred != nil && *q.Starred
	from := ` FROM items i`
	if q.View != 0 {
		from = ` FROM view_members s JOIN items i ON i.id = s.item_id`
	}
	add(`SELECT ` + listFields(q) + from + joinMarks + ` WHERE `)
	switch {
	case q.Label != "":
		add(`EXISTS (SELECT FROM annotations n WHERE n.client = $1 AND n.item_id = i.id AND n.labels ? $?::text)`, q.Label)
		if starred {
			add(` AND m.starred`)
		}
	case starred:
		add(`m.starred`)
	case q.View != 0 && (q.Read == nil || *q.Read):
		add(`true`)
	default:
		add(isListed)
	}
	if q.View != 0 {
		add(` AND s.view = $? AND NOT s.absent`, q.View)
	}
	if !q.Since.IsZero() {
		add(` AND s.published >= $?`, micro(q.Since))
	}
	if q.Starred != nil && !starred {
		add(` AND NOT coalesce(m.starred, false)`)
	}
	if q.FeedID != "" {
		add(` AND i.feed = (SELECT num FROM feeds WHERE id = $?)`, q.FeedID)
	}
	if q.Tag != "" {
		add(` AND f.tags ? $?::text`, q.Tag)
	}
	if !q.From.IsZero() {
		add(` AND i.first_seen >= $?`, micro(q.From))
	}
	if !q.Until.IsZero() {
		add(` AND i.first_seen < $?`, micro(q.Until))
	}
	if q.Read != nil {
		add(` AND `+isRead+` = $?`, *q.Read)
	}
	column, last := `i.first_seen`, after.FirstSeen
	if q.ByTime {
		column, last = itemTime, after.Time
		if q.View != 0 {
			column = `s.published` // the same, in the order of an index
		}
	}
	order, beyond := "DESC", "<"
	if q.Oldest {
		order, beyond = "ASC", ">"
	}
	if after.ItemID != "" {
		add(` AND (`+column+`, i.id) `+beyond+` ($?, $?)`, micro(last), after.ItemID)
	}
	add(` ORDER BY `+column+` `+order+`, i.id `+order+` LIMIT $?`, max(limit, 0))
	return b.String(), args
}

const marksOf = `
	SELECT ` + markedFields + ` FROM unnest($2::text[]) WITH ORDINALITY AS asked (id, place) JOIN items i ON i.id = asked.id` +
	joinMarks + ` ORDER BY place`

// MarksOf implements [storage.Marks].
func (s markStore) MarksOf(ctx context.Context, client string, itemIDs ...string) ([]storage.MarkedItem, error) {
	return read(ctx, s.engine, "read marks", scanMarked, marksOf, clean(client, cleanTexts(itemIDs))...)
}

// The items after the time of "mark all read" are read by time: a client that keeps up has few. Older items are unread if
// they were marked unread.
const countUnread = unreadBound + `,
		unread AS (SELECT i.feed, i.first_seen` + newUnread + ` UNION ALL SELECT i.feed, i.first_seen` + markedUnread + `)
	SELECT f.id, counted.number, counted.newest
	FROM (SELECT feed, count(*) AS number, max(first_seen) AS newest FROM unread GROUP BY feed) AS counted JOIN feeds f ON f.num = counted.feed`

// unreadOfViews has the arguments of countUnread, then the limit and the views with their bounds.
const unreadOfViews = unreadBound + `,
		newest AS (SELECT i.id` + newUnread + ` ORDER BY i.first_seen DESC LIMIT $3),
		marked AS (SELECT i.id` + markedUnread + ` LIMIT $3)
	SELECT s.view, count(*)
	FROM (SELECT id FROM newest UNION ALL SELECT id FROM marked) u JOIN view_members s ON s.item_id = u.id
	JOIN unnest($4::bigint[], $5::timestamptz[]) AS asked (view, since) ON asked.view = s.view
	WHERE NOT s.absent AND (since IS NULL OR s.published >= since) GROUP BY s.view`

const (
	unreadBound = `
	WITH
		bound (at) AS MATERIALIZED (
			SELECT greatest($2::timestamptz - interval '1 microsecond', (SELECT until FROM read_until WHERE client = $1 AND feed = 0)))`
	newUnread = `
			FROM items i
			LEFT JOIN marks m ON m.client = $1 AND m.item_id = i.id
			LEFT JOIN read_until u ON u.client = $1 AND u.feed = i.feed
			WHERE ` + isListed + ` AND i.first_seen > (SELECT at FROM bound) AND NOT coalesce(m.read, i.first_seen <= u.until, false)`
	markedUnread = `
			FROM marks m JOIN items i ON i.id = m.item_id
			WHERE m.client = $1 AND NOT m.read AND i.first_seen >= $2 AND i.first_seen <= (SELECT at FROM bound) AND ` + isListed
)

// CountUnread implements [storage.Marks].
func (s markStore) CountUnread(ctx context.Context, client string, since time.Time) (map[string]storage.UnreadCount, error) {
	return readMap(ctx, s.engine, "count unread items", func(row pgx.CollectableRow, id *string, u *storage.UnreadCount) error {
		return row.Scan(id, &u.Count, nullTime{&u.Newest})
	}, countUnread, client, micro(since))
}

// CountUnreadOfViews implements [storage.Marks].
func (s markStore) CountUnreadOfViews(ctx context.Context, client string, since time.Time, views []storage.MemberQuery, limit int) (map[int64]int64, error) {
	numbers := column(views, func(q storage.MemberQuery) int64 { return q.View })
	from := column(views, func(q storage.MemberQuery) *time.Time { return timeOrNull(q.Since) })
	return readMap(ctx, s.engine, "count unread items of views", func(row pgx.CollectableRow, view, n *int64) error { return row.Scan(view, n) },
		unreadOfViews, client, micro(since), max(limit, 0), numbers, from)
}

const itemsByIDPrefix = `SELECT DISTINCT i.id FROM unnest($1::text[]) AS prefix JOIN items i ON i.id >= prefix AND i.id < prefix || '{' ORDER BY i.id`

// NumberedItems implements [storage.Marks].
func (s markStore) NumberedItems(ctx context.Context, numbers ...int64) ([]string, error) {
	prefixes := make([]string, len(numbers))
	for i, n := range numbers {
		prefixes[i] = storage.NumberPrefix(n)
	}
	slices.Sort(prefixes)
	ids, err := read(ctx, s.engine, "look up items by number", pgx.RowTo[string], itemsByIDPrefix, slices.Compact(prefixes))
	return storage.OrderByNumbers(ids, numbers), err
}

// DeleteMarks implements [storage.Marks].
func (s markStore) DeleteMarks(ctx context.Context, client string) error {
	return s.transaction(ctx, "delete marks", func(ctx context.Context, tx pgx.Tx) error {
		statements := &pgx.Batch{}
		statements.Queue(`DELETE FROM marks WHERE client = $1`, clean(client)...)
		statements.Queue(`DELETE FROM read_until WHERE client = $1`, clean(client)...)
		statements.Queue(`DELETE FROM follows WHERE client = $1`, clean(client)...)
		statements.Queue(`DELETE FROM visits WHERE client = $1`, clean(client)...)
		statements.Queue(`DELETE FROM annotations WHERE client = $1`, clean(client)...)
		return tx.SendBatch(ctx, statements).Close()
	})
}

const (
	// Items read only by their feed's "mark all read", in the old feed or the target $2, get marks of their
	// own before the move.
	addReadMarks = `
		INSERT INTO marks (client, item_id, read, starred)
		SELECT u.client, i.id, bool_or(u.feed = i.feed), false
		FROM items i JOIN read_until u ON u.feed IN ($1, $2) LEFT JOIN read_until a ON a.client = u.client AND a.feed = 0
		WHERE i.feed = $1 AND i.first_seen <= u.until AND (a.until IS NULL OR i.first_seen > a.until)
		GROUP BY u.client, i.id ORDER BY u.client, i.id
		ON CONFLICT (client, item_id) DO UPDATE SET read = coalesce(marks.read, excluded.read)`
	deleteReadUntilOfFeed = `DELETE FROM read_until WHERE feed = $1`
	deleteMarksOfFeed     = `DELETE FROM marks WHERE item_id IN (SELECT id FROM items WHERE feed = $1)`
)

// These statements move marks from the item IDs $1 to the item IDs $2.
const (
	deleteStrayMarks = `
		DELETE FROM marks USING unnest($1::text[], $2::text[]) AS renaming (old, now)
		WHERE item_id = now AND NOT EXISTS (SELECT FROM items kept WHERE kept.id = now)`
	mergeMarks = `
		INSERT INTO marks (client, item_id, read, starred)
		SELECT client, now, nullif(read, false), starred
		FROM unnest($1::text[], $2::text[]) AS renaming (old, now) JOIN marks ON item_id = old JOIN items kept ON kept.id = now
		ON CONFLICT (client, item_id) DO UPDATE SET
			read = coalesce(excluded.read, marks.read), starred = marks.starred OR excluded.starred`
	deleteMergedMarks = `
		DELETE FROM marks USING unnest($1::text[], $2::text[]) AS renaming (old, now)
		WHERE item_id = old AND EXISTS (SELECT FROM items kept WHERE kept.id = now)`
	renameMarks = `
		UPDATE marks SET item_id = now
		FROM unnest($1::text[], $2::text[]) AS renaming (old, now)
		WHERE item_id = old`
)

const (
	unnumberedItems = `
		SELECT i.id FROM items i
		WHERE ` + isListed + ` AND i.first_seen >= $1 AND NOT EXISTS (SELECT FROM serials WHERE name = i.id)`
	anyUnnumbered = `SELECT EXISTS (` + unnumberedItems + `)`
	numberItems   = `INSERT INTO serials (name) ` + unnumberedItems + ` ORDER BY i.first_seen, i.id ON CONFLICT DO NOTHING`
	numberNames   = `
		INSERT INTO serials (name) SELECT name FROM unnest($1::text[]) WITH ORDINALITY AS given (name, place) ORDER BY place
		ON CONFLICT DO NOTHING`
)

// serialLock is the number of the advisory lock of transactions that give numbers, so that numbers are committed in
// ascending order.
const serialLock = migrationLock + 1

// giveNumbers executes a statement that gives numbers.
func (s markStore) giveNumbers(ctx context.Context, statement string, args ...any) error {
	return s.transaction(ctx, "give numbers", func(ctx context.Context, tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, serialLock); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, statement, args...)
		return err
	})
}

// NumberItems implements [storage.Serials].
func (s markStore) NumberItems(ctx context.Context, since time.Time) error {
	any, err := read(ctx, s.engine, "find items without a number", pgx.RowTo[bool], anyUnnumbered, micro(since))
	if err != nil || !any[0] {
		return err
	}
	return s.giveNumbers(ctx, numberItems, micro(since))
}

const serialsByName = `SELECT name, serial FROM serials WHERE name = ANY($1)`

// SerialsOf implements [storage.Serials].
func (s markStore) SerialsOf(ctx context.Context, names ...string) (map[string]int64, error) {
	names = cleanTexts(names)
	scan := func(row pgx.CollectableRow, name *string, number *int64) error { return row.Scan(name, number) }
	numbers, err := readMap(ctx, s.engine, "read numbers", scan, serialsByName, names)
	if err != nil {
		return nil, err
	}
	missing := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return numbers[name] != 0 })
	if len(missing) == 0 {
		return numbers, nil
	}
	if err := s.giveNumbers(ctx, numberNames, missing); err != nil {
		return nil, err
	}
	return readMap(ctx, s.engine, "read numbers", scan, serialsByName, names)
}

const namesBySerial = `SELECT serial, name FROM serials WHERE serial = ANY($1)`

// NamesOf implements [storage.Serials].
func (s markStore) NamesOf(ctx context.Context, numbers ...int64) (map[int64]string, error) {
	return readMap(ctx, s.engine, "look up numbers", func(row pgx.CollectableRow, number *int64, name *string) error {
		return row.Scan(number, name)
	}, namesBySerial, append([]int64{}, numbers...))
}

const (
	listedSerials  = `SELECT s.serial, s.name FROM serials s JOIN items i ON i.id = s.name WHERE ` + isListed
	serialsAfter   = listedSerials + ` AND s.serial > $1 ORDER BY s.serial LIMIT $2`
	serialsBefore  = listedSerials + ` AND s.serial < $1 ORDER BY s.serial DESC LIMIT $2`
	countOfSerials = `
		SELECT (SELECT count(*) FROM serials) - (SELECT count(*) FROM serials WHERE name >= 'feed/' AND name < 'feed0' OR name >= 'tag/' AND name < 'tag0')`
)

// ListSerials implements [storage.Serials].
func (s markStore) ListSerials(ctx context.Context, after, before int64, limit int) ([]storage.Serial, error) {
	statement, from := serialsAfter, after
	if before > 0 {
		statement, from = serialsBefore, before
	}
	return read(ctx, s.engine, "list numbers", pgx.RowToStructByPos[storage.Serial], statement, from, max(limit, 0))
}

// CountSerials implements [storage.Serials].
func (s markStore) CountSerials(ctx context.Context) (n int64, err error) {
	err = s.do(ctx, "count numbers", func(ctx context.Context) error { return s.pool.QueryRow(ctx, countOfSerials).Scan(&n) })
	return n, err
}

const (
	// These statements move numbers from the item IDs $1 to the item IDs $2, which keep numbers of their own.
	deleteStraySerials = `
		DELETE FROM serials USING unnest($1::text[], $2::text[]) AS renaming (old, now)
		WHERE name = now AND NOT EXISTS (SELECT FROM items kept WHERE kept.id = now)`
	deleteMergedSerials = `
		DELETE FROM serials USING unnest($1::text[], $2::text[]) AS renaming (old, now)
		WHERE name = old AND EXISTS (SELECT FROM items kept WHERE kept.id = now)`
	renameSerials = `
		UPDATE serials SET name = now
		FROM unnest($1::text[], $2::text[]) AS renaming (old, now)
		WHERE name = old`

	renameSerialOfFeed = `
		UPDATE serials SET name = 'feed/' || $2::text
		WHERE name = 'feed/' || $1::text AND NOT EXISTS (SELECT FROM serials WHERE name = 'feed/' || $2::text)`
	deleteSerialOfFeed  = `DELETE FROM serials WHERE name = 'feed/' || $1::text`
	deleteSerialsOfFeed = `
		DELETE FROM serials WHERE name IN (SELECT id FROM items WHERE feed = $1 UNION ALL SELECT 'feed/' || id FROM feeds WHERE num = $1)`
)

// These statements move annotations from the item IDs $1 to the item IDs $2.
const (
	deleteStrayAnnotations = `
		DELETE FROM annotations USING unnest($1::text[], $2::text[]) AS renaming (old, now)
		WHERE item_id = now AND NOT EXISTS (SELECT FROM items kept WHERE kept.id = now)`
	mergeAnnotations = `
		INSERT INTO annotations (client, item_id, labels, note, changed)
		SELECT a.client, now, a.labels, a.note, a.changed
		FROM unnest($1::text[], $2::text[]) AS renaming (old, now) JOIN annotations a ON a.item_id = old JOIN items kept ON kept.id = now
		ON CONFLICT (client, item_id) DO UPDATE SET
			labels = (
				SELECT jsonb_agg(label ORDER BY label COLLATE "C")
				FROM (
					SELECT jsonb_array_elements_text(annotations.labels) AS label UNION SELECT jsonb_array_elements_text(excluded.labels)
				) AS all_labels),
			note = trim(E'\n' FROM annotations.note || E'\n' || excluded.note),
			changed = greatest(annotations.changed, excluded.changed)`
	deleteMergedAnnotations = `
		DELETE FROM annotations USING unnest($1::text[], $2::text[]) AS renaming (old, now)
		WHERE item_id = old AND EXISTS (SELECT FROM items kept WHERE kept.id = now)`
	renameAnnotations = `
		UPDATE annotations SET item_id = now
		FROM unnest($1::text[], $2::text[]) AS renaming (old, now)
		WHERE item_id = old`
	deleteAnnotationsOfFeed = `DELETE FROM annotations WHERE item_id IN (SELECT id FROM items WHERE feed = $1)`
)

package sqlite

import (
	"context"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"feedmesh/storage"
)

// isListed must match the conditions of the indexes listed_items and listed_items_by_feed.
const isListed = `NOT i.spam AND i.duplicate_of = '' AND (i.flags IS NULL OR instr(i.flags, '"muted"') = 0)`

const (
	// In all statements below, ?1 is the client.
	joinMarks = `
		JOIN feeds f ON f.num = i.feed
		LEFT JOIN marks m ON m.client = ?1 AND m.item_id = i.id
		LEFT JOIN read_until a ON a.client = ?1 AND a.feed = 0
		LEFT JOIN read_until u ON u.client = ?1 AND u.feed = i.feed`
	itemTime   = `min(i.published, i.first_seen)` // of the index listed_items_by_time
	isRead     = `coalesce(m.read, i.first_seen <= coalesce(max(a.until, u.until), a.until, u.until), 0)`
	feedsByTag = `SELECT feed FROM feed_tags WHERE tag = `
)

const (
	markedFields  = `i.id, f.id, i.first_seen, ` + itemTime + `, ` + markFields
	arrivalFields = `i.id, f.id, i.first_seen, NULL, ` + markFields // without a read of the item: they are in the index
	markFields    = isRead + `, coalesce(m.starred, 0)`
)

// listFields returns the columns of a list.
func listFields(q storage.MarkQuery) string {
	if q.ByTime {
		return markedFields
	}
	return arrivalFields
}

func scanMarked(row scanner) (m storage.MarkedItem, err error) {
	err = row.Scan(&m.ItemID, &m.FeedID, nullTime{&m.FirstSeen}, nullTime{&m.Time}, &m.Read, &m.Starred)
	return m, err
}

const markItems = `
	INSERT INTO marks (client, item_id, read, starred)
	SELECT ?1, id, ?3, coalesce(?4, 0) FROM items WHERE id IN (SELECT value FROM json_each(?2))
	ON CONFLICT (client, item_id) DO UPDATE SET read = coalesce(?3, read), starred = coalesce(?4, starred)`

// Mark implements [storage.Marks].
func (s markStore) Mark(ctx context.Context, client string, m storage.MarkChange, itemIDs ...string) error {
	return s.transaction(ctx, "mark items", func(w *writer) error {
		_, err := w.exec(ctx, markItems, client, asJSON(itemIDs), m.Read, m.Starred)
		return err
	})
}

const (
	// ?2 is the feed's ID, ?3 the tag, both empty for any, ?4 the time.
	readUntil = `
		INSERT INTO read_until (client, feed, until)
		SELECT ?1, num, ?4 FROM feeds
		WHERE (?2 = '' OR id = ?2) AND (?3 = '' OR num IN (` + feedsByTag + `?3))
		ON CONFLICT (client, feed) DO UPDATE SET until = max(until, excluded.until)`
	allReadUntil = `
		INSERT INTO read_until (client, feed, until) VALUES (?1, 0, ?2)
		ON CONFLICT (client, feed) DO UPDATE SET until = max(until, excluded.until)`
	readUnread = `
		UPDATE marks SET read = 1
		WHERE client = ?1 AND read = 0 AND EXISTS (
			SELECT 1 FROM items i JOIN feeds f ON f.num = i.feed
			WHERE i.id = item_id AND i.first_seen <= ?4 AND (?2 = '' OR f.id = ?2)
				AND (?3 = '' OR EXISTS (SELECT 1 FROM feed_tags WHERE tag = ?3 AND feed = f.num)))`
)

// MarkAllRead implements [storage.Marks].
func (s markStore) MarkAllRead(ctx context.Context, client string, stream storage.Stream, until time.Time) error {
	return s.transaction(ctx, "mark all read", func(w *writer) error {
		if _, err := w.exec(ctx, readUnread, client, stream.FeedID, stream.Tag, micros(until)); err != nil {
			return err
		}
		if stream == (storage.Stream{}) {
			_, err := w.exec(ctx, allReadUntil, client, micros(until))
			return err
		}
		_, err := w.exec(ctx, readUntil, client, stream.FeedID, stream.Tag, micros(until))
		return err
	})
}

// ListMarked implements [storage.Marks].
func (s markStore) ListMarked(ctx context.Context, client string, q storage.MarkQuery, after storage.MarkedItem, limit int) ([]storage.MarkedItem, error) {
	index := listIndex(q)
	if q.Label == "" && index == listedByTime && (!q.From.IsZero() || isUnread(q)) {
		most := maxSorted
		if q.Tag != "" {
			most = maxFiltered
		}
		few, err := read(ctx, s.engine, "count recent items", fewListed, scanYes, client, listFrom(q), isUnread(q), most)
		if err != nil {
			return nil, err
		}
		if few[0] {
			// Most of them were also published since then, and stand at the end of the index by time. If there are
			// enough for a page, nothing is sorted.
			if !q.Oldest && q.View == 0 {
				newest, err := s.list(ctx, client, q, listedByTime, true, after, limit)
				if err != nil || len(newest) >= limit {
					return newest, err
				}
			}
			index = listedByArrival
		}
	}
	return s.list(ctx, client, q, index, false, after, limit)
}

func (s markStore) list(ctx context.Context, client string, q storage.MarkQuery, index string, published bool, after storage.MarkedItem, limit int) ([]storage.MarkedItem, error) {
	statement, args := listMarked(client, q, index, published, after, limit)
	return readOnce(ctx, s.engine, "list marked items", statement, scanMarked, args...)
}

// Indexes of listed items.
const (
	listedByArrival = "listed_items"
	listedByTime    = "listed_items_by_time"
	listedByFeed    = "listed_items_by_feed"
)

// listIndex returns the index for a query of listed items.
func listIndex(q storage.MarkQuery) string {
	switch {
	case q.FeedID != "":
		return listedByFeed
	case q.ByTime:
		return listedByTime
	}
	return listedByArrival
}

// maxSorted is the number of recent items up to which a list by time sorts them. The index by time is read for more: it
// has the unread items near its end then, and needs no sorting.
const maxSorted = 5000

// maxFiltered is that number for the feeds of a tag. By time, a page of a tag with few unread items would read all items.
const maxFiltered = 10 * maxSorted

// fewListed reports whether fewer than ?4 listed items were first seen since ?2, or since the client has read all if ?3.
const fewListed = `
	SELECT count(*) < ?4 FROM (
		SELECT 1 FROM items i INDEXED BY listed_items
		WHERE ` + isListed + ` AND i.first_seen >= max(?2, CASE WHEN ?3 THEN 1 + ` + allReadUpTo + ` ELSE ?2 END) LIMIT ?4)`

func scanYes(row scanner) (yes bool, err error) {
	err = row.Scan(&yes)
	return yes, err
}

// isUnread reports whether a query is for unread items.
func isUnread(q storage.MarkQuery) bool { return q.Read != nil && !*q.Read }

// listFrom returns From of a query in microseconds.
func listFrom(q storage.MarkQuery) int64 {
	if q.From.IsZero() {
		return math.MinInt64
	}
	return micros(q.From)
}

// allReadUpTo is the time before which every item is read, if the client marked nothing unread. It saves the
// lookup of marks of older items.
const allReadUpTo = `
	coalesce((SELECT until FROM read_until WHERE client = ?1 AND feed = 0
		AND NOT EXISTS (SELECT 1 FROM marks WHERE client = ?1 AND read = 0)), -9223372036854775808)`

// listMarked returns the statement and arguments of a query that reads an index. It contains only the requested
// conditions, so that SQLite can use the index that implies the others. With published, items must also have been
// published in the time in which they must have been first seen.
func listMarked(client string, q storage.MarkQuery, index string, published bool, after storage.MarkedItem, limit int) (string, []any) {
	from, until := listFrom(q), int64(math.MaxInt64)
	if !q.Until.IsZero() {
		until = micros(q.Until)
	}
	column, at, last := `i.first_seen`, until, after.FirstSeen
	if q.ByTime {
		column, at, last = itemTime, math.MaxInt64, after.Time
	}
	// Members are read in the order of their index. Few recent items are looked up among them instead: if the rest is read, its members would be skipped one by one.
	isOfView := q.View != 0 && q.Label == "" && (q.Starred == nil || !*q.Starred)
	isOfRecent := isOfView && isUnread(q) && index == listedByArrival
	isOfMembers := isOfView && !isOfRecent
	if isOfMembers && q.ByTime {
		column = `s.published`
	}
	order, id := "DESC", "{" // sorts after all IDs
	// SQLite seeks in an index by a comparison of an expression, not of a row with one.
	place := ` AND ` + column + ` <= ?6 AND (` + column + `, i.id) < (?6, ?7)`
	if q.Oldest {
		order, id, place = "ASC", "", ` AND `+column+` >= ?6 AND (`+column+`, i.id) > (?6, ?7)`
		if at = from; q.ByTime {
			at = math.MinInt64
		}
	}
	if after.ItemID != "" {
		at, id = micros(last), after.ItemID
	}
	var b strings.Builder
	b.WriteString(`SELECT ` + listFields(q))
	switch {
	case q.Label != "":
		b.WriteString(` FROM annotations s CROSS JOIN items i ON i.id = s.item_id` + joinMarks + `
			WHERE s.client = ?1 AND EXISTS (SELECT 1 FROM json_each(s.labels) WHERE value = ?10)`)
		if q.Starred != nil && *q.Starred {
			b.WriteString(` AND m.starred`)
		}
	case q.Starred != nil && *q.Starred:
		b.WriteString(` FROM marks s CROSS JOIN items i ON i.id = s.item_id` + joinMarks + ` WHERE s.client = ?1 AND s.starred`)
	case isOfMembers:
		b.WriteString(` FROM view_members s CROSS JOIN items i ON i.id = s.item_id` + joinMarks + ` WHERE s.view = ?11 AND s.absent = 0 AND s.published >= ?12`)
		if isUnread(q) {
			b.WriteString(` AND ` + isListed)
		}
	case isOfRecent:
		b.WriteString(` FROM items i INDEXED BY ` + index + ` CROSS JOIN view_members s ON s.item_id = i.id` + joinMarks + `
			WHERE s.view = ?11 AND s.absent = 0 AND s.published >= ?12 AND ` + isListed)
	default:
		b.WriteString(` FROM items i INDEXED BY ` + index + joinMarks + ` WHERE ` + isListed)
	}
	if q.View != 0 && !isOfMembers && !isOfRecent {
		b.WriteString(` AND EXISTS (SELECT 1 FROM view_members WHERE view = ?11 AND item_id = i.id AND absent = 0 AND published >= ?12)`)
	}
	if q.FeedID != "" {
		b.WriteString(` AND i.feed = (SELECT num FROM feeds WHERE id = ?2)`)
	}
	if q.Tag != "" {
		b.WriteString(` AND i.feed IN (` + feedsByTag + `?3)`)
	}
	begin := `?4`
	if isUnread(q) {
		begin = `max(?4, 1 + ` + allReadUpTo + `)`
	}
	b.WriteString(` AND i.first_seen >= ` + begin + ` AND i.first_seen < ?5` + place)
	if published {
		b.WriteString(` AND ` + itemTime + ` >= ` + begin)
	}
	if q.Read != nil {
		b.WriteString(` AND ` + isRead + ` = ?8`)
	}
	if q.Starred != nil && !*q.Starred {
		b.WriteString(` AND coalesce(m.starred, 0) = 0`)
	}
	b.WriteString(` ORDER BY ` + column + ` ` + order + `, i.id ` + order + ` LIMIT ?9`)
	args := []any{client, q.FeedID, q.Tag, from, until, at, id, q.Read, max(limit, 0)}
	if q.Label != "" || q.View != 0 {
		args = append(args, q.Label)
	}
	if q.View != 0 {
		args = append(args, q.View, sinceOrAlways(q.Since))
	}
	return b.String(), args
}

const marksOf = `SELECT ` + markedFields + ` FROM json_each(?2) j CROSS JOIN items i ON i.id = j.value` + joinMarks + ` ORDER BY j.key`

// MarksOf implements [storage.Marks].
func (s markStore) MarksOf(ctx context.Context, client string, itemIDs ...string) ([]storage.MarkedItem, error) {
	return read(ctx, s.engine, "read marks", marksOf, scanMarked, client, asJSON(itemIDs))
}

// The items after the time of "mark all read" are scanned by time: a client that keeps up has few. Items are looked up
// among the marks only for feeds that the client marked, or in which it marked single items. Older items are unread if
// they were marked unread.
const unreadItems = unreadBounds + `,
		unread (feed, first_seen) AS (
			SELECT i.feed, i.first_seen` + newUnread + `
			UNION ALL
			SELECT i.feed, i.first_seen` + markedUnread + `)
	SELECT feed, first_seen FROM unread`

// unreadOfViews has the arguments of unreadItems, then the limit and the views with their bounds.
const unreadOfViews = unreadBounds + `,
		newest (id) AS MATERIALIZED (SELECT i.id` + newUnread + ` ORDER BY i.first_seen DESC LIMIT ?3),
		marked (id) AS MATERIALIZED (SELECT i.id` + markedUnread + ` LIMIT ?3),
		asked (view, since) AS MATERIALIZED (SELECT value ->> 0, value ->> 1 FROM json_each(?4))
	SELECT s.view, count(*)
	FROM (SELECT id FROM newest UNION ALL SELECT id FROM marked) u CROSS JOIN view_members s ON s.item_id = u.id JOIN asked ON asked.view = s.view
	WHERE s.absent = 0 AND s.published >= asked.since GROUP BY s.view`

const (
	unreadBounds = `
	WITH
		bound (at) AS MATERIALIZED (
			SELECT max(?2 - 1, coalesce((SELECT until FROM read_until WHERE client = ?1 AND feed = 0), ?2 - 1))),
		touched AS MATERIALIZED (
			SELECT i.feed FROM marks m CROSS JOIN items i ON i.id = m.item_id
			WHERE m.client = ?1 AND m.read IS NOT NULL AND i.first_seen >= ?2
			UNION
			SELECT feed FROM read_until WHERE client = ?1)`
	newUnread = `
			FROM bound CROSS JOIN items i INDEXED BY listed_items ON i.first_seen > bound.at
			WHERE ` + isListed + ` AND CASE WHEN i.feed IN touched
				THEN coalesce((SELECT NOT read FROM marks WHERE client = ?1 AND item_id = i.id), ` + isAfterFeed + `) ELSE true END`
	markedUnread = `
			FROM bound CROSS JOIN marks m CROSS JOIN items i ON i.id = m.item_id
			WHERE m.client = ?1 AND m.read = 0 AND i.first_seen >= ?2 AND i.first_seen <= bound.at AND ` + isListed
)

// isAfterFeed reports whether the client has not marked all items of the feed up to this one as read.
const isAfterFeed = `i.first_seen > coalesce((SELECT until FROM read_until WHERE client = ?1 AND feed = i.feed), -9223372036854775808)`

// CountUnread implements [storage.Marks]. It counts in memory: SQLite would sort the items by feed, which takes longer.
func (s markStore) CountUnread(ctx context.Context, client string, since time.Time) (map[string]storage.UnreadCount, error) {
	const operation = "count unread items"
	type count struct{ items, newest int64 }
	byNumber := map[int64]count{}
	_, err := read(ctx, s.engine, operation, unreadItems, func(row scanner) (struct{}, error) {
		var feed, seen int64
		err := row.Scan(&feed, &seen)
		c := byNumber[feed]
		byNumber[feed] = count{c.items + 1, max(c.newest, seen)}
		return struct{}{}, err
	}, client, micros(since))
	if err != nil {
		return nil, err
	}
	ids, err := s.feedIDs.of(ctx, s.read, slices.Collect(maps.Keys(byNumber)))
	if err != nil {
		return nil, s.wrap(ctx, operation, err)
	}
	counts := make(map[string]storage.UnreadCount, len(ids))
	for number, id := range ids {
		c := byNumber[number]
		counts[id] = storage.UnreadCount{Count: c.items, Newest: time.UnixMicro(c.newest).UTC()}
	}
	return counts, nil
}

// CountUnreadOfViews implements [storage.Marks].
func (s markStore) CountUnreadOfViews(ctx context.Context, client string, since time.Time, views []storage.MemberQuery, limit int) (map[int64]int64, error) {
	asked := make([][2]int64, len(views))
	for i, v := range views {
		asked[i] = [2]int64{v.View, sinceOrAlways(v.Since)}
	}
	return readMap(ctx, s.engine, "count unread items of views", unreadOfViews, func(row scanner, view, n *int64) error { return row.Scan(view, n) },
		client, micros(since), max(limit, 0), asJSON(asked))
}

const itemsByIDPrefix = `SELECT DISTINCT i.id FROM json_each(?) p CROSS JOIN items i ON i.id >= p.value AND i.id < p.value || '{' ORDER BY i.id`

// NumberedItems implements [storage.Marks].
func (s markStore) NumberedItems(ctx context.Context, numbers ...int64) ([]string, error) {
	prefixes := make([]string, len(numbers))
	for i, n := range numbers {
		prefixes[i] = storage.NumberPrefix(n)
	}
	slices.Sort(prefixes)
	ids, err := read(ctx, s.engine, "look up items by number", itemsByIDPrefix, scanText, asJSON(slices.Compact(prefixes)))
	return storage.OrderByNumbers(ids, numbers), err
}

const (
	deleteMarksOfClient       = `DELETE FROM marks WHERE client = ?`
	deleteReadUntilOfClient   = `DELETE FROM read_until WHERE client = ?`
	deleteAnnotationsOfClient = `DELETE FROM annotations WHERE client = ?`
	deleteFollowsOfClient     = `DELETE FROM follows WHERE client = ?`
	deleteVisitsOfClient      = `DELETE FROM visits WHERE client = ?`
)

// DeleteMarks implements [storage.Marks].
func (s markStore) DeleteMarks(ctx context.Context, client string) error {
	return s.transaction(ctx, "delete marks", func(w *writer) error {
		for _, statement := range []string{deleteMarksOfClient, deleteReadUntilOfClient, deleteAnnotationsOfClient, deleteFollowsOfClient, deleteVisitsOfClient} {
			if _, err := w.exec(ctx, statement, client); err != nil {
				return err
			}
		}
		return nil
	})
}

const (
	// Items read only by their feed's "mark all read", in the old feed or the target, get marks of their own
	// before the move.
	addReadMarks = `
		INSERT INTO marks (client, item_id, read, starred)
		SELECT u.client, i.id, max(u.feed = i.feed), 0
		FROM feeds f JOIN items i ON i.feed = f.num JOIN read_until u ON u.feed IN (f.num, (SELECT num FROM feeds WHERE id = ?2))
		LEFT JOIN read_until a ON a.client = u.client AND a.feed = 0
		WHERE f.id = ?1 AND i.first_seen <= u.until AND i.first_seen > coalesce(a.until, -9223372036854775808)
		GROUP BY u.client, i.id
		ON CONFLICT (client, item_id) DO UPDATE SET read = coalesce(read, excluded.read)`
	deleteReadUntilOfFeed = `DELETE FROM read_until WHERE feed = (SELECT num FROM feeds WHERE id = ?)`
	renameMarks           = `UPDATE OR REPLACE marks SET item_id = ?2 WHERE item_id = ?1`
	mergeMarks            = `
		INSERT INTO marks (client, item_id, read, starred)
		SELECT client, ?2, nullif(read, 0), starred FROM marks WHERE item_id = ?1
		ON CONFLICT (client, item_id) DO UPDATE SET
			read = coalesce(excluded.read, read), starred = max(starred, excluded.starred)`
	deleteMarksOfItem = `DELETE FROM marks WHERE item_id = ?`
	deleteMarksOfFeed = `DELETE FROM marks WHERE item_id IN (SELECT id FROM items WHERE feed = (SELECT num FROM feeds WHERE id = ?))`
)

const (
	unnumberedItems = `
		SELECT i.id FROM items i INDEXED BY listed_items
		WHERE ` + isListed + ` AND i.first_seen >= ?1 AND NOT EXISTS (SELECT 1 FROM serials WHERE name = i.id)`
	anyUnnumbered = `SELECT EXISTS (` + unnumberedItems + `)`
	numberItems   = `INSERT INTO serials (name) ` + unnumberedItems + ` ORDER BY i.first_seen, i.id`
)

// NumberItems implements [storage.Serials].
func (s markStore) NumberItems(ctx context.Context, since time.Time) error {
	any, err := scanYes(s.read.row(ctx, anyUnnumbered, micros(since)))
	if err != nil || !any {
		return s.wrap(ctx, "find items without a number", err)
	}
	return s.transaction(ctx, "number items", func(w *writer) error {
		_, err := w.exec(ctx, numberItems, micros(since))
		return err
	})
}

const (
	serialsByName = `SELECT name, serial FROM serials WHERE name IN (SELECT value FROM json_each(?))`
	numberNames   = `INSERT OR IGNORE INTO serials (name) SELECT value FROM json_each(?) ORDER BY key`
)

// SerialsOf implements [storage.Serials].
func (s markStore) SerialsOf(ctx context.Context, names ...string) (map[string]int64, error) {
	scan := func(row scanner, name *string, number *int64) error { return row.Scan(name, number) }
	numbers, err := readMap(ctx, s.engine, "read numbers", serialsByName, scan, asJSON(names))
	if err != nil {
		return nil, err
	}
	missing := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return numbers[name] != 0 })
	if len(missing) == 0 {
		return numbers, nil
	}
	err = s.transaction(ctx, "give numbers", func(w *writer) error {
		_, err := w.exec(ctx, numberNames, asJSON(missing))
		return err
	})
	if err != nil {
		return nil, err
	}
	return readMap(ctx, s.engine, "read numbers", serialsByName, scan, asJSON(names))
}

const namesBySerial = `SELECT serial, name FROM serials WHERE serial IN (SELECT value FROM json_each(?))`

// NamesOf implements [storage.Serials].
func (s markStore) NamesOf(ctx context.Context, numbers ...int64) (map[int64]string, error) {
	return readMap(ctx, s.engine, "look up numbers", namesBySerial, func(row scanner, number *int64, name *string) error {
		return row.Scan(number, name)
	}, asJSON(numbers))
}

const (
	listedSerials  = `SELECT s.serial, s.name FROM serials s CROSS JOIN items i ON i.id = s.name WHERE ` + isListed
	serialsAfter   = listedSerials + ` AND s.serial > ? ORDER BY s.serial LIMIT ?`
	serialsBefore  = listedSerials + ` AND s.serial < ? ORDER BY s.serial DESC LIMIT ?`
	countOfSerials = `
		SELECT (SELECT count(*) FROM serials) - (SELECT count(*) FROM serials WHERE name >= 'feed/' AND name < 'feed0' OR name >= 'tag/' AND name < 'tag0')`
)

// ListSerials implements [storage.Serials].
func (s markStore) ListSerials(ctx context.Context, after, before int64, limit int) ([]storage.Serial, error) {
	statement, from := serialsAfter, after
	if before > 0 {
		statement, from = serialsBefore, before
	}
	return read(ctx, s.engine, "list numbers", statement, func(row scanner) (n storage.Serial, err error) {
		err = row.Scan(&n.Number, &n.Name)
		return n, err
	}, from, max(limit, 0))
}

// CountSerials implements [storage.Serials].
func (s markStore) CountSerials(ctx context.Context) (n int64, err error) {
	err = s.read.row(ctx, countOfSerials).Scan(&n)
	return n, s.wrap(ctx, "count numbers", err)
}

const (
	renameSerial        = `UPDATE OR REPLACE serials SET name = ?2 WHERE name = ?1`
	deleteSerial        = `DELETE FROM serials WHERE name = ?`
	renameSerialOfFeed  = `UPDATE OR IGNORE serials SET name = 'feed/' || ?2 WHERE name = 'feed/' || ?1`
	deleteSerialOfFeed  = `DELETE FROM serials WHERE name = 'feed/' || ?`
	deleteSerialsOfFeed = `
		DELETE FROM serials WHERE name IN (
			SELECT id FROM items WHERE feed = (SELECT num FROM feeds WHERE id = ?1) UNION ALL SELECT 'feed/' || ?1)`
)

const (
	renameAnnotations = `UPDATE OR REPLACE annotations SET item_id = ?2 WHERE item_id = ?1`
	mergeAnnotations  = `
		INSERT INTO annotations (client, item_id, labels, note, changed)
		SELECT client, ?2, labels, note, changed FROM annotations WHERE item_id = ?1
		ON CONFLICT (client, item_id) DO UPDATE SET
			labels = (
				SELECT CASE WHEN count(*) > 0 THEN json_group_array(value) END
				FROM (SELECT value FROM json_each(annotations.labels) UNION SELECT value FROM json_each(excluded.labels) ORDER BY value)),
			note = trim(note || char(10) || excluded.note, char(10)),
			changed = max(changed, excluded.changed)`
	deleteAnnotationsOfItem = `DELETE FROM annotations WHERE item_id = ?`
	deleteAnnotationsOfFeed = `DELETE FROM annotations WHERE item_id IN (SELECT id FROM items WHERE feed = (SELECT num FROM feeds WHERE id = ?))`
)

package postgres

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"feedmesh/storage"
)

// A feedOrder is the SQL of a [storage.FeedSort].
type feedOrder struct {
	key        string // column or expression
	descending bool   // largest first
	time       bool   // the key is a time
	unique     bool   // the key needs no ID to break ties
}

var feedOrders = map[storage.FeedSort]feedOrder{
	storage.FeedsByURL:   {key: "url", unique: true},
	storage.FeedsByTitle: {key: "words"},
	storage.FeedsByItems: {key: "items", descending: true},
	storage.FeedsByLast:  {key: "coalesce(last_item, 'epoch')", descending: true, time: true},
	storage.FeedsByAdded: {key: "added", descending: true, time: true},
}

// A condition is a WHERE clause with its arguments.
type condition struct {
	terms []string
	args  []any
}

// add adds a term, in which each %s is replaced by a parameter.
func (c *condition) add(term string, args ...any) {
	names := make([]any, len(args))
	for i, arg := range args {
		c.args = append(c.args, arg)
		names[i] = fmt.Sprintf("$%d", len(c.args))
	}
	c.terms = append(c.terms, fmt.Sprintf(term, names...))
}

func (c *condition) where() string {
	if len(c.terms) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(c.terms, " AND ")
}

// hostSlot is [storage.HostSlot] of the URL, as in the index feeds_host_slot. A percent sign is doubled for [condition.add].
const hostSlot = `(get_byte(decode(md5(coalesce(substring(url FROM '://(\[[^]/]*\]|[^/:[]*)'), '')), 'hex'), 0) %% 64)`

// feedCondition returns the condition of a query.
func feedCondition(q storage.FeedQuery) *condition {
	c := &condition{}
	if q.IDs != nil {
		c.add(`id = ANY(%s)`, q.IDs)
	}
	if q.Text != "" {
		c.add(`strpos(words, %s) > 0`, storage.FoldFeedText(q.Text))
	}
	if q.Tag != "" {
		c.add(`tags @> to_jsonb(ARRAY[%s::text])`, q.Tag)
	}
	if q.Host != "" {
		for i, scheme := range []string{"http://", "https://"} { // "0" follows "/"
			term := []string{`(url >= %s AND url < %s OR `, `url >= %s AND url < %s)`}[i]
			c.add(term, scheme+q.Host+"/", scheme+q.Host+"0")
		}
		last := len(c.terms) - 1
		c.terms = append(c.terms[:last-1], c.terms[last-1]+c.terms[last])
	}
	if q.Pinned {
		c.add(`pinned`)
	}
	if q.Slot != nil {
		c.add(hostSlot+` = %s`, *q.Slot)
	}
	if q.WithRequest {
		c.add(`request IS NOT NULL`)
	}
	return c
}

// FindFeeds implements [storage.Feeds].
func (s feedStore) FindFeeds(ctx context.Context, q storage.FeedQuery) ([]storage.Feed, error) {
	statement, args := findFeeds(q)
	return read(ctx, s.engine, "find feeds", scanFeed, statement, args...)
}

// findFeeds returns the statement and arguments of a query.
func findFeeds(q storage.FeedQuery) (string, []any) {
	order, cond := feedOrders[q.Sort], feedCondition(q)
	end, than := order.key+", id", ">"
	if order.descending {
		end, than = order.key+" DESC, id", "<"
	}
	if order.unique {
		end = order.key
	}
	switch at := q.After; {
	case at == storage.FeedPosition{}:
	case order.unique:
		cond.add(order.key+" > %s", at.Text)
	default:
		var key any = at.Text
		switch {
		case order.time:
			key = time.UnixMicro(at.Number).UTC()
		case order.descending:
			key = at.Number
		}
		cond.add("("+order.key+" "+than+"= %s AND ("+order.key+" "+than+" %s OR id > %s))", key, key, at.ID)
	}
	cond.args = append(cond.args, max(q.Limit, 0))
	return selectFeeds + cond.where() + ` ORDER BY ` + end + fmt.Sprintf(` LIMIT $%d`, len(cond.args)), cond.args
}

// FeedVersions implements [storage.Feeds].
func (s feedStore) FeedVersions(ctx context.Context, slot *int, after string, limit int) ([]storage.FeedVersion, error) {
	cond := feedCondition(storage.FeedQuery{Slot: slot})
	cond.add("url > %s", after)
	cond.args = append(cond.args, max(limit, 0))
	statement := `SELECT id, url, writes FROM feeds` + cond.where() + fmt.Sprintf(` ORDER BY url LIMIT $%d`, len(cond.args))
	return read(ctx, s.engine, "find versions of feeds", pgx.RowToStructByPos[storage.FeedVersion], statement, cond.args...)
}

// CountFeeds implements [storage.Feeds].
func (s feedStore) CountFeeds(ctx context.Context, q storage.FeedQuery) (n storage.Counts, err error) {
	cond := feedCondition(q)
	err = s.do(ctx, "count feeds", func(ctx context.Context) (err error) {
		n, err = one(ctx, s.pool, pgx.RowToStructByPos[storage.Counts], `SELECT count(*), coalesce(sum(items), 0), coalesce(sum(purged), 0)::bigint FROM feeds`+cond.where(), cond.args...)
		return err
	})
	return n, err
}

const feedTags = `
	SELECT tag, count(*) FROM feeds, jsonb_array_elements_text(tags) AS tag
	GROUP BY tag ORDER BY count(*) DESC, tag COLLATE "C" LIMIT $1`

// FeedTags implements [storage.Feeds].
func (s feedStore) FeedTags(ctx context.Context, limit int) ([]storage.TagCount, error) {
	return read(ctx, s.engine, "count tags", func(row pgx.CollectableRow) (t storage.TagCount, err error) {
		err = row.Scan(&t.Tag, &t.Feeds)
		return t, err
	}, feedTags, max(limit, 0))
}

package sqlite

import (
	"context"
	"errors"
	"math"
	"strings"

	"github.com/ncruces/go-sqlite3"

	"feedmesh/storage"
)

// registerFunctions registers [storage.FeedSearchText] with a connection as feed_words, and [storage.HostSlot] as host_slot.
func registerFunctions(c *sqlite3.Conn) error {
	return errors.Join(
		c.CreateFunction("feed_words", 3, sqlite3.DETERMINISTIC, func(ctx sqlite3.Context, arg ...sqlite3.Value) {
			ctx.ResultText(storage.FeedSearchText(arg[0].Text(), arg[1].Text(), arg[2].Text()))
		}),
		c.CreateFunction("host_slot", 1, sqlite3.DETERMINISTIC, func(ctx sqlite3.Context, arg ...sqlite3.Value) {
			ctx.ResultInt(storage.HostSlot(arg[0].Text()))
		}))
}

// A feedOrder is the SQL of a [storage.FeedSort].
type feedOrder struct {
	key        string // column or expression
	descending bool   // largest first
	unique     bool   // the key needs no ID to break ties
}

var feedOrders = map[storage.FeedSort]feedOrder{
	storage.FeedsByURL:   {key: "url", unique: true},
	storage.FeedsByTitle: {key: "words"},
	storage.FeedsByItems: {key: "items", descending: true},
	storage.FeedsByLast:  {key: "coalesce(last_item, 0)", descending: true},
	storage.FeedsByAdded: {key: "added", descending: true},
}

// A condition is a WHERE clause with its arguments.
type condition struct {
	terms []string
	args  []any
}

func (c *condition) add(term string, args ...any) {
	c.terms = append(c.terms, term)
	c.args = append(c.args, args...)
}

func (c *condition) where() string {
	if len(c.terms) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(c.terms, " AND ")
}

// feedCondition returns the condition of a query.
func feedCondition(q storage.FeedQuery) *condition {
	c := &condition{}
	if q.IDs != nil {
		c.add(`id IN (SELECT value FROM json_each(?))`, asJSON(q.IDs))
	}
	if q.Text != "" {
		c.add(`instr(words, ?) > 0`, storage.FoldFeedText(q.Text))
	}
	if q.Tag != "" {
		c.add(`num IN (`+feedsByTag+`?)`, q.Tag)
	}
	if q.Host != "" {
		// "0" follows "/".
		c.add(`(url >= 'http://' || ? || '/' AND url < 'http://' || ? || '0' OR url >= 'https://' || ? || '/' AND url < 'https://' || ? || '0')`,
			q.Host, q.Host, q.Host, q.Host)
	}
	if q.Pinned {
		c.add(`pinned`)
	}
	if q.Slot != nil {
		c.add(`host_slot(url) = ?`, *q.Slot)
	}
	if q.WithRequest {
		c.add(`request IS NOT NULL`)
	}
	return c
}

// FindFeeds implements [storage.Feeds].
func (s feedStore) FindFeeds(ctx context.Context, q storage.FeedQuery) ([]storage.Feed, error) {
	order, cond := feedOrders[q.Sort], feedCondition(q)
	if !order.descending && (q.Tag != "" || q.Pinned) {
		// The index of the order does not contain these columns: with it, a page of rare feeds would look up
		// every feed. The plus prevents SQLite from using it.
		order.key = "+" + order.key
	}
	end := order.key
	switch at := q.After; {
	case order.unique:
		cond.add(order.key+" > ?", at.Text)
	case order.descending:
		end += " DESC, id"
		number := at.Number
		if at.ID == "" {
			number = math.MaxInt64
		}
		cond.add("("+order.key+" <= ? AND ("+order.key+" < ? OR id > ?))", number, number, at.ID)
	default:
		end += ", id"
		cond.add("("+order.key+" >= ? AND ("+order.key+" > ? OR id > ?))", at.Text, at.Text, at.ID)
	}
	// The subquery selects the feeds before whole rows are read.
	text := `SELECT ` + feedColumns + ` FROM feeds WHERE num IN (SELECT num FROM feeds` + cond.where() +
		` ORDER BY ` + end + ` LIMIT ?) ORDER BY ` + end
	return readOnce(ctx, s.engine, "find feeds", text, scanFeed, append(cond.args, max(q.Limit, 0))...)
}

// FeedVersions implements [storage.Feeds].
func (s feedStore) FeedVersions(ctx context.Context, slot *int, after string, limit int) ([]storage.FeedVersion, error) {
	cond := feedCondition(storage.FeedQuery{Slot: slot})
	cond.add("url > ?", after)
	text := `SELECT id, url, writes FROM feeds` + cond.where() + ` ORDER BY url LIMIT ?`
	return readOnce(ctx, s.engine, "find versions of feeds", text, func(row scanner) (v storage.FeedVersion, err error) {
		err = row.Scan(&v.ID, &v.URL, &v.Writes)
		return v, err
	}, append(cond.args, max(limit, 0))...)
}

// CountFeeds implements [storage.Feeds].
func (s feedStore) CountFeeds(ctx context.Context, q storage.FeedQuery) (n storage.Counts, err error) {
	cond := feedCondition(q)
	err = s.readers.QueryRowContext(ctx, `SELECT count(*), coalesce(sum(items), 0), coalesce(sum(purged), 0) FROM feeds`+cond.where(), cond.args...).Scan(&n.Feeds, &n.Items, &n.Purged)
	return n, s.wrap(ctx, "count feeds", err)
}

const feedTags = `
	SELECT tag, count(*) FROM feed_tags GROUP BY tag ORDER BY count(*) DESC, tag LIMIT ?`

// FeedTags implements [storage.Feeds].
func (s feedStore) FeedTags(ctx context.Context, limit int) ([]storage.TagCount, error) {
	return readOnce(ctx, s.engine, "count tags", feedTags, func(row scanner) (t storage.TagCount, err error) {
		err = row.Scan(&t.Tag, &t.Feeds)
		return t, err
	}, max(limit, 0))
}

package sqlite

import (
	"context"
	"math"
	"strings"

	"github.com/ncruces/go-sqlite3"

	"feedmesh/storage"
)

// knowWords has a connection know [storage.FeedWords] as feed_words.
func knowWords(c *sqlite3.Conn) error {
	return c.CreateFunction("feed_words", 3, sqlite3.DETERMINISTIC, func(ctx sqlite3.Context, arg ...sqlite3.Value) {
		ctx.ResultText(storage.FeedWords(arg[0].Text(), arg[1].Text(), arg[2].Text()))
	})
}

// A feedOrder is how an order is said in SQL.
type feedOrder struct {
	key  string // column or expression
	down bool   // largest first
}

var feedOrders = map[storage.FeedSort]feedOrder{
	storage.FeedsByURL:   {"url", false},
	storage.FeedsByTitle: {"words", false},
	storage.FeedsByItems: {"items", true},
	storage.FeedsByLast:  {"coalesce(last_item, 0)", true},
	storage.FeedsByAdded: {"added", true},
}

// A condition is what stands behind WHERE, with its arguments.
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

// feedsThat returns what feeds must be to match.
func feedsThat(q storage.FeedQuery) *condition {
	c := &condition{}
	if q.IDs != nil {
		c.add(`id IN (SELECT value FROM json_each(?))`, asJSON(q.IDs))
	}
	if q.Text != "" {
		c.add(`instr(words, ?) > 0`, storage.FoldFeedText(q.Text))
	}
	if q.Tag != "" {
		// Within a tag a quote follows a backslash, so this finds whole tags, and
		// reads no JSON. Only a tag that begins as what follows a tag must be compared.
		c.add(`(instr(tags, '[' || ?) = 1 OR instr(tags, ',' || ?) > 0)`, asJSON(q.Tag), asJSON(q.Tag))
		if strings.HasPrefix(q.Tag, ",") || strings.HasPrefix(q.Tag, "]") {
			c.add(`EXISTS (SELECT 1 FROM json_each(tags) WHERE value = ?)`, q.Tag)
		}
	}
	if q.Host != "" {
		// "0" follows "/".
		c.add(`(url >= 'http://' || ? || '/' AND url < 'http://' || ? || '0' OR url >= 'https://' || ? || '/' AND url < 'https://' || ? || '0')`,
			q.Host, q.Host, q.Host, q.Host)
	}
	if q.Pinned {
		c.add(`pinned`)
	}
	return c
}

// FindFeeds implements [storage.FeedFinder].
func (s *Store) FindFeeds(ctx context.Context, q storage.FeedQuery) ([]storage.Feed, error) {
	order, that := feedOrders[q.Sort], feedsThat(q)
	if !order.down && (q.Tag != "" || q.Pinned) {
		// The index of the order does not know these: by it, a page of rare feeds
		// takes as many single reads as there are feeds. The plus keeps SQLite off.
		order.key = "+" + order.key
	}
	end := order.key
	switch at := q.After; {
	case order.down:
		end += " DESC"
		number := at.Number
		if at.ID == "" {
			number = math.MaxInt64
		}
		that.add("("+order.key+" <= ? AND ("+order.key+" < ? OR id > ?))", number, number, at.ID)
	default:
		that.add("("+order.key+" >= ? AND ("+order.key+" > ? OR id > ?))", at.Text, at.Text, at.ID)
	}
	end += ", id"
	// Which feeds these are is decided before they are read whole.
	text := `SELECT ` + feedColumns + ` FROM feeds WHERE num IN (SELECT num FROM feeds` + that.where() +
		` ORDER BY ` + end + ` LIMIT ?) ORDER BY ` + end
	found, err := query(ctx, s, scanFeed, text, append(that.args, max(q.Limit, 0))...)
	return found, s.failed(ctx, "find feeds", err)
}

// CountFeeds implements [storage.FeedFinder].
func (s *Store) CountFeeds(ctx context.Context, q storage.FeedQuery) (n int64, err error) {
	that := feedsThat(q)
	err = s.readers.QueryRowContext(ctx, `SELECT count(*) FROM feeds`+that.where(), that.args...).Scan(&n)
	return n, s.failed(ctx, "count feeds", err)
}

const feedTags = `
	SELECT value, count(*) FROM feeds, json_each(tags) GROUP BY value ORDER BY count(*) DESC, value LIMIT ?`

// FeedTags implements [storage.FeedFinder].
func (s *Store) FeedTags(ctx context.Context, limit int) ([]storage.TagCount, error) {
	tags, err := query(ctx, s, func(row scanner) (t storage.TagCount, err error) {
		err = row.Scan(&t.Tag, &t.Feeds)
		return t, err
	}, feedTags, max(limit, 0))
	return tags, s.failed(ctx, "count tags", err)
}

package postgres

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"feedmesh/storage"
)

// A feedOrder is how an order is said in SQL.
type feedOrder struct {
	key  string // column or expression
	down bool   // largest first
	time bool   // the key is a time
}

var feedOrders = map[storage.FeedSort]feedOrder{
	storage.FeedsByURL:   {key: "url"},
	storage.FeedsByTitle: {key: "words"},
	storage.FeedsByItems: {key: "items", down: true},
	storage.FeedsByLast:  {key: "coalesce(last_item, 'epoch')", down: true, time: true},
	storage.FeedsByAdded: {key: "added", down: true, time: true},
}

// A condition is what stands behind WHERE, with its arguments.
type condition struct {
	terms []string
	args  []any
}

// add adds a term, in which each %s stands for an argument.
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

// feedsThat returns what feeds must be to match.
func feedsThat(q storage.FeedQuery) *condition {
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
	return c
}

// FindFeeds implements [storage.FeedFinder].
func (s *Store) FindFeeds(ctx context.Context, q storage.FeedQuery) ([]storage.Feed, error) {
	order, that := feedOrders[q.Sort], feedsThat(q)
	end, than := order.key+", id", ">"
	if order.down {
		end, than = order.key+" DESC, id", "<"
	}
	if at := q.After; at.ID != "" {
		var key any = at.Text
		switch {
		case order.time:
			key = time.UnixMicro(at.Number).UTC()
		case order.down:
			key = at.Number
		}
		that.add("("+order.key+" "+than+"= %s AND ("+order.key+" "+than+" %s OR id > %s))", key, key, at.ID)
	}
	that.args = append(that.args, max(q.Limit, 0))
	text := selectFeeds + that.where() + ` ORDER BY ` + end + fmt.Sprintf(` LIMIT $%d`, len(that.args))
	return read(ctx, s, "find feeds", scanFeed, text, that.args...)
}

// CountFeeds implements [storage.FeedFinder].
func (s *Store) CountFeeds(ctx context.Context, q storage.FeedQuery) (n int64, err error) {
	that := feedsThat(q)
	err = s.do(ctx, "count feeds", func(ctx context.Context) (err error) {
		n, err = one(ctx, s.pool, pgx.RowTo[int64], `SELECT count(*) FROM feeds`+that.where(), that.args...)
		return err
	})
	return n, err
}

const feedTags = `
	SELECT tag, count(*) FROM feeds, jsonb_array_elements_text(tags) AS tag
	GROUP BY tag ORDER BY count(*) DESC, tag COLLATE "C" LIMIT $1`

// FeedTags implements [storage.FeedFinder].
func (s *Store) FeedTags(ctx context.Context, limit int) ([]storage.TagCount, error) {
	return read(ctx, s, "count tags", func(row pgx.CollectableRow) (t storage.TagCount, err error) {
		err = row.Scan(&t.Tag, &t.Feeds)
		return t, err
	}, feedTags, max(limit, 0))
}

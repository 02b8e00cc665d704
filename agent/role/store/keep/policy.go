// Package keep purges old items from the store in small steps: by age or by number, for all feeds, the feeds with a
// tag, or one feed ([Policy]). [Count] returns what a purge would delete. [Run] announces each large purge before it
// begins, and publishes index tasks for the deleted items.
package keep

import (
	"context"
	"slices"
	"strings"
	"time"

	"feedmesh/config"
	"feedmesh/storage"
)

// A Policy states how long the items of each feed are kept: as the feed's own setting states, else as the first tag
// of Tags that the feed has, else Default.
type Policy struct {
	Default storage.Keep     `json:"default"`
	Tags    []config.TagKeep `json:"tags,omitempty"`
	Floor   time.Duration    `json:"floor"` // younger items are always kept; at least [storage.MinKeep]
}

// PolicyOf returns the policy of a configuration. New items are compared with those of the cluster window: they must
// still be stored, or a new item would be the duplicate of none.
func PolicyOf(c config.Config) Policy {
	return Policy{Default: c.Keep, Tags: c.KeepTag, Floor: max(storage.MinKeep, 2*c.Cluster.Window)}
}

// Of returns how long the items of a feed are kept. A setting that cannot be parsed, as of a newer version, keeps all.
func (p Policy) Of(f storage.Feed) storage.Keep {
	if f.Keep != "" {
		own, err := storage.ParseKeep(f.Keep)
		if err != nil {
			return storage.Keep{}
		}
		return own
	}
	for _, t := range p.Tags {
		if slices.Contains(f.Tags, t.Tag) {
			return t.Keep
		}
	}
	return p.Default
}

// An expiry selects items to purge.
type expiry struct {
	storage.ExpiredQuery
	counted time.Time // items first seen before are selected by another expiry too
}

// expiries returns the queries of all items to purge, and a text that differs if settings differ.
func (p Policy) expiries(ctx context.Context, feeds storage.Feeds, now time.Time) (all []expiry, settings string, err error) {
	texts := []string{p.Default.String()}
	for _, t := range p.Tags {
		texts = append(texts, t.Tag+"="+t.Keep.String())
	}
	others := map[time.Duration][]string{} // feeds by an age that is not the default
	var except []string
	var byNumber []expiry
	err = storage.ForEachFeed(ctx, feeds, func(f storage.Feed) error {
		k := p.Of(f)
		if f.Keep != "" {
			texts = append(texts, f.ID+"="+f.Keep)
		}
		if k.Age != p.Default.Age {
			others[k.Age], except = append(others[k.Age], f.ID), append(except, f.ID)
		}
		byNumber = append(byNumber, p.byNumber(f, k, now)...)
		return nil
	})
	if err != nil {
		return nil, "", err
	}
	if p.Default.Age > 0 {
		all = append(all, expiry{ExpiredQuery: storage.ExpiredQuery{Before: p.before(p.Default.Age, now), Except: except}})
	}
	for age, ids := range others {
		if age > 0 {
			all = append(all, expiry{ExpiredQuery: storage.ExpiredQuery{Before: p.before(age, now), Feeds: ids}})
		}
	}
	return append(all, byNumber...), strings.Join(texts, "\n"), nil
}

// byNumber returns the query of items that exceed the number of a feed, none if it has fewer.
func (p Policy) byNumber(f storage.Feed, k storage.Keep, now time.Time) []expiry {
	if k.Items == 0 || f.Items <= int64(k.Items) {
		return nil
	}
	e := expiry{ExpiredQuery: storage.ExpiredQuery{Before: now.Add(-p.Floor), Newest: k.Items, Feeds: []string{f.ID}}}
	if k.Age > 0 {
		e.counted = p.before(k.Age, now)
	}
	return []expiry{e}
}

// ofFeed returns the queries of one feed.
func (p Policy) ofFeed(f storage.Feed, now time.Time) (all []expiry) {
	k := p.Of(f)
	if k.Age > 0 {
		all = append(all, expiry{ExpiredQuery: storage.ExpiredQuery{Before: p.before(k.Age, now), Feeds: []string{f.ID}}})
	}
	return append(all, p.byNumber(f, k, now)...)
}

// before returns the time of FirstSeen before which items of an age are purged.
func (p Policy) before(age time.Duration, now time.Time) time.Time {
	return now.Add(-max(age, p.Floor))
}

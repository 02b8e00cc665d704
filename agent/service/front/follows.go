package front

import (
	"context"
	"errors"
	"strings"
	"unicode"

	"feedmesh/agent/access"
	"feedmesh/classify/query"
	"feedmesh/storage"
)

// ErrValue reports a value that nothing of its kind can have.
var ErrValue = errors.New("the value is empty, has several lines, or is no host of a publisher")

// Follows returns what the client follows and mutes, in order of time.
func (p *Pages) Follows(ctx context.Context) ([]storage.Follow, error) {
	return storage.Follows(p.Store).List(ctx, access.From(ctx).ID)
}

// Put follows or mutes something. The error may be [ErrValue] or [storage.ErrTooMany].
func (p *Pages) Put(ctx context.Context, kind, value string, mute bool) (storage.Follow, error) {
	value, err := normalValue(kind, value)
	if err != nil {
		return storage.Follow{}, err
	}
	return storage.Follows(p.Store).Put(ctx, storage.Follow{Client: access.From(ctx).ID, Kind: kind, Value: value, Mute: mute, Created: p.Now()})
}

// Remove ends following or muting something. The error may be [storage.ErrNotFound].
func (p *Pages) Remove(ctx context.Context, kind, value string) error {
	if normal, err := normalValue(kind, value); err == nil {
		value = normal
	}
	return storage.Follows(p.Store).Remove(ctx, access.From(ctx).ID, kind, value)
}

// normalValue returns the stored form of a value: a publisher is a host without "www.", a word is in lower case.
func normalValue(kind, value string) (string, error) {
	value = strings.Join(strings.Fields(value), " ")
	if value == "" || strings.ContainsFunc(value, unicode.IsControl) {
		return "", ErrValue
	}
	switch kind {
	case storage.FollowPublisher:
		if !strings.Contains(value, "://") {
			value = "https://" + value
		}
		hosts := query.Hosts(value)
		if len(hosts) == 0 {
			return "", ErrValue
		}
		return hosts[0], nil
	case storage.FollowWord:
		if len(query.QueryWords(value)) == 0 {
			return "", ErrValue
		}
		return strings.ToLower(value), nil
	}
	return value, nil
}

// A Filter has what a client mutes.
type Filter struct {
	muted map[[2]string]bool // by kind and value
	words [][]string         // stems of muted words and phrases
}

// Filter returns what the client mutes.
func (p *Pages) Filter(ctx context.Context) (Filter, error) {
	follows, err := p.Follows(ctx)
	return filterOf(follows), err
}

func filterOf(follows []storage.Follow) Filter {
	f := Filter{muted: map[[2]string]bool{}}
	for _, r := range follows {
		switch {
		case !r.Mute:
		case r.Kind == storage.FollowWord:
			f.words = append(f.words, query.Stems(query.QueryWords(r.Value)))
		default:
			f.muted[[2]string{r.Kind, r.Value}] = true
		}
	}
	return f
}

// HidesStory reports whether the story, one of its categories or topics, or a word of its title or summary is muted.
func (f Filter) HidesStory(s storage.Story) bool {
	if f.muted[[2]string{storage.FollowStory, s.ID}] {
		return true
	}
	for _, name := range s.Categories {
		if f.muted[[2]string{storage.FollowCategory, name}] {
			return true
		}
	}
	for _, name := range s.Topics {
		if f.muted[[2]string{storage.FollowTopic, name}] {
			return true
		}
	}
	if len(f.words) == 0 {
		return false
	}
	texts := []string{s.Title}
	for _, line := range s.Summary {
		texts = append(texts, line.Text)
	}
	return f.hidesWords(texts...)
}

// HidesPublisher reports whether the publisher of items at an address, a parent domain, or the feed is muted.
func (f Filter) HidesPublisher(address, feedID string) bool {
	if len(f.muted) == 0 {
		return false
	}
	for _, host := range query.Hosts(address) {
		if f.muted[[2]string{storage.FollowPublisher, host}] {
			return true
		}
	}
	return f.muted[[2]string{storage.FollowFeed, feedID}]
}

// hidesItem reports whether an item that is in no story of several publishers is muted.
func (f Filter) hidesItem(i storage.Item) bool {
	s := storage.Story{ID: i.StoryID, Title: i.Title, Categories: i.Categories, Topics: i.Topics}
	return f.HidesPublisher(i.URL, i.FeedID) || f.HidesStory(s)
}

// hidesWords reports whether one of the texts has a muted word or phrase.
func (f Filter) hidesWords(texts ...string) bool {
	for _, t := range texts {
		stems := query.Stems(query.Words(t))
		places := make(map[string][]int, len(stems))
		for n, s := range stems {
			places[s] = append(places[s], n)
		}
		for _, phrase := range f.words {
			for _, n := range places[phrase[0]] {
				if hasPrefix(stems[n:], phrase) {
					return true
				}
			}
		}
	}
	return false
}

func hasPrefix(list, begin []string) bool {
	if len(list) < len(begin) {
		return false
	}
	for n, s := range begin {
		if list[n] != s {
			return false
		}
	}
	return true
}

// Titles returns how each of the records is named: a story by its headline, a feed by its title.
func (p *Pages) Titles(ctx context.Context, follows []storage.Follow) ([]string, error) {
	var ids []string
	for _, f := range follows {
		if f.Kind == storage.FollowStory {
			ids = append(ids, f.Value)
		}
	}
	stories, err := p.Store.StoriesByID(ctx, ids...)
	if err != nil {
		return nil, err
	}
	titles := make([]string, len(follows))
	for n, f := range follows {
		if titles[n] = p.titleOf(ctx, f.Kind, f.Value); f.Kind == storage.FollowStory {
			titles[n] = "A story that is no longer stored"
			if s, exists := stories[f.Value]; exists {
				titles[n] = s.Title
			}
		}
	}
	return titles, nil
}

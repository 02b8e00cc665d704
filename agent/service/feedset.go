package service

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"feedmesh/agent/role/crawl/fetch"
	"feedmesh/agent/wire"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// direct as a feed's proxy means no proxy.
const direct = "direct"

// Set changes the settings of a feed. It returns an error for each wrong setting, or [storage.ErrNotFound].
func (s *Feeds) Set(ctx context.Context, in wire.SetFeedRequest) (wire.Feed, error) {
	change := in.Body
	stored, err := s.stored(ctx, in.ID)
	if err != nil {
		return wire.Feed{}, err
	}
	problems := applyChange(change, &stored)
	if p := change.Proxy; p != nil && *p != "" && *p != direct {
		proxies, err := storage.Proxies(s.Store).List(ctx)
		if err != nil {
			return wire.Feed{}, err
		}
		if !slices.ContainsFunc(proxies, func(proxy storage.Proxy) bool { return proxy.ID == *p }) {
			problems = append(problems, fieldf("body.proxy", "there is no proxy %q: PUT /api/proxies/%s makes one", *p, *p))
		}
	}
	if len(problems) > 0 {
		return wire.Feed{}, &Error{KindInvalid, "the settings are wrong, nothing was changed", problems}
	}
	if _, err = s.Store.SetFeed(ctx, in.ID, stored.Settings()); err != nil {
		return wire.Feed{}, fmt.Errorf("feed %s: %w", in.ID, err)
	}
	if err := publishObservations(ctx, s.Mesh, observation(in.ID, "", subjects.Changed)); err != nil {
		return wire.Feed{}, err
	}
	return s.Get(ctx, wire.ByID{ID: in.ID})
}

// applyChange changes a feed, and returns the errors in the change.
func applyChange(c wire.FeedChange, f *storage.Feed) (problems []FieldError) {
	if c.Tags != nil {
		f.Tags = nil
		for _, tag := range *c.Tags {
			tag = strings.Join(strings.Fields(tag), " ")
			if tag == "" || len(tag) > maxTag {
				problems = append(problems, fieldf("body.tags", "%.50q is no tag: it must have 1 to %d bytes", tag, maxTag))
			} else if !slices.Contains(f.Tags, tag) {
				f.Tags = append(f.Tags, tag)
			}
		}
	}
	if c.Pinned != nil {
		f.Pinned = *c.Pinned
	}
	if c.FullText != nil {
		f.FullText = *c.FullText
	}
	if c.SpamThreshold != nil {
		f.SpamThreshold = *c.SpamThreshold
	}
	var r storage.Request
	if f.Request != nil {
		r = *f.Request
	}
	problems = append(problems, applyRequest(c, &r)...)
	f.Request = &r
	if r.UserAgent == "" && len(r.Header) == 0 && r.User == "" && r.Password == "" && r.Proxy == "" {
		f.Request = nil
	}
	return problems
}

// maxTag is the maximum length of a tag, in bytes.
const maxTag = 128

// MaxTags is the maximum number of tags of a feed.
const MaxTags = 32

func applyRequest(c wire.FeedChange, r *storage.Request) (problems []FieldError) {
	set := func(to, value *string) {
		if value != nil {
			*to = *value
		}
	}
	if c.User != nil && *c.User != r.User {
		r.Password = "" // it belongs to the old user
	}
	set(&r.UserAgent, c.UserAgent)
	set(&r.User, c.User)
	set(&r.Password, c.Password)
	set(&r.Proxy, c.Proxy)
	if !httpguts.ValidHeaderFieldValue(r.UserAgent) {
		problems = append(problems, fieldf("body.user_agent", "it has characters that no header may have"))
	}
	if strings.Contains(r.User, ":") {
		problems = append(problems, fieldf("body.user", "a user's name can't have a colon in it"))
	}
	if r.User == "" && r.Password != "" {
		problems = append(problems, fieldf("body.password", "a password needs a user"))
	}
	r.Header = maps.Clone(r.Header)
	for _, name := range slices.Sorted(maps.Keys(c.Headers)) {
		if err := fetch.CheckHeader(name, c.Headers[name]); err != nil {
			problems = append(problems, fieldf("body.headers", "%v", err))
			continue
		}
		maps.DeleteFunc(r.Header, func(old, _ string) bool { return strings.EqualFold(old, name) })
		if value := c.Headers[name]; value != "" {
			if r.Header == nil {
				r.Header = map[string]string{}
			}
			r.Header[name] = value
		}
	}
	if len(r.Header) > maxHeaders {
		problems = append(problems, fieldf("body.headers", "there would be %d headers, more than %d", len(r.Header), maxHeaders))
	}
	return problems
}

// maxHeaders is the maximum number of custom headers of a feed.
const maxHeaders = 32

package api

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"golang.org/x/net/http/httpguts"

	"feedmesh/agent/fetch"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// direct, as a feed's proxy, means none.
const direct = "direct"

// A Change is what is to become of a feed's settings. What is nil stays as it is.
type Change struct {
	Tags          *[]string         `json:"tags,omitempty" maxItems:"32" doc:"In place of those it has."`
	Pinned        *bool             `json:"pinned,omitempty" doc:"Whether it is read as often as possible."`
	FullText      *bool             `json:"full_text,omitempty" doc:"Whether its items get the text of the pages they link to."`
	SpamThreshold *float64          `json:"spam_threshold,omitempty" minimum:"0" maximum:"1" doc:"From which score on its items are spam; 0: as all others."`
	UserAgent     *string           `json:"user_agent,omitempty" maxLength:"256" doc:"Name to ask under in place of ours; empty: ours."`
	Headers       map[string]string `json:"headers,omitempty" maxProperties:"32" doc:"Headers to send besides the usual ones, added to those it has; an empty one is sent no more."`
	User          *string           `json:"user,omitempty" maxLength:"256" doc:"For HTTP basic authentication; empty: none. A change of it forgets the password."`
	Password      *string           `json:"password,omitempty" maxLength:"1024" doc:"Of that user. No answer tells it."`
	Proxy         *string           `json:"proxy,omitempty" maxLength:"32" doc:"ID of a proxy to go by; direct for none; empty: by the rules."`
}

func (s *Server) setFeed(ctx context.Context, in *struct {
	ID   string `path:"id" maxLength:"64"`
	Body Change
}) (*body[Feed], error) {
	feed, err := s.SetFeed(ctx, in.ID, in.Body)
	var wrong *WrongChange
	if errors.As(err, &wrong) {
		return nil, huma.Error422UnprocessableEntity(wrong.Error(), wrong.Faults...)
	}
	if err != nil {
		return nil, s.problem(err)
	}
	return &body[Feed]{Body: feed}, nil
}

// A WrongChange says what is wrong with a [Change].
type WrongChange struct {
	Faults []error // each an [*huma.ErrorDetail]
}

func (*WrongChange) Error() string { return "the settings are wrong, nothing was changed" }

// SetFeed changes what a person decides of a feed. It returns a [*WrongChange], or
// [storage.ErrNotFound].
func (s *Server) SetFeed(ctx context.Context, id string, change Change) (Feed, error) {
	stored, err := s.Store.Feed(ctx, id)
	if err != nil {
		return Feed{}, fmt.Errorf("feed %s: %w", id, err)
	}
	faults := change.apply(&stored)
	if p := change.Proxy; p != nil && *p != "" && *p != direct {
		proxies, err := s.Store.Proxies(ctx)
		if err != nil {
			return Feed{}, err
		}
		if !slices.ContainsFunc(proxies, func(known storage.Proxy) bool { return known.ID == *p }) {
			faults = append(faults, fault("body.proxy", "there is no proxy %q: PUT /api/proxies/%s makes one", *p, *p))
		}
	}
	if len(faults) > 0 {
		return Feed{}, &WrongChange{faults}
	}
	if _, err = s.Store.SetFeed(ctx, id, stored.Settings()); err != nil {
		return Feed{}, fmt.Errorf("feed %s: %w", id, err)
	}
	if err := tellSchedule(ctx, s.Mesh, observation(id, "", subjects.Changed)); err != nil {
		return Feed{}, err
	}
	return s.Feed(ctx, id)
}

// fault says what is wrong with a part of a request.
func fault(at, format string, args ...any) error {
	return &huma.ErrorDetail{Location: at, Message: fmt.Sprintf(format, args...)}
}

// apply changes a feed, and returns what is wrong with the change.
func (c Change) apply(f *storage.Feed) (faults []error) {
	if c.Tags != nil {
		f.Tags = nil
		for _, tag := range *c.Tags {
			tag = strings.Join(strings.Fields(tag), " ")
			if tag == "" || len(tag) > maxTag {
				faults = append(faults, fault("body.tags", "%.50q is no tag: it must have 1 to %d bytes", tag, maxTag))
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
	faults = append(faults, c.applyRequest(&r)...)
	f.Request = &r
	if r.UserAgent == "" && len(r.Header) == 0 && r.User == "" && r.Password == "" && r.Proxy == "" {
		f.Request = nil
	}
	return faults
}

// maxTag is the longest tag a person may give, in bytes.
const maxTag = 128

// MaxTags is how many tags a person may give a feed.
const MaxTags = 32

func (c Change) applyRequest(r *storage.Request) (faults []error) {
	set := func(to, value *string) {
		if value != nil {
			*to = *value
		}
	}
	if c.User != nil && *c.User != r.User {
		r.Password = "" // it is another's
	}
	set(&r.UserAgent, c.UserAgent)
	set(&r.User, c.User)
	set(&r.Password, c.Password)
	set(&r.Proxy, c.Proxy)
	if !httpguts.ValidHeaderFieldValue(r.UserAgent) {
		faults = append(faults, fault("body.user_agent", "it has characters that no header may have"))
	}
	if strings.Contains(r.User, ":") {
		faults = append(faults, fault("body.user", "a user's name can't have a colon in it"))
	}
	if r.User == "" && r.Password != "" {
		faults = append(faults, fault("body.password", "a password needs a user"))
	}
	r.Header = maps.Clone(r.Header)
	for _, name := range slices.Sorted(maps.Keys(c.Headers)) {
		if err := fetch.CheckHeader(name, c.Headers[name]); err != nil {
			faults = append(faults, fault("body.headers", "%v", err))
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
		faults = append(faults, fault("body.headers", "there would be %d headers, more than %d", len(r.Header), maxHeaders))
	}
	return faults
}

// maxHeaders is how many headers of its own a feed may have.
const maxHeaders = 32

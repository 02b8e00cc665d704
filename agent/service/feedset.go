package service

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"feedmesh/agent/role/crawl/fetch"
	"feedmesh/agent/secret"
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
	tags := stored.Tags
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
	settings := stored.Settings()
	if settings.Request, err = s.Secrets.SealRequest(ctx, in.ID, settings.Request); err != nil {
		return wire.Feed{}, unsealed(err)
	}
	if err := s.put(ctx, in.ID, settings); err != nil {
		return wire.Feed{}, err
	}
	if err := s.retagged(ctx, tags, settings.Tags); err != nil {
		return wire.Feed{}, err
	}
	return s.Get(ctx, wire.ByID{ID: in.ID})
}

// Retag removes and adds tags of a feed. Without a change it writes nothing. It returns [storage.ErrNotFound] if
// the feed does not exist.
func (s *Feeds) Retag(ctx context.Context, id string, add, remove []string) error {
	stored, err := s.stored(ctx, id)
	if err != nil {
		return err
	}
	settings := stored.Settings().WithTags(add, remove)
	if slices.Equal(settings.Tags, stored.Tags) {
		return nil
	}
	if err := s.put(ctx, id, settings); err != nil {
		return err
	}
	return s.retagged(ctx, stored.Tags, settings.Tags)
}

// put stores the settings of a feed and publishes the change to the schedule.
func (s *Feeds) put(ctx context.Context, id string, settings storage.Settings) error {
	if _, err := s.Store.SetFeed(ctx, id, settings); err != nil {
		return fmt.Errorf("feed %s: %w", id, err)
	}
	return publishObservations(ctx, s.Mesh, observation(id, "", subjects.Changed))
}

// unsealed returns the error for a user whose password was not stored.
func unsealed(err error) error {
	if errors.As(err, new(*secret.MissingKeyError)) || errors.As(err, new(*secret.FileError)) {
		return errorf(KindConflict, "the password can't be stored: %v", err)
	}
	return err
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
	setIfGiven(&f.Pinned, c.Pinned)
	setIfGiven(&f.FullText, c.FullText)
	setIfGiven(&f.SpamThreshold, c.SpamThreshold)
	if c.Keep != nil {
		limit, err := storage.ParseKeep(*c.Keep)
		switch {
		case *c.Keep == "":
			f.Keep = ""
		case err != nil:
			problems = append(problems, fieldf("body.keep", "%v", err))
		default:
			f.Keep = limit.String()
		}
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

func setIfGiven[T any](to, value *T) {
	if value != nil {
		*to = *value
	}
}

// maxTag is the maximum length of a tag, in bytes.
const maxTag = 128

// MaxTags is the maximum number of tags of a feed.
const MaxTags = 32

func applyRequest(c wire.FeedChange, r *storage.Request) (problems []FieldError) {
	if c.User != nil && *c.User != r.User {
		r.Password = "" // it belongs to the old user
	}
	setIfGiven(&r.UserAgent, c.UserAgent)
	setIfGiven(&r.User, c.User)
	setIfGiven(&r.Password, c.Password)
	setIfGiven(&r.Proxy, c.Proxy)
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

// Bounds of a step, which keep every request short.
const (
	bulkBatchSize  = 500 // feeds read and published together
	bulkTimeout    = 4 * time.Second
	maxBulkReasons = 20 // reasons returned
	MaxBulks       = 2  // concurrent steps of a process
)

// Bulk changes many feeds.
type Bulk struct {
	feeds *Feeds
	Slots chan struct{} // semaphore of concurrent steps
}

// invalidBulk is the error of an invalid change.
func invalidBulk(format string, args ...any) error {
	return errorf(KindInvalid, "can't be done to many feeds: "+format, args...)
}

// checkBulk validates the change and normalizes its tags.
func checkBulk(b *wire.BulkChange) error {
	switch {
	case (len(b.IDs) == 0) == (b.Filter == nil):
		return invalidBulk("name feeds by IDs or by a filter, one of them")
	case b.Filter != nil && *b.Filter == wire.FeedFilter{} && !b.All:
		return invalidBulk("the filter narrows nothing: set all if all feeds are meant")
	case (b.Action == wire.ActionTag || b.Action == wire.ActionUntag) == (len(b.Tags) == 0):
		return invalidBulk("tags are needed to tag and untag, and for nothing else")
	}
	for i, tag := range b.Tags {
		if b.Tags[i] = strings.Join(strings.Fields(tag), " "); b.Tags[i] == "" || len(b.Tags[i]) > maxTag {
			return invalidBulk("%.50q is no tag: it must have 1 to %d bytes", tag, maxTag)
		}
	}
	return nil
}

// Change applies one step of a bulk change. It returns an error of [KindInvalid] if the change is invalid and of
// [KindBusy] if too many steps run.
func (s *Bulk) Change(ctx context.Context, in wire.ChangeFeedsRequest) (wire.BulkResult, error) {
	b := in.Body
	if err := checkBulk(&b); err != nil {
		return wire.BulkResult{}, err
	}
	if b.DryRun {
		n, err := s.countSelected(ctx, b)
		return wire.BulkResult{Found: n}, err
	}
	select {
	case s.Slots <- struct{}{}:
		defer func() { <-s.Slots }()
	default:
		return wire.BulkResult{}, errorf(KindBusy, "%d bulk changes are running on this node, retry when one has finished", MaxBulks)
	}
	var done wire.BulkResult
	for until := time.Now().Add(bulkTimeout); ; {
		feeds, next, err := s.selectBatch(ctx, b)
		if err != nil {
			return done, err
		}
		if err := s.changeBatch(ctx, b, feeds, &done); err != nil {
			return done, err
		}
		if b.After, done.Next = next, next; next == "" || time.Now().After(until) {
			return done, nil
		}
	}
}

// selectBatch returns the next batch of selected feeds, and the cursor of the batch after it.
func (s *Bulk) selectBatch(ctx context.Context, b wire.BulkChange) ([]storage.Feed, string, error) {
	if b.Filter != nil {
		return s.feeds.scan(ctx, wire.FeedSearch{FeedFilter: *b.Filter, Sort: "url", After: b.After, Limit: bulkBatchSize})
	}
	after, err := placeOf(storage.FeedsByURL, b.After)
	if err != nil {
		return nil, "", err
	}
	feeds, err := s.feeds.Store.FindFeeds(ctx, storage.FeedQuery{IDs: b.IDs, After: after, Limit: bulkBatchSize})
	if err != nil || len(feeds) < bulkBatchSize {
		return feeds, "", err
	}
	return feeds, feeds[len(feeds)-1].URL, nil
}

func (s *Bulk) countSelected(ctx context.Context, b wire.BulkChange) (int64, error) {
	if b.Filter != nil {
		return s.feeds.count(ctx, *b.Filter)
	}
	counts, err := s.feeds.Store.CountFeeds(ctx, storage.FeedQuery{IDs: b.IDs})
	return counts.Feeds, err
}

// changeBatch applies the action to a batch of feeds and publishes all changes to the schedule in one
// message. A feed that was removed meanwhile counts as failed.
func (s *Bulk) changeBatch(ctx context.Context, b wire.BulkChange, feeds []storage.Feed, done *wire.BulkResult) error {
	var news []subjects.Observation
	for _, f := range feeds {
		outcome, err := s.changeFeed(ctx, b, f)
		switch {
		case errors.Is(err, storage.ErrNotFound) || KindOf(err) == KindInvalid:
			if done.Failed++; len(done.Reasons) < maxBulkReasons {
				done.Reasons = append(done.Reasons, wire.FeedFailure{ID: f.ID, Why: err.Error()})
			}
			continue
		case err != nil:
			return err
		}
		done.Done++
		if outcome != "" {
			news = append(news, observation(f.ID, "", outcome))
		}
	}
	if len(news) == 0 {
		return nil
	}
	return publishObservations(ctx, s.feeds.Mesh, news...)
}

// changeFeed applies the action to a feed, and returns the outcome to publish to the schedule; "" for none.
func (s *Bulk) changeFeed(ctx context.Context, b wire.BulkChange, f storage.Feed) (subjects.Outcome, error) {
	settings := f.Settings()
	switch b.Action {
	case wire.ActionRefresh:
		return subjects.Refresh, nil
	case wire.ActionRemove:
		_, err := s.feeds.Remove(ctx, wire.ByID{ID: f.ID})
		return "", err
	case wire.ActionPin, wire.ActionUnpin:
		settings.Pinned = b.Action == wire.ActionPin
	case wire.ActionTag:
		if settings = settings.WithTags(b.Tags, nil); len(settings.Tags) > MaxTags {
			return "", invalidBulk("it would have more than %d tags", MaxTags)
		}
	case wire.ActionUntag:
		settings = settings.WithTags(nil, b.Tags)
	}
	if settings.Pinned == f.Pinned && slices.Equal(settings.Tags, f.Tags) {
		return "", nil
	}
	if _, err := s.feeds.Store.SetFeed(ctx, f.ID, settings); err != nil {
		return "", err
	}
	return subjects.Changed, s.feeds.retagged(ctx, f.Tags, settings.Tags)
}

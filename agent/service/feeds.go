package service

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"

	"github.com/nats-io/nuid"

	"feedmesh/agent/opml"
	"feedmesh/agent/role/crawl/fetch"
	"feedmesh/agent/role/parse/feed"
	"feedmesh/agent/wire"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// Feeds answers requests about feeds.
type Feeds struct{ *core }

// feedOf returns a feed as clients see it.
func feedOf(f storage.Feed, state *subjects.State) wire.Feed {
	view := wire.Feed{Feed: f, Request: requestOf(f.Request)}
	view.Feed.Request = nil
	if state != nil {
		public := *state
		public.Request, public.Model = nil, nil
		view.State, view.Problem = &public, feedProblem(state)
	}
	return view
}

// stored returns a stored feed, or [storage.ErrNotFound].
func (s *Feeds) stored(ctx context.Context, id string) (storage.Feed, error) {
	stored, err := s.Store.Feed(ctx, id)
	if err != nil {
		err = fmt.Errorf("feed %s: %w", id, err)
	}
	return stored, err
}

// Get returns one feed with its last polls, or [storage.ErrNotFound].
func (s *Feeds) Get(ctx context.Context, in wire.ByID) (wire.Feed, error) {
	stored, err := s.stored(ctx, in.ID)
	if err != nil {
		return wire.Feed{}, err
	}
	states, err := s.Mesh.StatesOf(ctx, in.ID)
	if err != nil {
		return wire.Feed{}, err
	}
	feed := feedOf(stored, states[in.ID])
	feed.Polls, err = s.Mesh.Polls(ctx, in.ID)
	return feed, err
}

// Polls returns the poll history of a feed, or [storage.ErrNotFound].
func (s *Feeds) Polls(ctx context.Context, in wire.ByID) (wire.PollHistory, error) {
	if _, err := s.stored(ctx, in.ID); err != nil {
		return wire.PollHistory{}, err
	}
	polls, err := s.Mesh.Polls(ctx, in.ID)
	return wire.PollHistory{Polls: convert(polls, func(p subjects.Poll) wire.PollView {
		return wire.PollView{At: p.At, Took: p.Duration.Milliseconds(), Status: p.Status, Size: p.Size, Class: p.Class, What: DescribePoll(p), Reason: p.Reason, Proxy: p.ProxyID, Before: p.UnchangedBefore}
	})}, err
}

// Add adds feeds by their addresses.
func (s *Feeds) Add(ctx context.Context, in wire.AddFeedsRequest) (wire.ImportResults, error) {
	feeds := make([]opml.Feed, len(in.Body.URLs))
	for i, url := range in.Body.URLs {
		feeds[i] = opml.Feed{URL: url, Tags: in.Body.Tags}
	}
	results, err := ImportFeeds(ctx, s.Store, s.Mesh, feeds, s.Now())
	if err != nil {
		return wire.ImportResults{}, err
	}
	all := wire.ImportResults{Results: results}
	for _, r := range results {
		switch r.Outcome {
		case wire.ImportAdded:
			all.Added++
		case wire.ImportExisting:
			all.Existing++
		default:
			all.Invalid++
		}
	}
	return all, nil
}

// Remove removes a feed and its items from the store, then publishes that to the schedule and the index, which
// would also detect it by themselves later. It returns [storage.ErrNotFound] if the feed does not exist.
func (s *Feeds) Remove(ctx context.Context, in wire.ByID) (wire.None, error) {
	items, err := s.Store.RemoveFeed(ctx, in.ID)
	if err != nil {
		return wire.None{}, fmt.Errorf("feed %s: %w", in.ID, err)
	}
	if err := subjects.PublishChanged(ctx, s.Mesh, "feed "+in.ID+" removed "+nuid.Next(), items, true); err != nil {
		return wire.None{}, err
	}
	return wire.None{}, publishObservations(ctx, s.Mesh, observation(in.ID, "", subjects.Removed))
}

// Refresh requests an immediate poll of a feed. It returns [storage.ErrNotFound] if the feed does not exist.
func (s *Feeds) Refresh(ctx context.Context, in wire.ByID) (wire.None, error) {
	if _, err := s.stored(ctx, in.ID); err != nil {
		return wire.None{}, err
	}
	return wire.None{}, publishObservations(ctx, s.Mesh, observation(in.ID, "", subjects.Refresh))
}

// Move requests that the schedule moves a feed to another address, with its items, their marks and the feed's settings.
// A feed at that address is merged with it. It returns [storage.ErrNotFound] if the feed does not exist.
func (s *Feeds) Move(ctx context.Context, in wire.MoveFeedRequest) (wire.MovedFeed, error) {
	f, err := s.stored(ctx, in.ID)
	if err != nil {
		return wire.MovedFeed{}, err
	}
	to, err := storage.CanonicalURL(in.Body.URL)
	if err == nil && to == f.URL {
		err = errors.New("the feed has this address already")
	}
	if err != nil {
		return wire.MovedFeed{}, &Error{KindInvalid, "the feed cannot be moved", []FieldError{fieldf("body.url", "%v", err)}}
	}
	return wire.MovedFeed{ID: storage.FeedID(to), URL: to}, publishObservations(ctx, s.Mesh, observation(f.ID, to, subjects.Move))
}

// Host returns the record of the requests to a host. It is as old as the schedule's last write, some seconds. It returns
// [storage.ErrNotFound] if the host has none.
func (s *Feeds) Host(ctx context.Context, in wire.HostName) (wire.Host, error) {
	h, err := s.Mesh.Host(ctx, strings.ToLower(in.Host))
	if err == nil && h == nil {
		err = fmt.Errorf("host %s: %w", in.Host, storage.ErrNotFound)
	}
	if err != nil {
		return wire.Host{}, err
	}
	view := wire.Host{
		Name: h.Name, Polls: h.Polls, Failures: h.Failures, Seconds: h.Latency, Status: h.Status, Class: h.Class, Last: h.LastRequest,
		Spacing: int64(math.Ceil(h.Spacing.Seconds())), Reason: h.Reason, Proxy: h.ProxyID,
	}
	if h.PausedUntil.After(s.Now()) {
		view.Paused = h.PausedUntil
	}
	return view, nil
}

// Export returns all feeds as OPML.
func (s *Feeds) Export(ctx context.Context, _ wire.None) (wire.Document, error) {
	var feeds []opml.Feed
	err := storage.ForEachFeed(ctx, s.Store, func(f storage.Feed) error {
		feeds = append(feeds, opml.Feed{URL: f.URL, Title: f.Title, Site: f.Site, Tags: f.Tags})
		return nil
	})
	if err != nil {
		return wire.Document{}, err
	}
	var file bytes.Buffer
	err = opml.Write(&file, "feedmesh", feeds)
	return wire.Document{Type: wire.ExportFeeds.Type + "; charset=utf-8", Data: file.Bytes()}, err
}

// feedProblem returns the problem of a feed, nil if its last poll succeeded.
func feedProblem(s *subjects.State) *wire.FeedProblem {
	switch {
	case s.Outcome == subjects.Gone:
		return &wire.FeedProblem{
			Summary: "The server reports that the feed is permanently gone.", Class: s.Class, Moved: true,
			Advice: "It is no longer polled. Find its new address on the site, or remove it.",
		}
	case s.Failures == 0:
		return nil
	}
	return &wire.FeedProblem{
		Summary: DescribeClass(s.Class, s.Status), Advice: remedies[s.Class].advice, Class: s.Class, Moved: slices.Contains(movedClasses, s.Class),
	}
}

// movedClasses are the classes of errors of feeds that are probably at another address.
var movedClasses = []string{
	string(fetch.ClassAddress), string(fetch.ClassDNS), string(fetch.ClassTLS), string(fetch.ClassRedirect), string(fetch.ClassClient),
	string(feed.WebPage), string(feed.OtherJSON), string(feed.OtherXML), string(feed.Other),
}

// DescribeClass describes a class of errors, empty for none; status is the HTTP status or 0.
func DescribeClass(class string, status int) string {
	t, found := remedies[class]
	switch {
	case class == "":
		return ""
	case !found:
		return "Error: " + class + "."
	case statusDescriptions[status] != "":
		return fmt.Sprintf("%s (HTTP %d).", statusDescriptions[status], status)
	case status >= 300:
		return fmt.Sprintf("%s (HTTP %d).", t.summary, status)
	}
	return t.summary + "."
}

// DescribePoll describes a poll, and the polls before it of which only the number is stored.
func DescribePoll(p subjects.Poll) string {
	switch p.UnchangedBefore {
	case 0:
		return describeLastPoll(p)
	case 1:
		return describeLastPoll(p) + " The poll before it brought nothing new."
	}
	return fmt.Sprintf("%s The %d polls before it brought nothing new.", describeLastPoll(p), p.UnchangedBefore)
}

func describeLastPoll(p subjects.Poll) string {
	switch {
	case p.Class != "":
		return DescribeClass(p.Class, p.Status)
	case p.Status == http.StatusNotModified:
		return "Nothing new (HTTP 304)."
	case p.Status == 0:
		return "No answer."
	}
	return fmt.Sprintf("Document received (HTTP %d).", p.Status)
}

// statusDescriptions are more precise than the class for the most frequent statuses.
var statusDescriptions = map[int]string{
	401: "The server requires a user and a password",
	403: "The server denies access",
	404: "The address does not exist",
	429: "The server limits the rate of requests",
}

// A remedy describes an error, without the full stop, and the advice for it.
type remedy struct{ summary, advice string }

// retryAdvice is the advice for temporary errors.
const retryAdvice = "The error is usually temporary. The feed is retried, with increasing delays."

// remedies has a remedy for each class of fetch errors and each kind of parse errors.
var remedies = map[string]remedy{
	string(fetch.ClassBlocked):  {"The address is in a blocked network", "If it is in your own network, allow it with --allow-net, which must name ports of other services. Otherwise remove the feed."},
	string(fetch.ClassAddress):  {"The address is invalid", "Add the correct address and remove this feed."},
	string(fetch.ClassDNS):      {"The host name does not resolve", "The site may have moved or closed. If the error lasts for weeks, remove the feed."},
	string(fetch.ClassResolver): {"The DNS lookup failed", "Check the DNS of this machine if other feeds fail as well. " + retryAdvice},
	string(fetch.ClassProxy):    {"No configured proxy works", "Check the proxies, or choose another proxy in the settings of the feed."},
	string(fetch.ClassSecret):   {"Its password or that of its proxy can't be opened", "Restore the key file, or enter the password again in its settings."},
	string(fetch.ClassBotBlock): {"The server blocks automated requests", "Try another user agent or a proxy in its settings, or contact the site."},
	string(fetch.ClassLogin):    {"The server requires a login", "Set a user and a password in its settings."},
	string(fetch.ClassConnect):  {"The connection failed", retryAdvice},
	string(fetch.ClassTLS):      {"The TLS certificate or handshake is invalid", "The site must fix this. If the address begins with http, the site may have dropped it: add it with https."},
	string(fetch.ClassTimeout):  {"The request timed out", retryAdvice},
	string(fetch.ClassReset):    {"The connection was reset", retryAdvice},
	string(fetch.ClassRedirect): {"It redirects too often, or to an invalid address", "Open the address in a browser and add the final address."},
	string(fetch.ClassClient):   {"The server rejects the request", "Find the new address of the feed on its site. If access is denied, try a password, another user agent or a proxy. Rate limits are respected automatically."},
	string(fetch.ClassServer):   {"The server failed", retryAdvice},
	string(fetch.ClassStatus):   {"The server returned an unexpected status", retryAdvice},
	string(fetch.ClassTooLarge): {"The document is too large", "Raise --crawl-max-body to read it."},
	string(fetch.ClassEncoding): {"The document does not match its Content-Encoding", retryAdvice},

	string(feed.Empty):     {"The document is empty", retryAdvice},
	string(feed.WebPage):   {"The document is a web page, not a feed", "Look for the site's feeds with its address; the feed may have moved."},
	string(feed.Challenge): {"The document is a login or a bot check, not a feed", "Try another user agent, a password or a proxy in its settings."},
	string(feed.OtherJSON): {"The document is JSON, but not a feed", "Look for the site's feeds with its address."},
	string(feed.OtherXML):  {"The document is XML, but not a feed", "If it is a list of feeds, import it. Otherwise look for the site's feeds with its address."},
	string(feed.Other):     {"The document is not a feed", "Look for the site's feeds with its address."},
	string(feed.Broken):    {"The feed is malformed and can't be read", "The site must fix it. " + retryAdvice},
	string(feed.TooDeep):   {"The document is nested too deeply", "Report it to the site; the limit protects the parser."},
}

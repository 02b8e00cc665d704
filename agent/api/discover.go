package api

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"feedmesh/agent/discover"
	"feedmesh/agent/feed"
	"feedmesh/agent/fetch"
	"feedmesh/storage"
)

// What an address turned out to be.
const (
	AFeed       = "feed"
	APage       = "page"        // of which the feeds were looked for
	Unreachable = "unreachable" // see Problem
)

// A Discovery is what was found at an address.
type Discovery struct {
	URL     string      `json:"url"`
	Kind    string      `json:"kind" enum:"feed,page,unreachable"`
	Feeds   []Candidate `json:"feeds" doc:"The feed itself, or those of the page, likeliest first."`
	Problem string      `json:"problem,omitempty" doc:"Why there is none, in words."`
}

// A Candidate is a feed of a page.
type Candidate struct {
	URL     string    `json:"url"`
	FeedID  string    `json:"feed_id"`
	Known   bool      `json:"known" doc:"Whether it is in the store."`
	Title   string    `json:"title,omitempty"`
	Format  string    `json:"format,omitempty" doc:"RSS, Atom, RDF or JSON Feed; absent if it was not read."`
	Entries int       `json:"entries" doc:"How many it lists."`
	Newest  time.Time `json:"newest,omitzero" doc:"When the newest of them was published."`
	Problem string    `json:"problem,omitempty" doc:"Why it was not read, though it is a feed, or its page says so."`
}

// Bounds of looking for feeds.
const (
	maxLooks  = 8                // candidates fetched
	maxLooked = 16 << 20         // bytes of each
	lookTime  = 25 * time.Second // for all of it
)

func (s *Server) discoverRoutes(api huma.API) {
	find := op("POST", "/api/feeds/discover", "discover-feeds", "Look at an address: is it a feed, or a page that has some?", 400, 422, 503)
	find.Description = "Fetches the address and at most eight candidates, and adds nothing."
	huma.Register(api, find, func(ctx context.Context, in *body[struct {
		URL string `json:"url" minLength:"1" maxLength:"4096"`
	}]) (*body[Discovery], error) {
		found, err := s.Discover(ctx, in.Body.URL)
		if err != nil {
			return nil, s.problem(err)
		}
		return &body[Discovery]{Body: found}, nil
	})
}

// Discover looks at an address: whether it is that of a feed, or of a page that
// has some. Its error is the store's.
func (s *Server) Discover(ctx context.Context, address string) (Discovery, error) {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	canonical, err := storage.CanonicalURL(address)
	if err != nil {
		return Discovery{URL: address, Kind: Unreachable, Feeds: []Candidate{}, Problem: err.Error()}, nil
	}
	found := Discovery{URL: canonical, Kind: APage, Feeds: []Candidate{}}
	first, page, err := s.look(ctx, canonical)
	var unread *feed.Error
	switch {
	case err == nil:
		found.Kind, found.Feeds = AFeed, []Candidate{first}
	case errors.As(err, &unread) && isDamaged(unread):
		first.Problem = err.Error()
		found.Kind, found.Feeds = AFeed, []Candidate{first}
	case errors.As(err, &unread):
		found.Feeds = s.lookAround(ctx, page)
		if len(found.Feeds) == 0 {
			found.Problem = fmt.Sprintf("no feed was found: %v; it names none, and there is none where feeds usually are", unread)
		}
	default:
		found.Kind, found.Problem = Unreachable, err.Error()
	}
	for i := range found.Feeds {
		c := &found.Feeds[i]
		c.FeedID = storage.FeedID(c.URL)
		_, err := s.Store.Feed(ctx, c.FeedID)
		if err != nil && !errors.Is(err, storage.ErrNotFound) {
			return Discovery{}, err
		}
		c.Known = err == nil
	}
	return found, nil
}

// isDamaged reports whether what can't be read is a feed all the same.
func isDamaged(e *feed.Error) bool {
	return e.Kind == feed.Broken || e.Kind == feed.TooDeep || e.Kind == feed.TooLarge
}

// A fetched is a document that was fetched and unpacked.
type fetched struct {
	url, contentType string
	body             []byte
}

// look fetches what may be a feed and reads it. The error is a [*feed.Error] if
// it is none.
func (s *Server) look(ctx context.Context, address string) (Candidate, fetched, error) {
	c := Candidate{URL: address}
	d, err := s.Fetch.Fetch(ctx, fetch.Request{URL: address}, s.Now())
	if err != nil {
		return c, fetched{}, err
	}
	doc := fetched{url: d.URL, contentType: d.ContentType}
	if doc.body, err = fetch.Unpack(d.Body, maxLooked); err != nil {
		return c, doc, err
	}
	read, err := feed.Parse(doc.body, doc.contentType, doc.url)
	if err != nil {
		return c, doc, err
	}
	c.Title, c.Format, c.Entries = read.Title, discover.Format(doc.body), len(read.Entries)
	for _, e := range read.Entries {
		if e.Published.After(c.Newest) {
			c.Newest = e.Published
		}
	}
	return c, doc, nil
}

// lookAround returns the feeds of a page: those it leads to, or, if these are
// none, those where feeds usually are. What only may be a feed must prove to be
// one; what the page names as its feed is told of even if it can't be read.
func (s *Server) lookAround(ctx context.Context, page fetched) []Candidate {
	feeds := []Candidate{}
	looks, seen := 0, map[string]bool{} // seen: what answered, by the address it came from
	try := func(address, title string, named bool) {
		address, err := storage.CanonicalURL(address)
		if err != nil || seen[address] || !named && looks >= maxLooks {
			return
		}
		seen[address] = true
		c := Candidate{URL: address, Problem: "it was not looked at: there are too many"}
		if looks++; looks <= maxLooks {
			read, doc, err := s.look(ctx, address)
			if err == nil && doc.url != address && seen[doc.url] {
				return
			}
			c, seen[doc.url] = read, true
			if err != nil {
				c.Problem = err.Error()
			}
		}
		if c.Title == "" {
			c.Title = title
		}
		if c.Problem == "" || named {
			feeds = append(feeds, c)
		}
	}
	for _, c := range discover.Feeds(page.body, page.contentType, page.url) {
		try(c.URL, c.Title, c.Found == discover.Linked)
	}
	if len(feeds) == 0 {
		for _, address := range discover.WellKnown(page.url) {
			if try(address, "", false); len(feeds) > 0 {
				break
			}
		}
	}
	return feeds
}

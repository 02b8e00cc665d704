package api

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"feedmesh/agent/access"
	"feedmesh/agent/discover"
	"feedmesh/agent/feed"
	"feedmesh/agent/fetch"
	"feedmesh/storage"
)

// A FetchTest is what came of fetching a feed as a crawl would. Nothing of it was
// kept.
type FetchTest struct {
	URL     string        `json:"url"`
	Hops    []FetchHop    `json:"hops" doc:"Each request and its answer: the last is that of the document, those before it redirected."`
	Proxy   string        `json:"proxy,omitempty" doc:"ID of the proxy it went by."`
	Took    int64         `json:"took_ms" doc:"For all of it."`
	Size    int64         `json:"size" doc:"Bytes of the document, unpacked."`
	Problem *Trouble      `json:"problem,omitempty" doc:"Why there is no feed, if there is none."`
	Error   string        `json:"error,omitempty" doc:"That in the words of who found it."`
	Title   string        `json:"title,omitempty"`
	Format  string        `json:"format,omitempty" doc:"RSS, Atom, RDF or JSON Feed."`
	Entries int           `json:"entries" doc:"How many it lists."`
	First   []TestedEntry `json:"first" doc:"The first of them, at most ten."`
	Mended  string        `json:"mended,omitempty" doc:"What was wrong with the document and could be mended."`
}

// A FetchHop is one request of a test, with its answer.
type FetchHop struct {
	URL      string        `json:"url"`
	Sent     []FetchHeader `json:"sent" doc:"By name; what is secret says so."`
	Status   int           `json:"status"`
	Received []FetchHeader `json:"received" doc:"By name, likewise."`
	After    int64         `json:"after_ms" doc:"When the answer began, from the start of the test."`
}

// A FetchHeader is one line of a header.
type FetchHeader struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// A TestedEntry is what a feed says, before anything was done about it.
type TestedEntry struct {
	Title     string    `json:"title,omitempty"`
	Link      string    `json:"link,omitempty"`
	Published time.Time `json:"published,omitzero"`
}

// Bounds of a test.
const (
	testedEntries = 10
	testedHeaders = 64  // lines of each header told
	testedValue   = 500 // bytes of a line told
	maxTests      = 8   // at once in a process
)

// ErrTooMuch says that a client asks for more at once than is done for one.
var ErrTooMuch = errors.New("too much at once")

// underway knows which clients have a test under way. The zero value knows none.
type underway struct {
	mu      sync.Mutex
	clients map[string]bool
}

// begin lets a client test; it must call what it gets when it is done.
func (t *underway) begin(client string) (end func(), err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.clients[client] || len(t.clients) >= maxTests {
		return nil, fmt.Errorf("a test is under way already, try again when it has ended: %w", ErrTooMuch)
	}
	if t.clients == nil {
		t.clients = map[string]bool{}
	}
	t.clients[client] = true
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.clients, client)
	}, nil
}

func (s *Server) testRoutes(api huma.API) {
	test := op("POST", "/api/feeds/test-fetch", "test-fetch", "Fetch a feed as a crawl would, and tell all about it", 400, 404, 422, 429, 503)
	test.Description = "Changes nothing, and asks for the document whole. One test at a time for each client."
	huma.Register(api, test, func(ctx context.Context, in *body[struct {
		Feed string `json:"feed,omitempty" maxLength:"64" doc:"ID of a feed, which is asked for as its settings say."`
		URL  string `json:"url,omitempty" maxLength:"4096" doc:"An address, in place of a feed."`
	}]) (*body[FetchTest], error) {
		if (in.Body.Feed == "") == (in.Body.URL == "") {
			return nil, huma.Error422UnprocessableEntity("give a feed's ID or an address, one of them")
		}
		told, err := s.TestFetch(ctx, in.Body.Feed, in.Body.URL)
		if err != nil {
			return nil, s.problem(err)
		}
		return &body[FetchTest]{Body: told}, nil
	})
}

// TestFetch fetches a feed by its ID, or an address if that is empty. What goes
// wrong with the fetch is no error; [storage.ErrNotFound] is one.
func (s *Server) TestFetch(ctx context.Context, feedID, address string) (FetchTest, error) {
	end, err := s.tests.begin(access.From(ctx).ID)
	if err != nil {
		return FetchTest{}, err
	}
	defer end()
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	request, proxy, err := s.requestFor(ctx, feedID, address)
	if err != nil {
		return FetchTest{}, err
	}
	told := FetchTest{URL: request.URL, Proxy: proxy, Hops: []FetchHop{}, First: []TestedEntry{}}
	began := time.Now()
	request.Answered = func(r *http.Response) {
		told.Hops = append(told.Hops, hopOf(r, request, time.Since(began)))
	}
	if request.URL, err = storage.CanonicalURL(request.URL); err == nil {
		told.URL = request.URL
		err = s.tryFetch(ctx, request, &told)
	}
	told.Took = time.Since(began).Milliseconds()
	if err != nil {
		told.Error, told.Problem = err.Error(), troubleWith(err)
	}
	return told, nil
}

// requestFor returns how a feed, or an address, is to be asked for, and the ID of
// the proxy that a person wants it to go by. What the schedule found out about
// other ways to a host is left alone.
func (s *Server) requestFor(ctx context.Context, feedID, address string) (r fetch.Request, proxy string, err error) {
	if feedID == "" {
		return fetch.Request{URL: address}, "", nil
	}
	f, err := s.Store.Feed(ctx, feedID)
	if err != nil {
		return r, "", fmt.Errorf("feed %s: %w", feedID, err)
	}
	r.URL = f.URL
	w := f.Request
	if w == nil {
		return r, "", nil
	}
	r.UserAgent, r.Header, r.User, r.Password = w.UserAgent, w.Header, w.User, w.Password
	if w.Proxy == "" || w.Proxy == direct {
		return r, "", nil
	}
	proxies, err := s.Store.Proxies(ctx)
	if err != nil {
		return r, "", err
	}
	for _, p := range proxies {
		if p.ID == w.Proxy {
			r.Ways = []string{p.URL}
			return r, p.ID, nil
		}
	}
	return r, "", nil
}

// tryFetch fetches a document and reads it.
func (s *Server) tryFetch(ctx context.Context, r fetch.Request, told *FetchTest) error {
	d, err := s.Fetch.Fetch(ctx, r, s.Now())
	if err != nil {
		return err
	}
	told.Size = d.Size
	unpacked, err := fetch.Unpack(d.Body, maxLooked)
	if err != nil {
		return err
	}
	read, err := feed.Parse(unpacked, d.ContentType, d.URL)
	if err != nil {
		return err
	}
	told.Title, told.Format, told.Entries, told.Mended = read.Title, discover.Format(unpacked), len(read.Entries), read.Malformed
	for _, e := range read.Entries[:min(len(read.Entries), testedEntries)] {
		told.First = append(told.First, TestedEntry{e.Title, e.Link, e.Published})
	}
	return nil
}

// troubleWith says what an error of a fetch, or of reading a document, means.
func troubleWith(err error) *Trouble {
	class, status := "", 0
	var fetching *fetch.Error
	var reading *feed.Error
	switch {
	case errors.As(err, &fetching):
		class, status = string(fetching.Class), fetching.Status
	case errors.As(err, &reading):
		class = string(reading.Kind)
	default:
		class = string(fetch.ClassAddress)
	}
	return &Trouble{What: whatClass(class, status), Do: troubles[class].do, Class: class}
}

// hopOf tells of an answer and the request it is to.
func hopOf(r *http.Response, asked fetch.Request, after time.Duration) FetchHop {
	secret := func(name string) bool {
		name = textproto.CanonicalMIMEHeaderKey(name)
		own := func(set string) bool { return textproto.CanonicalMIMEHeaderKey(set) == name }
		return slices.Contains(secretHeaders, name) || slices.ContainsFunc(slices.Collect(maps.Keys(asked.Header)), own)
	}
	return FetchHop{
		URL: withoutUser(r.Request.URL), Status: r.StatusCode, After: after.Milliseconds(),
		Sent: linesOf(r.Request.Header, secret), Received: linesOf(r.Header, secret),
	}
}

// secretHeaders may let whoever reads them in.
var secretHeaders = []string{"Authorization", "Proxy-Authorization", "Cookie", "Set-Cookie"}

func withoutUser(u *url.URL) string {
	bare := *u
	bare.User = nil
	return bare.String()
}

// linesOf returns the lines of a header by name, what is secret as isSet.
func linesOf(h http.Header, secret func(name string) bool) []FetchHeader {
	lines := []FetchHeader{}
	for _, name := range slices.Sorted(maps.Keys(h)) {
		for _, value := range h[name] {
			if secret(name) {
				value = isSet
			} else if len(value) > testedValue {
				value = value[:testedValue] + "..."
			}
			if len(lines) < testedHeaders {
				lines = append(lines, FetchHeader{name, strings.ToValidUTF8(value, "\uFFFD")})
			}
		}
	}
	return lines
}

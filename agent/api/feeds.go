package api

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"
	"github.com/nats-io/nuid"

	"feedmesh/agent/opml"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// maxImport is the largest list of feeds accepted, in bytes.
const maxImport = 64 << 20

const opmlType = "text/x-opml+xml"

// A Feed is a feed with what the schedule knows of it.
type Feed struct {
	storage.Feed
	State *subjects.State `json:"state,omitempty" doc:"What the schedule knows of it; absent until it does."`
}

// A FeedPage is a page of feeds, ordered by URL.
type FeedPage struct {
	Feeds []Feed `json:"feeds"`
	Next  string `json:"next,omitempty" doc:"Cursor of the next page; absent on the last."`
}

// Intakes says what became of the addresses of a list.
type Intakes struct {
	Added   int      `json:"added"`
	Known   int      `json:"known"`
	Invalid int      `json:"invalid"`
	Feeds   []Intake `json:"feeds" doc:"One for each address, in order."`
}

type body[T any] struct{ Body T }

type byID struct {
	ID string `path:"id" maxLength:"64"`
}

func (s *Server) feedRoutes(api huma.API) {
	huma.Register(api, op("GET", "/api/feeds", "list-feeds", "Feeds, ordered by URL", 503), s.listFeeds)
	huma.Register(api, op("POST", "/api/feeds", "add-feeds", "Add feeds by their addresses", 400, 413, 422, 503), s.addFeeds)
	huma.Register(api, op("POST", "/api/feeds/import", "import-feeds", "Add the feeds of a list: OPML, or an address a line", 400, 413, 422, 503), s.importFeeds)
	export := op("GET", "/api/feeds/export", "export-feeds", "All feeds as OPML", 503)
	export.Responses = map[string]*huma.Response{"200": {Content: map[string]*huma.MediaType{
		opmlType: {Schema: &huma.Schema{Type: huma.TypeString}},
	}}}
	huma.Register(api, export, s.exportFeeds)
	huma.Register(api, op("GET", "/api/feeds/{id}", "get-feed", "One feed", 404, 503), s.getFeed)
	remove := op("DELETE", "/api/feeds/{id}", "remove-feed", "Remove a feed and its items", 404, 503)
	remove.DefaultStatus = http.StatusNoContent
	huma.Register(api, remove, s.removeFeed)
	refresh := op("POST", "/api/feeds/{id}/refresh", "refresh-feed", "Poll a feed now, and read its document whole", 404, 503)
	refresh.DefaultStatus = http.StatusAccepted
	huma.Register(api, refresh, s.refreshFeed)
}

func (s *Server) listFeeds(ctx context.Context, in *struct {
	After string `query:"after" maxLength:"2048" doc:"Next of the page before."`
	Limit int    `query:"limit" minimum:"1" maximum:"500" default:"50"`
}) (*body[FeedPage], error) {
	feeds, err := s.Store.ListFeeds(ctx, in.After, in.Limit+1) // one more tells whether there are more
	if err != nil {
		return nil, s.problem(err)
	}
	out := &body[FeedPage]{}
	if len(feeds) > in.Limit {
		feeds = feeds[:in.Limit]
		out.Body.Next = feeds[len(feeds)-1].URL
	}
	out.Body.Feeds = make([]Feed, len(feeds))
	for i, f := range feeds {
		state, err := s.Mesh.State(ctx, f.ID)
		if err != nil {
			return nil, s.problem(err)
		}
		out.Body.Feeds[i] = Feed{Feed: f, State: state}
	}
	return out, nil
}

func (s *Server) getFeed(ctx context.Context, in *byID) (*body[Feed], error) {
	feed, err := s.Store.Feed(ctx, in.ID)
	if err != nil {
		return nil, s.problem(fmt.Errorf("feed %s: %w", in.ID, err))
	}
	state, err := s.Mesh.State(ctx, in.ID)
	if err != nil {
		return nil, s.problem(err)
	}
	return &body[Feed]{Body: Feed{Feed: feed, State: state}}, nil
}

func (s *Server) addFeeds(ctx context.Context, in *body[struct {
	URLs []string `json:"urls" minItems:"1" maxItems:"10000"`
	Tags []string `json:"tags,omitempty" maxItems:"32"`
}]) (*body[Intakes], error) {
	feeds := make([]opml.Feed, len(in.Body.URLs))
	for i, url := range in.Body.URLs {
		feeds[i] = opml.Feed{URL: url, Tags: in.Body.Tags}
	}
	return s.takeIn(ctx, feeds)
}

func (s *Server) importFeeds(ctx context.Context, in *struct {
	RawBody []byte `contentType:"application/xml"`
}) (*body[Intakes], error) {
	feeds, err := opml.Read(bytes.NewReader(in.RawBody))
	if err != nil {
		return nil, huma.Error422UnprocessableEntity(err.Error())
	}
	return s.takeIn(ctx, feeds)
}

func (s *Server) takeIn(ctx context.Context, feeds []opml.Feed) (*body[Intakes], error) {
	results, err := TakeIn(ctx, s.Store, s.Mesh, feeds, s.Now())
	if err != nil {
		return nil, s.problem(err)
	}
	out := &body[Intakes]{Body: Intakes{Feeds: results}}
	for _, r := range results {
		switch r.Outcome {
		case Added:
			out.Body.Added++
		case Known:
			out.Body.Known++
		default:
			out.Body.Invalid++
		}
	}
	return out, nil
}

func (s *Server) exportFeeds(ctx context.Context, _ *struct{}) (*struct {
	ContentType string `header:"Content-Type"`
	Body        []byte
}, error) {
	var feeds []opml.Feed
	for after := ""; ; {
		page, err := s.Store.ListFeeds(ctx, after, 1000)
		if err != nil {
			return nil, s.problem(err)
		}
		if len(page) == 0 {
			break
		}
		for _, f := range page {
			feeds = append(feeds, opml.Feed{URL: f.URL, Title: f.Title, Site: f.Site, Tags: f.Tags})
		}
		after = page[len(page)-1].URL
	}
	var file bytes.Buffer
	if err := opml.Write(&file, "feedmesh", feeds); err != nil {
		return nil, s.problem(err)
	}
	return &struct {
		ContentType string `header:"Content-Type"`
		Body        []byte
	}{opmlType + "; charset=utf-8", file.Bytes()}, nil
}

// removeFeed forgets the feed in the store first; the schedule and the index
// follow, and would also find out by themselves.
func (s *Server) removeFeed(ctx context.Context, in *byID) (*struct{}, error) {
	items, err := s.Store.RemoveFeed(ctx, in.ID)
	if err != nil {
		return nil, s.problem(fmt.Errorf("feed %s: %w", in.ID, err))
	}
	why := "feed " + in.ID + " removed " + nuid.Next()
	for chunk := range slices.Chunk(items, intakeSize) {
		if err := subjects.Publish(ctx, s.Mesh, subjects.Indexes, subjects.Index{Why: why, IDs: chunk}); err != nil {
			return nil, s.problem(err)
		}
	}
	if err := tell(ctx, s.Mesh, observation(in.ID, "", subjects.Removed)); err != nil {
		return nil, s.problem(err)
	}
	return nil, nil
}

func (s *Server) refreshFeed(ctx context.Context, in *byID) (*struct{}, error) {
	if _, err := s.Store.Feed(ctx, in.ID); err != nil {
		return nil, s.problem(fmt.Errorf("feed %s: %w", in.ID, err))
	}
	if err := tell(ctx, s.Mesh, observation(in.ID, "", subjects.Refresh)); err != nil {
		return nil, s.problem(err)
	}
	return nil, nil
}

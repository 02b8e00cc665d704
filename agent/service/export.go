package service

import (
	"bytes"
	"context"

	"github.com/danielgtaylor/huma/v2"

	"feedmesh/agent/opml"
	"feedmesh/storage"
)

const opmlType = "text/x-opml+xml"

func (s *Server) exportRoutes(api huma.API) {
	export := op("GET", "/api/feeds/export", "export-feeds", "All feeds as OPML", 503)
	export.Responses = map[string]*huma.Response{"200": {Content: map[string]*huma.MediaType{
		opmlType: {Schema: &huma.Schema{Type: huma.TypeString}},
	}}}
	huma.Register(api, export, s.exportFeeds)
}

func (s *Server) exportFeeds(ctx context.Context, _ *struct{}) (*struct {
	ContentType string `header:"Content-Type"`
	Body        []byte
}, error) {
	var feeds []opml.Feed
	err := storage.ForEachFeed(ctx, s.Store, func(f storage.Feed) error {
		feeds = append(feeds, opml.Feed{URL: f.URL, Title: f.Title, Site: f.Site, Tags: f.Tags})
		return nil
	})
	if err != nil {
		return nil, s.problem(err)
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

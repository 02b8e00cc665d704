package mcp

import (
	"context"
	"errors"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"feedmesh/agent/access"
	"feedmesh/storage"
)

// addResources adds items, stories and views as resources, which clients attach to a conversation.
func (s *server) addResources() {
	addResource(s, "item", "An item with the beginning of its text", itemURI, "{id}", func(ctx context.Context, id string) (answer, error) {
		return s.readItem(ctx, readItemInput{ID: id, Length: 20_000})
	})
	addResource(s, "story", "A story with its newest items", storyURI, "{id}", func(ctx context.Context, id string) (answer, error) {
		return s.readStory(ctx, readStoryInput{ID: id, Limit: 50})
	})
	addResource(s, "view", "The first items of a view", viewURI, "{name}", func(ctx context.Context, name string) (answer, error) {
		return s.readView(ctx, readViewInput{Name: name, Limit: 20})
	})
}

// addResource adds the template of resources whose URIs begin with prefix.
func addResource(s *server, name, description, prefix, parameter string, read func(ctx context.Context, id string) (answer, error)) {
	const kind = "text/plain"
	template := &sdk.ResourceTemplate{Name: name, Description: description, MIMEType: kind, URITemplate: prefix + parameter}
	s.sdk.AddResourceTemplate(template, func(ctx context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		id := strings.TrimPrefix(r.Params.URI, prefix)
		if len(id) > 64 || !access.From(ctx).May(access.Search) {
			return nil, sdk.ResourceNotFoundError(r.Params.URI)
		}
		a, err := read(ctx, id)
		switch {
		case errors.Is(err, storage.ErrNotFound):
			return nil, sdk.ResourceNotFoundError(r.Params.URI)
		case err != nil:
			return nil, forModel(err, s.Log)
		}
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: r.Params.URI, MIMEType: kind, Text: textOf(a)}}}, nil
	})
}

package meilisearch

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	upstream "github.com/meilisearch/meilisearch-go"
)

// A connection sends the requests of an index to its server.
type connection struct {
	url          string // for messages
	address, key string
	name         string // of the index
	embedder     Embedder
	embedders    embedderCache
	server       upstream.ServiceManager
	index        upstream.IndexManager
	http         *http.Client
	log          *slog.Logger
}

// newConnection returns the connection to the server of the options. It sends no request.
func newConnection(options Options) (*connection, error) {
	address, err := url.Parse(options.URL)
	if err != nil || address.Scheme != "http" && address.Scheme != "https" || address.Host == "" {
		return nil, errors.New("open the search index: the address of Meilisearch must be like http://host:7700")
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DialContext = (&net.Dialer{Timeout: 5 * time.Second}).DialContext
	transport.IdleConnTimeout = 3 * time.Second // below Meilisearch's 5 s, to avoid writes to a connection that it closes
	transport.DisableCompression = true         // it sends compressed responses in parts, the last of them 40 ms late
	client := &http.Client{Transport: transport, Timeout: 2 * time.Minute}
	c := &connection{
		url: address.Redacted(), address: strings.TrimSuffix(options.URL, "/"), key: options.Key, name: options.name, embedder: options.Embedder,
		http: client, log: options.Log,
	}
	if c.name == "" {
		c.name = IndexName
	}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	c.server = upstream.New(c.address, upstream.WithAPIKey(c.key), upstream.WithCustomClient(client), upstream.DisableRetries())
	c.index = c.server.Index(c.name)
	return c, nil
}

// stats returns the statistics of the index, zero if it is missing.
func (c *connection) stats(ctx context.Context) (*upstream.StatsIndex, error) {
	stats, err := c.index.GetStatsWithContext(ctx, nil)
	if isMissing(err) {
		return &upstream.StatsIndex{}, nil
	}
	return stats, err
}

// isEmpty reports whether the index is empty. Then Meilisearch rejects attributes as not searchable.
func (c *connection) isEmpty(ctx context.Context) bool {
	stats, err := c.stats(ctx)
	return err == nil && stats.NumberOfDocuments == 0
}

// find returns the results of each request, or nil if the index is empty.
func (c *connection) find(ctx context.Context, requests ...*upstream.SearchRequest) ([]upstream.SearchResponse, error) {
	found, err := c.multiSearch(ctx, &upstream.MultiSearchRequest{Queries: requests})
	if err != nil || found == nil {
		return nil, err
	}
	return found.Results, nil
}

// multiSearch sends a batch of searches and returns the results, or nil if the index is empty.
func (c *connection) multiSearch(ctx context.Context, r *upstream.MultiSearchRequest) (*upstream.MultiSearchResponse, error) {
	found, err := c.server.MultiSearchWithContext(ctx, r)
	if isMissing(err) || hasCode(err, "invalid_search_attributes_to_search_on") && c.isEmpty(ctx) {
		return nil, nil
	}
	return found, err
}

// fetch returns the requested documents, or none if the index is missing.
func (c *connection) fetch(ctx context.Context, query *upstream.DocumentsQuery) (*upstream.DocumentsResult, error) {
	found := new(upstream.DocumentsResult)
	if err := c.index.GetDocumentsWithContext(ctx, query, found); err != nil && !isMissing(err) {
		return nil, err
	}
	return found, nil
}

// documents returns the attributes of the documents with the given keys.
func (c *connection) documents(ctx context.Context, keys []string, attributes ...attribute) ([]document, error) {
	found, err := c.fetch(ctx, &upstream.DocumentsQuery{
		Ids: keys, Limit: int64(len(keys)), Fields: names(append([]attribute{attrID}, attributes...)...),
	})
	if err != nil {
		return nil, err
	}
	var docs []document
	err = found.Results.DecodeInto(&docs)
	return docs, err
}

// Close implements [storage.Index]. The server finishes tasks that it already has.
func (c *connection) Close() error {
	c.http.CloseIdleConnections()
	return nil
}

// IndexName is the name ("uid") of the index in Meilisearch.
const IndexName = "items"

// Options are the address and key of the server.
type Options struct {
	URL string // such as "http://host:7700"
	Key string // master key, or a key with all rights on the index; may be empty
	Log *slog.Logger

	Embedder Embedder // is applied to the index; nil: the index keeps the one that it has

	name string // of the index; differs from IndexName in tests only
}

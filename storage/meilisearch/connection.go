package meilisearch

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	upstream "github.com/meilisearch/meilisearch-go"
	"golang.org/x/sync/errgroup"
)

// A connection sends the requests of an index to its server.
type connection struct {
	url          string // for messages
	address, key string
	name         string // of the index, and of its first part
	known        partsCache
	partSize     int64
	embedder     Embedder
	embedders    embedderCache
	server       upstream.ServiceManager
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
		http: client, log: options.Log, partSize: cmp.Or(options.partSize, PartSize),
	}
	if c.name == "" {
		c.name = IndexName
	}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	c.server = upstream.New(c.address, upstream.WithAPIKey(c.key), upstream.WithCustomClient(client), upstream.DisableRetries())
	return c, nil
}

// An answer is what all searched parts answer to a request.
type answer struct {
	hits   []hit // in the order of one part after the other
	total  int64
	facets map[string]map[string]int64 // by attribute and value
}

// findIn returns the answer to each request from parts with documents, or nil if there are none.
func (c *connection) findIn(ctx context.Context, in parts, requests ...*upstream.SearchRequest) ([]answer, error) {
	found, err := inShares(ctx, in, func(ctx context.Context, share parts) ([]answer, error) {
		return c.findInShare(ctx, share, requests)
	})
	if err != nil {
		return nil, err
	}
	var all []answer
	for _, answers := range found {
		if all == nil {
			all = answers
			continue
		}
		for i, a := range answers {
			all[i].hits, all[i].total = append(all[i].hits, a.hits...), all[i].total+a.total
			addFacets(&all[i].facets, a.facets)
		}
	}
	return all, nil
}

// searchesAtOnce bounds the requests at the same time of a search of several parts: Meilisearch runs the searches of a request one after
// the other, and those of several requests on as many cores as it has.
const searchesAtOnce = 4

// inShares calls search with shares of the parts, at the same time, and returns what it returns for each.
func inShares[T any](ctx context.Context, in parts, search func(context.Context, parts) (T, error)) ([]T, error) {
	shares := make([]parts, min(len(in), searchesAtOnce))
	for i, p := range in {
		shares[i%len(shares)] = append(shares[i%len(shares)], p)
	}
	found := make([]T, len(shares))
	group, ctx := errgroup.WithContext(ctx)
	for i, share := range shares {
		group.Go(func() (err error) {
			found[i], err = search(ctx, share)
			return err
		})
	}
	return found, group.Wait()
}

// findInShare is findIn with one request to the server.
func (c *connection) findInShare(ctx context.Context, in parts, requests []*upstream.SearchRequest) ([]answer, error) {
	found, in, err := c.multiSearch(ctx, in, func(in parts) *upstream.MultiSearchRequest {
		return &upstream.MultiSearchRequest{Queries: in.requests(requests)}
	})
	if err != nil || found == nil {
		return nil, err
	}
	answers := make([]answer, len(requests))
	for i, r := range found.Results {
		if err := answers[i/len(in)].add(in[i%len(in)], r); err != nil {
			return nil, err
		}
	}
	return answers, nil
}

// requests returns each request once for each part.
func (all parts) requests(requests []*upstream.SearchRequest) []*upstream.SearchRequest {
	each := make([]*upstream.SearchRequest, 0, len(requests)*len(all))
	for _, r := range requests {
		for _, p := range all {
			one := *r
			one.IndexUID = p.name
			each = append(each, &one)
		}
	}
	return each
}

// add adds the answer of a part.
func (a *answer) add(from part, r upstream.SearchResponse) error {
	var hits []hit
	if err := r.Hits.DecodeInto(&hits); err != nil {
		return err
	}
	for i := range hits {
		hits[i].part, hits[i].rank = from.name, hits[i].Score
	}
	a.hits = append(a.hits, hits...)
	a.total += r.TotalHits + r.EstimatedTotalHits // it has one of them
	if len(r.FacetDistribution) == 0 {
		return nil
	}
	var facets map[string]map[string]int64
	if err := json.Unmarshal(r.FacetDistribution, &facets); err != nil {
		return err
	}
	addFacets(&a.facets, facets)
	return nil
}

// addFacets adds counts of facet values.
func addFacets(to *map[string]map[string]int64, facets map[string]map[string]int64) {
	if *to == nil {
		*to = map[string]map[string]int64{}
	}
	for name, counts := range facets {
		if (*to)[name] == nil {
			(*to)[name] = counts
			continue
		}
		for value, n := range counts {
			(*to)[name][value] += n
		}
	}
}

// multiSearch sends the batch of searches that build returns for parts, and returns the results, or nil without parts. If some of them
// are not there any more, it searches the others.
func (c *connection) multiSearch(
	ctx context.Context, in parts, build func(parts) *upstream.MultiSearchRequest,
) (*upstream.MultiSearchResponse, parts, error) {
	for len(in) > 0 {
		found, err := c.server.MultiSearchWithContext(ctx, build(in))
		// Meilisearch rejects attributes as not searchable if an index is empty.
		if !isMissing(err) && !hasCode(err, "invalid_search_attributes_to_search_on") {
			return found, in, err
		}
		now, failed := c.readParts(ctx)
		if failed != nil {
			return nil, nil, failed
		}
		names := now.filled().names()
		left := slices.DeleteFunc(slices.Clone(in), func(p part) bool { return !slices.Contains(names, p.name) })
		if len(left) == len(in) {
			return nil, nil, err
		}
		in = left
	}
	return nil, nil, nil
}

// fetch returns the requested documents of a part, or none if it is missing.
func (c *connection) fetch(ctx context.Context, index string, query *upstream.DocumentsQuery) (*upstream.DocumentsResult, error) {
	found := new(upstream.DocumentsResult)
	if err := c.server.Index(index).GetDocumentsWithContext(ctx, query, found); err != nil && !isMissing(err) {
		return nil, err
	}
	return found, nil
}

// documents returns the attributes of the documents of hits.
func (c *connection) documents(ctx context.Context, hits []hit, attributes ...attribute) ([]document, error) {
	keys := map[string][]string{} // by part
	for _, h := range hits {
		keys[h.part] = append(keys[h.part], h.ID)
	}
	var all []document
	for _, index := range slices.Sorted(maps.Keys(keys)) {
		found, err := c.fetch(ctx, index, &upstream.DocumentsQuery{
			Ids: keys[index], Limit: int64(len(keys[index])), Fields: names(append([]attribute{attrID}, attributes...)...),
		})
		if err != nil {
			return nil, err
		}
		var docs []document
		if err := found.Results.DecodeInto(&docs); err != nil {
			return nil, err
		}
		all = append(all, docs...)
	}
	return all, nil
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

	// The following differ from the constants in tests only.
	name     string // of the index
	partSize int64
}

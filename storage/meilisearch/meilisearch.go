// Package meilisearch implements [storage.Index] with a Meilisearch server that all agents share. People can
// use its dashboard. The index can be rebuilt from the store at any time.
//
// [Open] returns an [Index]. Meilisearch supports only a part of the query language: see tokenOf for stems,
// pairsOf for phrases, branchesOf for alternatives, and expanded for prefixes.
//
// Meilisearch accepts more tasks than it can process, and reports failures later. So an Index has one task in
// the server's queue at a time, and each call waits until its task has succeeded.
package meilisearch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	upstream "github.com/meilisearch/meilisearch-go"

	"feedmesh/storage"
)

var _ storage.Index = (*Index)(nil)

// IndexName is the name ("uid") of the index in Meilisearch.
const IndexName = "items"

// minMajor and minMinor are the oldest supported version of Meilisearch.
const minMajor, minMinor = 1, 21

// Options are the address and key of the server.
type Options struct {
	URL string // such as "http://host:7700"
	Key string // master key, or a key with all rights on the index; may be empty
	Log *slog.Logger

	name string // of the index; differs from IndexName in tests only
}

// An Index is a [storage.Index] in a Meilisearch server.
type Index struct {
	url          string // for messages
	address, key string
	name         string
	server       upstream.ServiceManager
	index        upstream.IndexManager
	http         *http.Client
	log          *slog.Logger
	turn         chan struct{} // lock of the goroutine that may have a task at the server
}

// Open returns the server's index. It creates the index if it is missing, and applies the settings of this
// version. Changed settings may take until Meilisearch has reindexed all items. Errors state what to do; the
// error is [storage.ErrUnavailable] if the server cannot be reached.
func Open(ctx context.Context, options Options) (*Index, error) {
	x, err := newIndex(options)
	if err != nil {
		return nil, err
	}
	if err := x.check(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open the search index: %w", err), x.Close())
	}
	return x, nil
}

// Check returns nil if [Open] is expected to succeed, else Open's error. It changes nothing.
func Check(ctx context.Context, options Options) error {
	x, err := newIndex(options)
	if err != nil {
		return err
	}
	defer x.Close()
	if err := x.checkVersion(ctx); err != nil {
		return err
	}
	if _, err := x.stats(ctx); err != nil {
		return x.openError(ctx, err)
	}
	return nil
}

func newIndex(options Options) (*Index, error) {
	address, err := url.Parse(options.URL)
	if err != nil || address.Scheme != "http" && address.Scheme != "https" || address.Host == "" {
		return nil, errors.New("open the search index: the address of Meilisearch must be like http://host:7700")
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DialContext = (&net.Dialer{Timeout: 5 * time.Second}).DialContext
	transport.IdleConnTimeout = 3 * time.Second // below Meilisearch's 5 s, to avoid writes to a connection that it closes
	transport.DisableCompression = true         // it sends compressed responses in parts, the last of them 40 ms late
	client := &http.Client{Transport: transport, Timeout: 2 * time.Minute}
	x := &Index{
		url: address.Redacted(), address: strings.TrimSuffix(options.URL, "/"), key: options.Key, name: options.name,
		http: client, log: options.Log, turn: make(chan struct{}, 1),
	}
	if x.name == "" {
		x.name = IndexName
	}
	if x.log == nil {
		x.log = slog.New(slog.DiscardHandler)
	}
	x.server = upstream.New(x.address, upstream.WithAPIKey(x.key), upstream.WithCustomClient(client), upstream.DisableRetries())
	x.index = x.server.Index(x.name)
	return x, nil
}

// checkVersion checks that the server's version is supported.
func (x *Index) checkVersion(ctx context.Context) error {
	version, err := x.server.VersionWithContext(ctx)
	if err != nil {
		return x.openError(ctx, err)
	}
	var major, minor int
	if _, err := fmt.Sscanf(version.PkgVersion, "%d.%d", &major, &minor); err != nil {
		return fmt.Errorf("the server at %s is not Meilisearch; check the address", x.url)
	}
	if major < minMajor || major == minMajor && minor < minMinor {
		return fmt.Errorf("the Meilisearch at %s is version %s; update it to %d.%d or newer",
			x.url, version.PkgVersion, minMajor, minMinor)
	}
	return nil
}

// check checks that the server is usable: version, settings of the index, and rights of the key.
func (x *Index) check(ctx context.Context) error {
	if err := x.checkVersion(ctx); err != nil {
		return err
	}
	if err := x.applySettings(ctx); err != nil {
		return x.openError(ctx, err)
	}
	for _, try := range []func() error{
		func() error { _, err := x.queued(ctx); return err },
		func() error { _, err := x.stats(ctx); return err },
		func() error { _, err := x.find(ctx, &upstream.SearchRequest{IndexUID: x.name}); return err },
		func() error { _, err := x.fetch(ctx, &upstream.DocumentsQuery{Limit: 1}); return err },
	} {
		if err := try(); err != nil {
			return x.openError(ctx, err)
		}
	}
	return nil
}

// Count implements [storage.Index]. It counts documents of the current form only: see ofThisForm.
func (x *Index) Count(ctx context.Context) (int64, error) {
	r := x.request(branch{only: ofThisForm})
	r.HitsPerPage = new(int64)
	found, err := x.find(ctx, r)
	if err != nil {
		return 0, x.failed(ctx, "count indexed items", err)
	}
	if found == nil {
		return 0, nil
	}
	return found[0].TotalHits, nil
}

// stats returns the statistics of the index, zero if it is missing.
func (x *Index) stats(ctx context.Context) (*upstream.StatsIndex, error) {
	stats, err := x.index.GetStatsWithContext(ctx, nil)
	if isMissing(err) {
		return &upstream.StatsIndex{}, nil
	}
	return stats, err
}

// Close implements [storage.Index]. The server finishes tasks that it already has.
func (x *Index) Close() error {
	x.http.CloseIdleConnections()
	return nil
}

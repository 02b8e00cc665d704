// Package meilisearch implements [storage.Index] with a Meilisearch server that all agents share. People can
// use its dashboard. The index can be rebuilt from the store at any time.
//
// [Open] returns an [Index], which consists of parts by time: see PartSize. Meilisearch supports only a part of the query language: see tokenOf for stems,
// addPairs for phrases, branchesOf for alternatives, and expanded for prefixes.
//
// Meilisearch accepts more tasks than it can process, and reports failures later. So an Index adds a task only while few wait in
// the server's queue, and each call waits until its task has succeeded.
package meilisearch

import (
	"context"
	"errors"
	"fmt"
	"time"

	upstream "github.com/meilisearch/meilisearch-go"

	"feedmesh/storage"
)

var (
	_ storage.EmbeddingIndex = (*Index)(nil)
	_ storage.DividedIndex   = (*Index)(nil)
)

// MinVersion is the oldest supported version of Meilisearch.
const MinVersion = "1.21"

// IsSupported reports whether a version of Meilisearch, such as "1.21.3", is supported. An error means that the text is no version.
func IsSupported(version string) (bool, error) {
	var major, minor, minMajor, minMinor int
	if _, err := fmt.Sscanf(version, "%d.%d", &major, &minor); err != nil {
		return false, fmt.Errorf("%q is no version: %w", version, err)
	}
	if _, err := fmt.Sscanf(MinVersion, "%d.%d", &minMajor, &minMinor); err != nil {
		panic(err) // a constant
	}
	return major > minMajor || major == minMajor && minor >= minMinor, nil
}

// An Index is a [storage.Index] in a Meilisearch server.
type Index struct {
	*connection
	reader
	writer
}

// Open returns the server's index. It creates the index if it is missing, and applies the settings of this
// version. Settings on which searches depend may take until Meilisearch has reindexed all items. Errors state what to do; the
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
	if _, err := x.readParts(ctx); err != nil {
		return x.openError(ctx, err)
	}
	return nil
}

func newIndex(options Options) (*Index, error) {
	c, err := newConnection(options)
	if err != nil {
		return nil, err
	}
	return &Index{c, reader{c}, writer{c, make(chan struct{}, maxTasks)}}, nil
}

// checkVersion checks that the server's version is supported.
func (x *Index) checkVersion(ctx context.Context) error {
	version, err := x.server.VersionWithContext(ctx)
	if err != nil {
		return x.openError(ctx, err)
	}
	supported, err := IsSupported(version.PkgVersion)
	switch {
	case err != nil:
		return fmt.Errorf("the server at %s is not Meilisearch; check the address", x.url)
	case !supported:
		return fmt.Errorf("the Meilisearch at %s is version %s; update it to %s or newer", x.url, version.PkgVersion, MinVersion)
	}
	return nil
}

// check checks that the server is usable: version, settings of the index, and rights of the key.
func (x *Index) check(ctx context.Context) error {
	if err := x.checkVersion(ctx); err != nil {
		return err
	}
	all, err := x.readParts(ctx)
	if err != nil {
		return x.openError(ctx, err)
	}
	for _, p := range all {
		if p.name == x.name && len(all) > 1 && p.documents == 0 {
			continue // all its items have left
		}
		if err := x.applySettings(ctx, p.name); err != nil {
			return x.openError(ctx, err)
		}
	}
	for _, try := range []func() error{
		func() error { _, err := x.queued(ctx, all); return err },
		func() error { _, err := x.findIn(ctx, parts{all.last()}, &upstream.SearchRequest{}); return err },
		func() error { _, err := x.fetch(ctx, all.last().name, &upstream.DocumentsQuery{Limit: 1}); return err },
		// A key may have rights for the first part only.
		func() error {
			_, err := x.fetch(ctx, partSince(x.name, time.Time{}), &upstream.DocumentsQuery{Limit: 1})
			return err
		},
	} {
		if err := try(); err != nil {
			return x.openError(ctx, err)
		}
	}
	return nil
}

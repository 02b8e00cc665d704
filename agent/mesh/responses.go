package mesh

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"

	"feedmesh/storage"
	"feedmesh/subjects"
)

// Responses stores the responses to repeatable requests, for [subjects.ResponseExpiry] at most.
type Responses struct{ client *client }

// Claim creates a key with a value and returns its revision. If the key exists, Claim returns its value and
// revision.
func (a Responses) Claim(ctx context.Context, key string, value []byte) (kept []byte, revision uint64, err error) {
	kv, err := a.client.bucket(ctx, subjects.ResponseBucket)
	if err != nil {
		return nil, 0, err
	}
	for range 3 { // an existing value may expire before it is read
		revision, err = kv.Create(perRequestTimeout(ctx), key, value)
		if !errors.Is(err, jetstream.ErrKeyExists) {
			break
		}
		entry, err := kv.Get(perRequestTimeout(ctx), key)
		if err == nil {
			return entry.Value(), entry.Revision(), nil
		}
		if !errors.Is(err, jetstream.ErrKeyNotFound) {
			return nil, 0, fmt.Errorf("read response: %w", err)
		}
	}
	if err != nil {
		return nil, 0, fmt.Errorf("claim response: %w", err)
	}
	return nil, revision, nil
}

// Quarantine stores an unreadable value of a revision in the quarantine. The caller replaces it.
func (a Responses) Quarantine(ctx context.Context, key string, revision uint64, value []byte, cause error) error {
	return a.client.quarantineValue(ctx, subjects.ResponseBucket, key, revision, value, cause)
}

// Replace replaces the value of a revision. It returns [storage.ErrConflict] if the key has another revision
// or none.
func (a Responses) Replace(ctx context.Context, key string, value []byte, revision uint64) (uint64, error) {
	kv, err := a.client.bucket(ctx, subjects.ResponseBucket)
	if err != nil {
		return 0, err
	}
	revision, err = kv.Update(perRequestTimeout(ctx), key, value, revision)
	return revision, responseError("replace", err)
}

// Delete removes the value of a revision. It returns [storage.ErrConflict] if the key has another revision.
func (a Responses) Delete(ctx context.Context, key string, revision uint64) error {
	kv, err := a.client.bucket(ctx, subjects.ResponseBucket)
	if err != nil {
		return err
	}
	return responseError("delete", kv.Purge(perRequestTimeout(ctx), key, jetstream.LastRevision(revision)))
}

// responseError converts the error of a write with an outdated revision to [storage.ErrConflict].
func responseError(what string, err error) error {
	switch {
	case err == nil:
		return nil
	case isStale(err):
		return storage.ErrConflict
	}
	return fmt.Errorf("%s response: %w", what, err)
}

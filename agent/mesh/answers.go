package mesh

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"

	"feedmesh/storage"
	"feedmesh/subjects"
)

// Answers returns the bucket of answers to requests that may come again.
func (m *Mesh) Answers() Answers { return Answers{m} }

// Answers keeps what was answered, each for [subjects.AnswerExpiry] at most.
type Answers struct{ mesh *Mesh }

// Claim puts a value under a key that has none, and returns its revision. If the
// key has one, that is returned, with its own revision.
func (a Answers) Claim(ctx context.Context, key string, value []byte) (kept []byte, revision uint64, err error) {
	kv, err := a.mesh.bucket(ctx, subjects.AnswerBucket)
	if err != nil {
		return nil, 0, err
	}
	for range 3 { // what is there may go before it is read
		revision, err = kv.Create(eachBounded(ctx), key, value)
		if !errors.Is(err, jetstream.ErrKeyExists) {
			break
		}
		entry, err := kv.Get(eachBounded(ctx), key)
		if err == nil {
			return entry.Value(), entry.Revision(), nil
		}
		if !errors.Is(err, jetstream.ErrKeyNotFound) {
			return nil, 0, fmt.Errorf("read answer: %w", err)
		}
	}
	if err != nil {
		return nil, 0, fmt.Errorf("claim answer: %w", err)
	}
	return nil, revision, nil
}

// Replace puts a value in place of the one of a revision. It returns
// [storage.ErrConflict] if there is another by now, or none.
func (a Answers) Replace(ctx context.Context, key string, value []byte, revision uint64) (uint64, error) {
	kv, err := a.mesh.bucket(ctx, subjects.AnswerBucket)
	if err != nil {
		return 0, err
	}
	revision, err = kv.Update(eachBounded(ctx), key, value, revision)
	return revision, answerError("replace", err)
}

// Drop forgets the value of a revision. It returns [storage.ErrConflict] if there
// is another by now.
func (a Answers) Drop(ctx context.Context, key string, revision uint64) error {
	kv, err := a.mesh.bucket(ctx, subjects.AnswerBucket)
	if err != nil {
		return err
	}
	return answerError("drop", kv.Purge(eachBounded(ctx), key, jetstream.LastRevision(revision)))
}

// answerError tells a write that came too late from one that failed.
func answerError(what string, err error) error {
	switch {
	case err == nil:
		return nil
	case isStale(err):
		return storage.ErrConflict
	}
	return fmt.Errorf("%s answer: %w", what, err)
}

package postgres

import (
	"context"
	"hash/crc32"

	"github.com/jackc/pgx/v5"

	"feedmesh/storage"
)

const nextFence = `
	INSERT INTO fences AS f (name, number) VALUES ($1, 1)
	ON CONFLICT (name) DO UPDATE SET number = f.number + 1
	RETURNING number`

// NextFence implements [storage.Fences]. It waits for writers under the previous fence, see newestFence.
func (s fenceStore) NextFence(ctx context.Context, name string) (storage.Fence, error) {
	return inTransaction(ctx, s.engine, defaultTimeout, "issue a fence", func(ctx context.Context, tx pgx.Tx) (storage.Fence, error) {
		if _, err := tx.Exec(ctx, takeLockExclusive, fenceLockClass, fenceLockOf(name)); err != nil {
			return storage.Fence{}, err
		}
		number, err := one(ctx, tx, pgx.RowTo[int64], nextFence, name)
		return storage.Fence{Name: name, Number: number}, err
	})
}

const (
	// The row lock keeps the fence valid until the transaction ends. NextFence waits for transactions that
	// hold the lock; later transactions under the old fence fail.
	newestFence = `SELECT number FROM fences WHERE name = $1 FOR SHARE`

	// The exclusive lock waits for all other writers under the fence, and they wait for it.
	newestFenceExclusive = `SELECT number FROM fences WHERE name = $1 FOR NO KEY UPDATE`

	// Each fence has an advisory lock in front of its row lock, which is granted in order of arrival. Shared
	// row locks can starve an exclusive one: with six busy writers it waited half a minute.
	takeLockShared    = `SELECT pg_advisory_xact_lock_shared($1, $2)`
	takeLockExclusive = `SELECT pg_advisory_xact_lock($1, $2)`
)

// fenceLockClass is the class of the fences' advisory locks: "fenc" in ASCII.
const fenceLockClass int32 = 0x66656e63

// fenceLockOf returns the number of a fence's advisory lock. A collision only causes waiting.
func fenceLockOf(name string) int32 { return int32(crc32.ChecksumIEEE([]byte(cleanText(name)))) }

// lockFenceShared locks the fence shared with other writers, and lockFenceExclusive exclusively. Both return
// [storage.ErrFenced] if the fence is outdated. The zero Fence is not checked.
func lockFenceShared(ctx context.Context, tx pgx.Tx, fence storage.Fence) error {
	return checkFence(ctx, tx, takeLockShared, newestFence, fence)
}

func lockFenceExclusive(ctx context.Context, tx pgx.Tx, fence storage.Fence) error {
	return checkFence(ctx, tx, takeLockExclusive, newestFenceExclusive, fence)
}

func checkFence(ctx context.Context, tx pgx.Tx, pass, lock string, fence storage.Fence) error {
	if fence == (storage.Fence{}) {
		return nil
	}
	if _, err := tx.Exec(ctx, pass, fenceLockClass, fenceLockOf(fence.Name)); err != nil {
		return err
	}
	newest, err := collect(ctx, tx, pgx.RowTo[int64], lock, fence.Name)
	if err == nil && len(newest) > 0 && fence.Number < newest[0] {
		return storage.ErrFenced
	}
	return err
}

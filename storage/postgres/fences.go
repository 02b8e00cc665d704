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

// NextFence implements [storage.Fences]. It waits for those who write under the
// fence before: see newestFence.
func (s *Store) NextFence(ctx context.Context, name string) (fence storage.Fence, err error) {
	err = s.change(ctx, "take a fence", func(ctx context.Context, tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, passAlone, gate, gateOf(name)); err != nil {
			return err
		}
		number, err := one(ctx, tx, pgx.RowTo[int64], nextFence, name)
		fence = storage.Fence{Name: name, Number: number}
		return err
	})
	if err != nil {
		return storage.Fence{}, err
	}
	return fence, nil
}

const (
	// What is locked stays as it is read until the transaction ends. So a writer who
	// takes the next fence waits for those who hold the one before, and then no more
	// of theirs will come.
	newestFence = `SELECT number FROM fences WHERE name = $1 FOR SHARE`

	// Whoever takes this waits for all others who write under the fence, as one who
	// takes the next one does, and they for him.
	fenceAlone = `SELECT number FROM fences WHERE name = $1 FOR NO KEY UPDATE`

	// In front of a fence is a gate, which lets through in order of arrival. Those
	// who share a row let no one lock it alone as long as one of them has it: while
	// there were six busy writers, the wait was half a minute.
	passShared = `SELECT pg_advisory_xact_lock_shared($1, $2)`
	passAlone  = `SELECT pg_advisory_xact_lock($1, $2)`
)

// gate is the class of the locks that are gates of fences: "fenc" in ASCII.
const gate int32 = 0x66656e63

// gateOf returns the number of a fence's gate. That others may have the same costs
// them a wait.
func gateOf(name string) int32 { return int32(crc32.ChecksumIEEE([]byte(cleanText(name)))) }

// shareFence and takeAlone lock the fence for others who do the same, or for nobody
// else, and return [storage.ErrFenced] if it is outdated. The zero Fence is not
// checked.
func shareFence(ctx context.Context, tx pgx.Tx, fence storage.Fence) error {
	return checkFence(ctx, tx, passShared, newestFence, fence)
}

func takeAlone(ctx context.Context, tx pgx.Tx, fence storage.Fence) error {
	return checkFence(ctx, tx, passAlone, fenceAlone, fence)
}

func checkFence(ctx context.Context, tx pgx.Tx, pass, lock string, fence storage.Fence) error {
	if fence == (storage.Fence{}) {
		return nil
	}
	if _, err := tx.Exec(ctx, pass, gate, gateOf(fence.Name)); err != nil {
		return err
	}
	newest, err := collect(ctx, tx, pgx.RowTo[int64], lock, fence.Name)
	if err == nil && len(newest) > 0 && fence.Number < newest[0] {
		return storage.ErrFenced
	}
	return err
}

package memory_test

import (
	"testing"

	"feedmesh/storage"
	"feedmesh/storage/memory"
	"feedmesh/storage/storagetest"
)

func TestIndex(t *testing.T) {
	storagetest.TestIndex(t, func(*testing.T) storage.Index { return &memory.Index{} })
}

package memory_test

import (
	"testing"

	"feedmesh/storage"
	"feedmesh/storage/memory"
	"feedmesh/storage/storagetest"
)

func TestStore(t *testing.T) {
	storagetest.TestStore(t, func(*testing.T) storage.Store { return &memory.Store{} })
}

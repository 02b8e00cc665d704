package bleve

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/blevesearch/bleve/v2/index/scorch"
	bleveindex "github.com/blevesearch/bleve_index_api"
	segmentapi "github.com/blevesearch/scorch_segment_api/v2"
	zap "github.com/blevesearch/zapx/v17"
)

// errDamaged reports that a file does not have the checksum that was written with it.
var errDamaged = errors.New("damaged")

const (
	// verifyInterval is the time between two verifications of all files. An index of 1 GB takes half a minute of
	// them, and a second of CPU time.
	verifyInterval = 10 * time.Minute

	// verifyRate bounds the bytes that a periodic verification reads in a second.
	verifyRate = 32 << 20
)

// A pace is called after each buffer of a verification with its size, and ends the verification by an error. Nil
// does not wait.
type pace func(bytes int) error

// verifySegments verifies the files of all segments of a state, and closes its reader.
func verifySegments(now bleveindex.IndexReader, wait pace) error {
	defer now.Close()
	snapshot, err := snapshotOf(now)
	if err != nil {
		return err
	}
	for _, seg := range snapshot.Segments() {
		if err := verifySegment(seg.Segment(), wait); err != nil {
			return err
		}
	}
	return nil
}

// verifySegment compares a segment's file with the checksum at its end. It returns nil for a segment in memory.
func verifySegment(seg segmentapi.Segment, wait pace) error {
	file, ok := seg.(interface {
		Path() string
		Data() []byte // the whole file, mapped into memory
	})
	if !ok {
		return nil
	}
	const chunk = 1 << 20
	content := file.Data()
	end := len(content) - crc32.Size
	if end < 0 {
		return fmt.Errorf("%w: %s is empty", errDamaged, filepath.Base(file.Path()))
	}
	sum := uint32(0)
	for from := 0; from < end; from += chunk {
		part := content[from:min(from+chunk, end)]
		sum = crc32.Update(sum, crc32.IEEETable, part)
		if wait == nil {
			continue
		}
		if err := wait(len(part)); err != nil {
			return err
		}
	}
	if sum != binary.BigEndian.Uint32(content[end:]) {
		return fmt.Errorf("%w: the checksum of %s is wrong", errDamaged, filepath.Base(file.Path()))
	}
	return nil
}

const (
	// rootName is the name of scorch's list of segments and deleted documents, which has no checksum.
	rootName = "root.bolt"

	// rootSumName is the name of the file with the SHA-256 of that list. It is written when the index is closed and
	// emptied when it is opened. After a crash there is none: damage is left to the comparison with the store.
	rootSumName = "root.sum"
)

func sumRoot(path string) ([]byte, error) {
	content, err := os.ReadFile(filepath.Join(path, "store", rootName))
	sum := sha256.Sum256(content)
	return sum[:], err
}

// verifyRoot compares the list of segments of a closed index with its checksum, if there is one.
func verifyRoot(path string) error {
	want, err := os.ReadFile(filepath.Join(path, rootSumName))
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(want) == 0 {
		return nil
	}
	got, failed := sumRoot(path)
	if err := errors.Join(err, failed); err != nil {
		return err
	}
	if string(got) != string(want) {
		return fmt.Errorf("%w: the checksum of %s is wrong", errDamaged, rootName)
	}
	return nil
}

// writeRootSum writes the checksum of the list of segments of a closed index.
func writeRootSum(path string) error {
	sum, err := sumRoot(path)
	if err != nil {
		return err
	}
	return putRootSum(path, sum)
}

// putRootSum writes a checksum to disk; an empty one if the list of segments changes from now on.
func putRootSum(path string, sum []byte) error {
	file, err := os.OpenFile(filepath.Join(path, rootSumName), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(sum)
	return errors.Join(err, file.Sync(), file.Close())
}

// checkedMerges are the segments of Bleve's current format, whose files are verified around each merge. Before it, since a
// damaged length makes a merge allocate any number of bytes: Go ends a process without memory, and recover has no effect.
// After it, since a merge of damaged content has a right checksum.
type checkedMerges struct{ zap.ZapPlugin }

func init() { scorch.RegisterSegmentPlugin(&checkedMerges{}, true) }

// MergeUsing implements [scorch.SegmentPlugin]. After damage its error is errDamaged, and the index is replaced.
func (m *checkedMerges) MergeUsing(from []segmentapi.Segment, drops []*roaring.Bitmap, path string, closing chan struct{},
	stats segmentapi.StatsReporter, config map[string]any) (docs [][]uint64, size uint64, err error) {
	if err = verifyMerged(from); err == nil {
		docs, size, err = m.ZapPlugin.MergeUsing(from, drops, path, closing, stats, config)
	}
	if err == nil {
		if err = verifyMerged(from); err != nil {
			err = errors.Join(err, os.Remove(path))
		}
	}
	if errors.Is(err, errDamaged) {
		forOpened(filepath.Dir(path), func(x *Index) { x.fail(err) })
	}
	return docs, size, err
}

// verifyMerged verifies the files of segments that a merge reads.
func verifyMerged(segments []segmentapi.Segment) error {
	for _, one := range segments {
		if err := verifySegment(one, nil); err != nil {
			return fmt.Errorf("merge: %w", err)
		}
	}
	return nil
}

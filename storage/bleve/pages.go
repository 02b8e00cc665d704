package bleve

import (
	"context"
	"time"

	bleveindex "github.com/blevesearch/bleve_index_api"
)

// releasePagesEvery is the interval at which the pages of the segments' files are released from this process. Those in
// use return within microseconds from the page cache of the system, which keeps the others as long as it has room.
const releasePagesEvery = 15 * time.Second

// keepReleasingPages releases pages until Close. Otherwise merges and rare searches would leave all files in the memory
// of the process, of which a limit or a person sees only the sum.
func (x *Index) keepReleasingPages() {
	tick := time.NewTicker(releasePagesEvery)
	defer tick.Stop()
	for {
		select {
		case <-x.ending:
			return
		case <-tick.C:
			_ = x.releasePages(context.Background()) // the index is closed or damaged, which others report
		}
	}
}

// releasePages releases the pages of all segments. An error means that the index is closed or damaged.
func (x *Index) releasePages(ctx context.Context) error {
	return x.read(ctx, func(now bleveindex.IndexReader) error {
		snapshot, err := snapshotOf(now) // keeps the files mapped until this function returns
		if err != nil {
			return err
		}
		for _, s := range snapshot.Segments() {
			if file, is := s.Segment().(interface{ Data() []byte }); is { // a segment in memory only has none
				releaseMapped(file.Data())
			}
		}
		return nil
	})
}

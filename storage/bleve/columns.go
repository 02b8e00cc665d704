package bleve

import (
	"hash/fnv"
	"maps"
	"slices"
	"strconv"

	"github.com/blevesearch/bleve/v2/index/scorch"
	segmentapi "github.com/blevesearch/scorch_segment_api/v2"

	"feedmesh/storage"
)

// columns contains the values that a search reads of each document: about 60 bytes per document. They are
// cached per segment. Segments are immutable, so only the prominence changes.
type columns struct {
	published      []int64 // microseconds
	baseProminence []uint8 // prominence without the part of the story
	prominence     prominence
	story          []uint64 // hash of the story's ID; 0 for none
	facets         []column // by number in [storage.FacetNames]
	tops           tops
}

// A column contains the values of a field as the numbers of [values].
type column struct {
	start []uint32 // offset of each document's values, and the end; nil if no document has two values
	value []uint32 // 0 is no value
}

// of returns the values of a document.
func (c *column) of(doc uint32) []uint32 {
	if c.start == nil {
		return c.value[doc : doc+1]
	}
	return c.value[c.start[doc]:c.start[doc+1]]
}

// A columnCache caches the columns of segments by segment ID. Callers hold the lock refreshing; values may be
// read at any time.
type columnCache struct {
	read   map[uint64]*columns
	values []values // by number in [storage.FacetNames]
}

func newColumnCache() *columnCache {
	return &columnCache{read: make(map[uint64]*columns), values: make([]values, len(storage.FacetNames))}
}

// of returns the columns of a segment.
func (c *columnCache) of(seg *scorch.SegmentSnapshot) (*columns, error) {
	if read := c.read[seg.Id()]; read != nil {
		return read, nil
	}
	read, err := c.readColumns(seg.Segment())
	if err == nil {
		c.read[seg.Id()] = read
	}
	return read, err
}

// keep evicts the columns of all other segments.
func (c *columnCache) keep(segs []*scorch.SegmentSnapshot) {
	if len(c.read) <= len(segs) {
		return
	}
	there := make(map[uint64]bool, len(segs))
	for _, seg := range segs {
		there[seg.Id()] = true
	}
	maps.DeleteFunc(c.read, func(id uint64, _ *columns) bool { return !there[id] })
}

func (c *columnCache) readColumns(seg segmentapi.Segment) (*columns, error) {
	all := &columns{baseProminence: make([]uint8, seg.Count()), story: make([]uint64, seg.Count())}
	var err error
	if all.published, err = readPublished(seg); err != nil {
		return nil, err
	}
	err = eachValue(seg, fieldStanding, func(value string, docs []uint32) {
		n, _ := strconv.ParseUint(value, 16, 8) // as document wrote it
		for _, doc := range docs {
			all.baseProminence[doc] = uint8(n)
		}
	})
	if err != nil {
		return nil, err
	}
	err = eachValue(seg, fieldStory, func(value string, docs []uint32) {
		story := hashOf(value)
		for _, doc := range docs {
			all.story[doc] = story
		}
	})
	if err != nil {
		return nil, err
	}
	for i, name := range storage.FacetNames {
		facet, err := readColumn(seg, fieldOfFacet(name), &c.values[i])
		if err != nil {
			return nil, err
		}
		all.facets = append(all.facets, facet)
	}
	return all, nil
}

// hashOf returns a 64-bit hash of an ID, never 0.
func hashOf(id string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(id)) // never fails
	return max(1, h.Sum64())
}

// readColumn reads the values of a field.
func readColumn(seg segmentapi.Segment, field string, numbers *values) (column, error) {
	docs := seg.Count()
	starts := make([]uint32, docs+1)
	var pairs []uint64 // document and number, in no order of documents
	most := uint32(0)
	err := eachValue(seg, field, func(value string, docs []uint32) {
		number := uint64(numbers.number(value))
		for _, doc := range docs {
			pairs = append(pairs, uint64(doc)<<32|number)
			starts[doc+1]++
			most = max(most, starts[doc+1])
		}
	})
	if err != nil {
		return column{}, err
	}
	if most <= 1 {
		single := column{value: make([]uint32, docs)}
		for _, pair := range pairs {
			single.value[pair>>32] = uint32(pair)
		}
		return single, nil
	}
	slices.Sort(pairs)
	several := column{start: starts, value: make([]uint32, len(pairs))}
	for i, pair := range pairs {
		several.value[i] = uint32(pair)
	}
	for doc := range docs {
		starts[doc+1] += starts[doc]
	}
	return several, nil
}

// valuesOf returns the values that a facet has had so far.
func (c *columnCache) valuesOf(name string) []string {
	return c.values[slices.Index(storage.FacetNames, name)].all()
}

package plan

import (
	"time"

	"feedmesh/storage"
	"feedmesh/subjects"
)

// updateWrites updates the number of writes to the store. If it is lower than before, the store went back to an
// older state: its next poll fetches the document whole, because items of earlier ones may be missing.
func (f *Feed) updateWrites(o subjects.Observation) {
	s := f.State
	if o.Outcome != subjects.Stored || o.StoreWrites == 0 { // reported by an older agent
		return
	}
	if o.StoreWrites < s.StoreWrites {
		s.ETag, s.LastModified, s.BodyHash = "", "", ""
	}
	s.StoreWrites = o.StoreWrites
}

// Stored returns the feed as to be stored again after the store lost it. Its title, tags and other settings of the
// store alone are lost.
func (f *Feed) Stored() storage.Feed {
	s := f.State
	return storage.Feed{ID: f.FeedID, URL: s.URL, Pinned: s.Pinned, FullText: s.FullText, Request: s.Request, Added: s.Polled}
}

// Writes returns how often items of a feed were written to the store, as last reported; 0 if never.
func (p *Plan) Writes(id string) int64 {
	if f := p.feeds[id]; f != nil {
		return f.State.StoreWrites
	}
	return 0
}

// Behind reports whether the store is behind the feed's state: it went back to an older state since.
func (p *Plan) Behind(stored storage.Feed) bool { return stored.Writes < p.Writes(stored.ID) }

// FetchWhole makes a feed due now of which the store lost items, and returns it. The plan must contain it.
func (p *Plan) FetchWhole(stored storage.Feed, now time.Time) *Feed {
	f := p.feeds[stored.ID]
	f.State.StoreWrites = stored.Writes
	p.fetchWhole(f, now, "the store went back to an older state: fetched whole")
	return f
}

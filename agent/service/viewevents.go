package service

import (
	"context"
	"time"

	"feedmesh/agent/access"
	"feedmesh/agent/wire"
	"feedmesh/storage"
)

const (
	viewBatch    = 100              // size of a batch of members of a stream
	viewInterval = 15 * time.Second // after which members are read without an event that views grew
)

// Watch opens a stream of the items that enter a view, in order of entry: those after a serial, or from now on if it is 0. address
// is that of the client. The stream is closed when ctx ends, or earlier if its reader is too slow; one that begins after the last serial
// that was received continues it. It returns [ErrTooManyStreams] if no stream is free.
func (s *Views) Watch(ctx context.Context, name string, after int64, address string) (<-chan wire.ViewEvent, error) {
	v, err := s.read(ctx, name)
	if err != nil {
		return nil, err
	}
	if after == 0 {
		if after, err = s.Store.LastSerial(ctx); err != nil {
			return nil, err
		}
	}
	events, err := s.events.Watch(ctx, access.From(ctx).Key(address))
	if err != nil {
		return nil, err
	}
	entered := make(chan wire.ViewEvent)
	go func() {
		defer close(entered)
		tick := time.NewTicker(viewInterval)
		defer tick.Stop()
		for {
			var ok bool
			if after, ok = s.sendEntered(ctx, v, after, entered); !ok || !awaitGrowth(events, tick.C) {
				return
			}
		}
	}()
	return entered, nil
}

// awaitGrowth returns true when members may have entered, and false when the stream ends.
func awaitGrowth(events <-chan wire.StreamEvent, tick <-chan time.Time) bool {
	for {
		select {
		case e, open := <-events:
			if !open || e.ViewsGrew || e.Subscribed {
				return open
			}
		case <-tick:
			return true
		}
	}
}

// sendEntered sends the items that entered after a serial, and returns the last one. It returns false if ctx ends.
func (s *Views) sendEntered(ctx context.Context, v readView, after int64, to chan<- wire.ViewEvent) (last int64, ok bool) {
	for {
		members, err := s.Store.ListPending(ctx, []int64{v.stored.Number}, after, viewBatch)
		var items []wire.FoundItem
		texts := map[string]string{}
		if err == nil {
			hits := convert(members, func(m storage.Member) storage.Hit { return storage.Hit{ID: m.ItemID} })
			items, err = s.search.foundItems(ctx, hits, s.titles(ctx), newHighlighter(nil, false), texts)
		}
		if err != nil { // it is read again with the next event
			return after, ctx.Err() == nil
		}
		byID := map[string]wire.FoundItem{}
		for _, item := range s.stillMatching(v, items, texts) {
			byID[item.ID] = item
		}
		for _, m := range members {
			if item, is := byID[m.ItemID]; is { // not removed since
				select {
				case to <- wire.ViewEvent{Serial: m.Serial, Item: item}:
				case <-ctx.Done():
					return after, false
				}
			}
			after = m.Serial
		}
		if len(members) < viewBatch {
			return after, true
		}
	}
}

package service

import (
	"cmp"
	"context"
	"encoding/csv"
	"io"
	"strconv"
	"time"

	"feedmesh/agent/role/cluster/placement"
	"feedmesh/agent/wire"
	"feedmesh/storage"
)

const (
	maxSeries   = 20_000 // newest items of a series
	seriesBatch = 500    // size of a batch of items that is read for it
)

// Series returns the number of items, stories and publishers of a view on each of the last days, by the days of UTC on which
// the items were published.
func (s *Views) Series(ctx context.Context, in wire.ViewSeriesRequest) (wire.ViewSeries, error) {
	v, err := s.read(ctx, in.Name)
	if err != nil {
		return wire.ViewSeries{}, err
	}
	today := s.Now().UTC().Truncate(24 * time.Hour)
	since := today.AddDate(0, 0, 1-in.Days)
	counts := map[string]*dayCount{}
	series := wire.ViewSeries{Days: make([]wire.ViewDay, in.Days)}
	read := 0
	for after := (storage.Member{}); ; {
		page, err := s.Store.ListMembers(ctx, storage.MemberQuery{View: v.stored.Number, Since: since}, after, seriesBatch)
		if err != nil {
			return wire.ViewSeries{}, err
		}
		items, err := s.Store.Items(ctx, convert(page, func(m storage.Member) string { return m.ItemID })...)
		if err != nil {
			return wire.ViewSeries{}, err
		}
		for _, item := range items {
			day := item.Time().UTC().Format(time.DateOnly)
			if counts[day] == nil {
				counts[day] = &dayCount{stories: map[string]bool{}, publishers: map[string]bool{}}
			}
			counts[day].add(item)
		}
		if read += len(page); len(page) < seriesBatch {
			break
		}
		if read >= maxSeries {
			series.Truncated = true
			break
		}
		after = page[len(page)-1]
	}
	for i := range series.Days {
		day := &series.Days[i]
		day.Day = today.AddDate(0, 0, -i).Format(time.DateOnly)
		if n := counts[day.Day]; n != nil {
			day.Items, day.Stories, day.Publishers = n.items, len(n.stories), len(n.publishers)
		}
	}
	return series, nil
}

// A dayCount counts the items of a day.
type dayCount struct {
	items               int
	stories, publishers map[string]bool
}

// add counts an item. One without others of its story is a story of its own.
func (d *dayCount) add(item storage.Item) {
	d.items++
	d.stories[cmp.Or(item.StoryID, item.ID)] = true
	d.publishers[placement.Publisher(item)] = true
}

// ReportSeries returns a function that writes a series as CSV, the last day first.
func (s *Views) ReportSeries(ctx context.Context, in wire.ViewSeriesRequest) (func(io.Writer) error, error) {
	series, err := s.Series(ctx, in)
	if err != nil {
		return nil, err
	}
	return func(w io.Writer) error {
		file := csv.NewWriter(w)
		file.Write([]string{"day", "items", "stories", "publishers"})
		for _, day := range series.Days {
			file.Write([]string{day.Day, strconv.Itoa(day.Items), strconv.Itoa(day.Stories), strconv.Itoa(day.Publishers)})
		}
		file.Flush()
		return file.Error()
	}, nil
}

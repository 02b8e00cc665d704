package schedule

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"
)

const (
	maxLogItems = 20_000_000
	logWindow   = 20 // entries assumed in the documents of recorded feeds
)

// ReadLog reads a recording: CSV with a line for each item, "feed" and "published", in Unix seconds or as in
// 2026-01-31T12:00:00Z. The first line may contain column names.
func ReadLog(r io.Reader) (World, error) {
	lines := csv.NewReader(r)
	lines.FieldsPerRecord, lines.ReuseRecord = 2, true
	w := World{Name: "log"}
	feeds := map[string]int{}
	for n := 0; ; n++ {
		fields, err := lines.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return World{}, fmt.Errorf("a log has lines of feed,published: %w", err)
		}
		if n > maxLogItems {
			return World{}, fmt.Errorf("the log has more than %d items: cut it", maxLogItems)
		}
		at, err := readTime(fields[1])
		if err != nil && n == 0 && fields[1] == "published" {
			continue
		}
		if err != nil {
			line, _ := lines.FieldPos(1)
			return World{}, fmt.Errorf("line %d: %w", line, err)
		}
		i, found := feeds[fields[0]]
		if !found {
			i = len(w.Feeds)
			feeds[fields[0]] = i
			w.Feeds = append(w.Feeds, Feed{Window: logWindow})
		}
		w.Feeds[i].Published = append(w.Feeds[i].Published, at)
	}
	if len(w.Feeds) == 0 {
		return World{}, errors.New("the log has no items; expected a line \"feed,published\" for each item")
	}
	for _, f := range w.Feeds {
		slices.Sort(f.Published)
	}
	return w, nil
}

func readTime(s string) (int64, error) {
	if seconds, err := strconv.ParseInt(s, 10, 64); err == nil && seconds > 0 && seconds < 1<<40 {
		return seconds, nil
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil || t.Unix() <= 0 {
		return 0, fmt.Errorf("%q is no time: write 2026-01-31T12:00:00Z or seconds since 1970", s)
	}
	return t.Unix(), nil
}

// Last returns the span of a number of days that ends with the midnight after the world's last item.
func (w World) Last(learn, score int) (Span, error) {
	first, last := w.Feeds[0].Published[0], int64(0)
	for _, f := range w.Feeds {
		first, last = min(first, f.Published[0]), max(last, f.Published[len(f.Published)-1])
	}
	end := (last/daySeconds + 1) * daySeconds
	begin := end - int64(learn+score)*daySeconds
	if has := end/daySeconds - first/daySeconds; has < int64(learn+score) {
		return Span{}, fmt.Errorf("the log is of %d days and not of %d: learn from fewer, score fewer", has, learn+score)
	}
	return Span{Begin: begin, Learn: learn, Score: score}, nil
}

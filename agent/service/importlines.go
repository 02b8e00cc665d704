package service

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"time"

	"feedmesh/agent/role/crawl/fetch"
	"feedmesh/agent/role/parse/feed"
	"feedmesh/agent/wire"
	"feedmesh/storage"
)

// Lines returns a page of the results of an import, or [storage.ErrNotFound].
func (s *Imports) Lines(ctx context.Context, q wire.ImportSearch) (wire.ImportPage, error) {
	page := wire.ImportPage{Lines: []wire.ImportLine{}}
	last := 0
	more, err := s.eachLine(ctx, q, func(i int, line wire.ImportLine) bool {
		if len(page.Lines) == q.Limit {
			return false
		}
		page.Lines, last = append(page.Lines, line), i+1
		return true
	})
	if more {
		page.Next = last
	}
	return page, err
}

// Report returns a function that writes the results of an import as CSV, or [storage.ErrNotFound]. Cells that a
// spreadsheet would evaluate are escaped.
func (s *Imports) Report(ctx context.Context, in wire.ByID) (write func(io.Writer) error, err error) {
	if _, err := s.Get(ctx, in); err != nil {
		return nil, err
	}
	return func(to io.Writer) error {
		file := csv.NewWriter(to)
		file.Write([]string{"line", "url", "verdict", "detail", "status", "feed_id"})
		_, err := s.eachLine(ctx, wire.ImportSearch{ID: in.ID}, func(_ int, line wire.ImportLine) bool {
			status := ""
			if line.Status > 0 {
				status = strconv.Itoa(line.Status)
			}
			file.Write([]string{strconv.Itoa(line.Line), CSVCell(line.URL), line.Verdict, CSVCell(line.Detail), status, line.FeedID})
			return file.Error() == nil
		})
		file.Flush()
		if err != nil {
			return err
		}
		return file.Error()
	}, nil
}

// eachLine calls each with the matching lines until it returns false; more reports that.
func (s *Imports) eachLine(ctx context.Context, q wire.ImportSearch, each func(i int, line wire.ImportLine) bool) (more bool, err error) {
	imp, err := storage.Imports(s.Store).Read(ctx, q.ID)
	if err != nil {
		return false, fmt.Errorf("import %s: %w", q.ID, err)
	}
	list, err := listOf(imp)
	if err != nil {
		return false, err
	}
	all, err := s.states(ctx)
	if err != nil {
		return false, err
	}
	ended := !imp.Finished.IsZero()
	fresh := !ended || all.at.Sub(imp.Finished) < scheduleLag
	err = list.from(q.After, q.Outcome, func(i int, result wire.ImportResult) error {
		line := importLineOf(result, ended, fresh, all)
		if q.Verdict != "" && line.Verdict != q.Verdict {
			return ctx.Err()
		}
		if !each(i, line) {
			more = true
			return errPageFull
		}
		return ctx.Err()
	})
	if err != nil {
		err = fmt.Errorf("import %s: %w", q.ID, err)
	}
	return more, err
}

// scheduleLag is the time after an import in which the schedule may not have a state of all its feeds.
const scheduleLag = time.Minute

// importLineOf returns the line of a feed. all are the feeds in the schedule; fresh states that some may not
// have arrived there yet.
func importLineOf(result wire.ImportResult, ended, fresh bool, all *stateSnapshot) wire.ImportLine {
	line := wire.ImportLine{ImportResult: result, Detail: result.Reason}
	switch result.Outcome {
	case wire.ImportInvalid:
		line.Verdict = wire.VerdictInvalid
		return line
	case wire.ImportWaiting:
		if line.Verdict = wire.VerdictWaiting; ended {
			line.Verdict, line.Detail = wire.VerdictLeftOut, "the import was cancelled before its turn came"
		}
		return line
	case wire.ImportExisting:
		line.Verdict, line.Detail = wire.VerdictDuplicate, "stored before, or listed twice"
		return line
	}
	state := all.of(result.FeedID)
	switch {
	case state == nil && fresh:
		line.Verdict = wire.VerdictAdded
		return line
	case state == nil:
		line.Verdict, line.Detail = wire.VerdictRedirected, "it lives at another address by now, or was removed"
		return line
	}
	line.Status = int(state.status)
	switch class := all.classes[state.class]; {
	case state.gone:
		line.Verdict = wire.VerdictGone
	case !state.polled:
		line.Verdict = wire.VerdictAdded
	case state.failures == 0:
		line.Verdict = wire.VerdictRead
	default:
		line.Verdict, line.Detail = verdictOf(class), describeClass(class, int(state.status))
	}
	return line
}

// verdictOf returns the verdict on a feed whose last poll failed.
func verdictOf(class string) string {
	switch class {
	case string(fetch.ClassBlocked):
		return wire.VerdictBlocked
	case string(feed.Empty), string(feed.WebPage), string(feed.Challenge), string(feed.OtherJSON), string(feed.OtherXML), string(feed.Other):
		return wire.VerdictNoFeed
	}
	return wire.VerdictFailed
}

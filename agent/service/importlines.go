package service

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"feedmesh/agent/opml"
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
	case !state.failing:
		line.Verdict = wire.VerdictRead
	default:
		line.Verdict, line.Detail = verdictOf(class), DescribeClass(class, int(state.status))
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

// CSVCell returns text as a CSV cell that no spreadsheet evaluates as a formula: other than in numbers, a
// leading =, +, -, @ or control character gets an apostrophe before it.
//
// Source: OWASP, CSV Injection.
func CSVCell(text string) string {
	if _, err := strconv.ParseFloat(text, 64); err == nil || text == "" || !strings.ContainsRune("=+-@\t\r\n", rune(text[0])) {
		return text
	}
	return "'" + text
}

// An importList is a list of feeds in the format of Lines of a [storage.Import]: first a letter for each
// feed, its outcome, then all feeds in gzip, a JSON object each. A batch therefore rewrites letters only. The
// reason of an outcome is computed again from the address.
type importList struct {
	verdicts []byte
	packed   []byte
}

// The outcomeLetters of the outcomes.
var (
	outcomeLetters = map[string]byte{wire.ImportWaiting: '.', wire.ImportAdded: 'a', wire.ImportExisting: 'k', wire.ImportInvalid: 'i'}
	letterOutcomes = map[byte]string{'.': wire.ImportWaiting, 'a': wire.ImportAdded, 'k': wire.ImportExisting, 'i': wire.ImportInvalid}
)

// packList returns a list of feeds that all wait.
func packList(feeds []opml.Feed) (importList, error) {
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	e := json.NewEncoder(zip)
	for _, f := range feeds {
		if err := e.Encode(f); err != nil {
			return importList{}, err
		}
	}
	err := zip.Close()
	return importList{bytes.Repeat([]byte{outcomeLetters[wire.ImportWaiting]}, len(feeds)), packed.Bytes()}, err
}

// listOf returns the list of an import.
func listOf(imp storage.Import) (importList, error) {
	if imp.Total < 0 || len(imp.Lines) < imp.Total {
		return importList{}, fmt.Errorf("import %s has no list", imp.ID)
	}
	return importList{bytes.Clone(imp.Lines[:imp.Total]), imp.Lines[imp.Total:]}, nil
}

// lines returns the list in the store's format.
func (l importList) lines() []byte {
	return append(bytes.Clone(l.verdicts), l.packed...)
}

// counts returns the number of processed feeds, and of each outcome.
func (l importList) counts() (done, added, existing, invalid int) {
	n := func(outcome string) int { return bytes.Count(l.verdicts, []byte{outcomeLetters[outcome]}) }
	added, existing, invalid = n(wire.ImportAdded), n(wire.ImportExisting), n(wire.ImportInvalid)
	return added + existing + invalid, added, existing, invalid
}

// chunks calls each with batches of at most size feeds, in order.
func (l importList) chunks(size int, each func(from int, feeds []opml.Feed) error) error {
	var chunk []opml.Feed
	from := 0
	return l.raw(func(i int, line []byte) error {
		var f opml.Feed
		if err := json.Unmarshal(line, &f); err != nil {
			return err
		}
		if chunk = append(chunk, f); len(chunk) < size && i+1 < len(l.verdicts) {
			return nil
		}
		err := each(from, chunk)
		from, chunk = i+1, nil
		return err
	})
}

// raw calls each with the JSON of every feed, in order.
func (l importList) raw(each func(i int, line []byte) error) error {
	zip, err := gzip.NewReader(bytes.NewReader(l.packed))
	if err != nil {
		return err
	}
	r := bufio.NewReaderSize(zip, 64<<10)
	for i := range l.verdicts {
		line, err := r.ReadBytes('\n')
		if err != nil {
			return err
		}
		if err := each(i, line); err != nil {
			return err
		}
	}
	return nil
}

// errPageFull ends an iteration early.
var errPageFull = errors.New("there are more")

// from calls each with the feeds from index after on: all, or those with an outcome. An error of each ends
// the iteration; errPageFull is not returned.
func (l importList) from(after int, outcome string, each func(i int, result wire.ImportResult) error) error {
	err := l.raw(func(i int, line []byte) error {
		if i < after || outcome != "" && l.verdicts[i] != outcomeLetters[outcome] {
			return nil
		}
		var f opml.Feed
		if err := json.Unmarshal(line, &f); err != nil {
			return err
		}
		result, _ := read(f)
		result.Outcome = letterOutcomes[l.verdicts[i]]
		return each(i, result)
	})
	if errors.Is(err, errPageFull) {
		return nil
	}
	return err
}

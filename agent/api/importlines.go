package api

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"feedmesh/agent/role/crawl/fetch"
	"feedmesh/agent/role/parse/feed"
)

// An ImportLine is the result of a feed of an import, and the feed's state since.
type ImportLine struct {
	ImportResult
	Verdict string `json:"verdict" enum:"waiting,left out,added,read,duplicate,redirected,blocked,not a feed,failed,gone,invalid"`
	Detail  string `json:"detail,omitempty" doc:"The verdict's reason, in words."`
	Status  int    `json:"status,omitempty" doc:"HTTP status of its last poll."`
}

// The verdicts on a line, the most urgent first.
const (
	VerdictInvalid    = "invalid"    // not a valid address
	VerdictFailed     = "failed"     // stored, its last poll failed
	VerdictNoFeed     = "not a feed" // stored, its document is not a feed
	VerdictBlocked    = "blocked"    // its address is in a blocked network
	VerdictGone       = "gone"       // its host answered that it is gone
	VerdictRedirected = "redirected" // moved to another address since, or removed
	VerdictWaiting    = "waiting"    // not processed yet
	VerdictLeftOut    = "left out"   // the import was cancelled before it
	VerdictAdded      = "added"      // stored, not polled yet
	VerdictRead       = "read"       // stored, its last poll succeeded
	VerdictDuplicate  = "duplicate"  // stored before, or listed twice
)

// Verdicts lists the verdicts.
var Verdicts = []string{
	VerdictInvalid, VerdictFailed, VerdictNoFeed, VerdictBlocked, VerdictGone, VerdictRedirected,
	VerdictWaiting, VerdictLeftOut, VerdictAdded, VerdictRead, VerdictDuplicate,
}

// An ImportPage is a page of the results of an import.
type ImportPage struct {
	Lines []ImportLine `json:"lines" doc:"One for each feed, in the list's order."`
	Next  int          `json:"next,omitempty" doc:"Value of after for the next page; absent on the last."`
}

// An ImportSearch is a request for a page of an import's lines.
type ImportSearch struct {
	ID      string `path:"id" maxLength:"64"`
	After   int    `query:"after" minimum:"0" doc:"The value of next of the previous page."`
	Limit   int    `query:"limit" minimum:"1" maximum:"1000" default:"100"`
	Outcome string `query:"outcome" enum:"added,known,invalid,waiting" doc:"Only feeds with it."`
	Verdict string `query:"verdict" enum:"waiting,left out,added,read,duplicate,redirected,blocked,not a feed,failed,gone,invalid" doc:"Only feeds with it."`
}

func (s *Server) importLineRoutes(api huma.API) {
	huma.Register(api, op("GET", "/api/imports/{id}/lines", "list-import-lines", "Result of each feed of an import", 404, 503),
		func(ctx context.Context, in *ImportSearch) (*body[ImportPage], error) {
			page, err := s.ImportLines(ctx, *in)
			if err != nil {
				return nil, s.problem(err)
			}
			return &body[ImportPage]{Body: page}, nil
		})
	report := op("GET", "/api/imports/{id}/report", "report-import", "Result of each feed of an import, as CSV", 404, 503)
	report.Responses = map[string]*huma.Response{"200": {Content: map[string]*huma.MediaType{
		"text/csv": {Schema: &huma.Schema{Type: huma.TypeString}},
	}}}
	huma.Register(api, report, func(ctx context.Context, in *byID) (*huma.StreamResponse, error) {
		write, err := s.ImportReport(ctx, in.ID)
		if err != nil {
			return nil, s.problem(err)
		}
		return &huma.StreamResponse{Body: func(answer huma.Context) {
			answer.SetHeader("Content-Type", "text/csv; charset=utf-8")
			answer.SetHeader("Content-Disposition", `attachment; filename="import.csv"`)
			write(answer.BodyWriter())
		}}, nil
	})
}

// ImportLines returns a page of the results of an import.
func (s *Server) ImportLines(ctx context.Context, q ImportSearch) (ImportPage, error) {
	page := ImportPage{Lines: []ImportLine{}}
	last := 0
	more, err := s.eachLine(ctx, q, func(i int, line ImportLine) bool {
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

// ImportReport returns a function that writes the results of an import as CSV. Cells that a spreadsheet would
// evaluate are escaped.
func (s *Server) ImportReport(ctx context.Context, id string) (write func(io.Writer) error, err error) {
	if _, err := s.Import(ctx, id); err != nil {
		return nil, err
	}
	return func(to io.Writer) error {
		file := csv.NewWriter(to)
		file.Write([]string{"line", "url", "verdict", "detail", "status", "feed_id"})
		_, err := s.eachLine(ctx, ImportSearch{ID: id}, func(_ int, line ImportLine) bool {
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
func (s *Server) eachLine(ctx context.Context, q ImportSearch, each func(i int, line ImportLine) bool) (more bool, err error) {
	imp, err := s.Store.Import(ctx, q.ID)
	if err != nil {
		return false, fmt.Errorf("import %s: %w", q.ID, err)
	}
	list, err := listOf(imp)
	if err != nil {
		return false, err
	}
	all, err := s.feedStates.get(ctx, s.Mesh, s.Now())
	if err != nil {
		return false, err
	}
	ended := !imp.Finished.IsZero()
	fresh := !ended || all.at.Sub(imp.Finished) < scheduleLag
	err = list.from(q.After, q.Outcome, func(i int, result ImportResult) error {
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
func importLineOf(result ImportResult, ended, fresh bool, all *stateSnapshot) ImportLine {
	line := ImportLine{ImportResult: result, Detail: result.Reason}
	switch result.Outcome {
	case Invalid:
		line.Verdict = VerdictInvalid
		return line
	case Waiting:
		if line.Verdict = VerdictWaiting; ended {
			line.Verdict, line.Detail = VerdictLeftOut, "the import was cancelled before its turn came"
		}
		return line
	case Existing:
		line.Verdict, line.Detail = VerdictDuplicate, "stored before, or listed twice"
		return line
	}
	state := all.of(result.FeedID)
	switch {
	case state == nil && fresh:
		line.Verdict = VerdictAdded
		return line
	case state == nil:
		line.Verdict, line.Detail = VerdictRedirected, "it lives at another address by now, or was removed"
		return line
	}
	line.Status = int(state.status)
	switch class := all.classes[state.class]; {
	case state.gone:
		line.Verdict = VerdictGone
	case !state.polled:
		line.Verdict = VerdictAdded
	case state.failures == 0:
		line.Verdict = VerdictRead
	default:
		line.Verdict, line.Detail = verdictOf(class), describeClass(class, int(state.status))
	}
	return line
}

// verdictOf returns the verdict on a feed whose last poll failed.
func verdictOf(class string) string {
	switch class {
	case string(fetch.ClassBlocked):
		return VerdictBlocked
	case string(feed.Empty), string(feed.WebPage), string(feed.Challenge), string(feed.OtherJSON), string(feed.OtherXML), string(feed.Other):
		return VerdictNoFeed
	}
	return VerdictFailed
}

package api

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"feedmesh/agent/feed"
	"feedmesh/agent/fetch"
)

// An ImportLine says what became of a feed of a list, and how it has done since.
type ImportLine struct {
	Intake
	Verdict string `json:"verdict" enum:"waiting,left out,added,read,duplicate,redirected,blocked,not a feed,failed,gone,invalid"`
	Detail  string `json:"detail,omitempty" doc:"The verdict's reason, in words."`
	Status  int    `json:"status,omitempty" doc:"HTTP status of its last poll."`
}

// The verdicts on a line, those that a person should see first first.
const (
	VerdictInvalid    = "invalid"    // its address is none
	VerdictFailed     = "failed"     // it is in the store, its last poll failed
	VerdictNoFeed     = "not a feed" // it is in the store, and its document is none
	VerdictBlocked    = "blocked"    // its address leads to where we must not go
	VerdictGone       = "gone"       // its host says so
	VerdictRedirected = "redirected" // it lives at another address by now, or is removed
	VerdictWaiting    = "waiting"    // its turn has not come
	VerdictLeftOut    = "left out"   // the import was cancelled before
	VerdictAdded      = "added"      // it is in the store, and was not read yet
	VerdictRead       = "read"       // it is in the store, and its last poll went well
	VerdictDuplicate  = "duplicate"  // it was in the store, or came twice
)

// Verdicts lists them.
var Verdicts = []string{
	VerdictInvalid, VerdictFailed, VerdictNoFeed, VerdictBlocked, VerdictGone, VerdictRedirected,
	VerdictWaiting, VerdictLeftOut, VerdictAdded, VerdictRead, VerdictDuplicate,
}

// An ImportPage is a page of what became of a list's feeds.
type ImportPage struct {
	Lines []ImportLine `json:"lines" doc:"One for each feed, in the list's order."`
	Next  int          `json:"next,omitempty" doc:"What to give as after for the next page; absent on the last."`
}

// An ImportSearch asks for a page of an import's lines.
type ImportSearch struct {
	ID      string `path:"id" maxLength:"64"`
	After   int    `query:"after" minimum:"0" doc:"Next of the page before."`
	Limit   int    `query:"limit" minimum:"1" maximum:"1000" default:"100"`
	Outcome string `query:"outcome" enum:"added,known,invalid,waiting" doc:"Only feeds with it."`
	Verdict string `query:"verdict" enum:"waiting,left out,added,read,duplicate,redirected,blocked,not a feed,failed,gone,invalid" doc:"Only feeds with it."`
}

func (s *Server) importLineRoutes(api huma.API) {
	huma.Register(api, op("GET", "/api/imports/{id}/lines", "list-import-lines", "What became of each feed of an import", 404, 503),
		func(ctx context.Context, in *ImportSearch) (*body[ImportPage], error) {
			page, err := s.ImportLines(ctx, *in)
			if err != nil {
				return nil, s.problem(err)
			}
			return &body[ImportPage]{Body: page}, nil
		})
	report := op("GET", "/api/imports/{id}/report", "report-import", "What became of each feed of an import, as CSV", 404, 503)
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

// ImportLines returns a page of what became of an import's feeds.
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

// ImportReport returns what writes what became of an import's feeds, as CSV that
// spreadsheets take for text.
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

// eachLine calls each with the lines that are asked for, from 0, until it returns
// false; it reports whether it did.
func (s *Server) eachLine(ctx context.Context, q ImportSearch, each func(i int, line ImportLine) bool) (more bool, err error) {
	imp, err := s.Store.Import(ctx, q.ID)
	if err != nil {
		return false, fmt.Errorf("import %s: %w", q.ID, err)
	}
	list, err := listOf(imp)
	if err != nil {
		return false, err
	}
	all, err := s.states.get(ctx, s.Mesh, s.Now())
	if err != nil {
		return false, err
	}
	ended := !imp.Finished.IsZero()
	fresh := !ended || all.at.Sub(imp.Finished) < scheduleLag
	err = list.from(q.After, q.Outcome, func(i int, intake Intake) error {
		line := judge(intake, ended, fresh, all)
		if q.Verdict != "" && line.Verdict != q.Verdict {
			return ctx.Err()
		}
		if !each(i, line) {
			more = true
			return errFull
		}
		return ctx.Err()
	})
	if err != nil {
		err = fmt.Errorf("import %s: %w", q.ID, err)
	}
	return more, err
}

// scheduleLag is how long after an import the schedule may not know all its feeds.
const scheduleLag = time.Minute

// judge says what became of a feed of a list. all are the feeds that the schedule
// knows; fresh says that it may not know all of the list's.
func judge(intake Intake, ended, fresh bool, all *standings) ImportLine {
	line := ImportLine{Intake: intake, Detail: intake.Reason}
	switch intake.Outcome {
	case Invalid:
		line.Verdict = VerdictInvalid
		return line
	case Waiting:
		if line.Verdict = VerdictWaiting; ended {
			line.Verdict, line.Detail = VerdictLeftOut, "the import was cancelled before its turn came"
		}
		return line
	case Known:
		line.Verdict, line.Detail = VerdictDuplicate, "it was known already, or is listed twice"
		return line
	}
	state := all.of(intake.FeedID)
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
		line.Verdict, line.Detail = verdictOf(class), whatClass(class, int(state.status))
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

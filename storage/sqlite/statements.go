package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// A reader has the statements that any of the reading connections may run.
type reader struct {
	feed, feeds, counts, resolve                              *sql.Stmt
	known, items, since, days, stamps                         *sql.Stmt
	proxies, importByID, imports                              *sql.Stmt
	rules, ruleVersions, tokens                               *sql.Stmt
	spam, spamOf                                              *sql.Stmt
	countSpam, countSpamOf                                    *sql.Stmt
	corrections, jobByID, jobs                                *sql.Stmt
	storySums, newestOfStory, tellingItems, repeats           *sql.Stmt
	story, someStories, stories, newestStories                *sql.Stmt
	untold, sightings, liveEvents, itemsOfEvents, reach, note *sql.Stmt
	arrivals                                                  *sql.Stmt
	marksOf, countUnread, itemsBeginning, searches            *sql.Stmt
}

func newReader(ctx context.Context, db *sql.DB) (*reader, error) {
	r := &reader{}
	return r, prepareAll(ctx, db, map[**sql.Stmt]string{
		&r.feed:         feedByID,
		&r.feeds:        feedsByURL,
		&r.counts:       counts,
		&r.resolve:      resolveFeed,
		&r.known:        knownItems,
		&r.items:        itemsByID,
		&r.since:        itemsSince,
		&r.days:         countByDay,
		&r.stamps:       stampsOfDay,
		&r.proxies:      allProxies,
		&r.tokens:       allTokens,
		&r.importByID:   importByID,
		&r.imports:      newestImports,
		&r.rules:        rulesByVersion,
		&r.ruleVersions: ruleVersions,
		&r.spam:         newestSpam,
		&r.spamOf:       newestSpamOf,
		&r.countSpam:    countSpam,
		&r.countSpamOf:  countSpamOf,
		&r.corrections:  correctionsByTime,
		&r.jobByID:      jobByID,
		&r.jobs:         newestJobs,

		&r.storySums:     storySums,
		&r.newestOfStory: newestOfStory,
		&r.tellingItems:  tellingItems,
		&r.repeats:       repeatsOfItem,
		&r.story:         storyByID,
		&r.someStories:   storiesByID,
		&r.stories:       storiesByRank,
		&r.newestStories: newestStories,
		&r.untold:        oldestMarks,
		&r.sightings:     sightings,
		&r.liveEvents:    liveEvents,
		&r.itemsOfEvents: itemsOfEvents,
		&r.reach:         reachOfFeeds,
		&r.note:          noteByName,

		&r.marksOf:        marksOf,
		&r.countUnread:    countUnread,
		&r.itemsBeginning: itemsBeginning,
		&r.searches:       allSearches,
		&r.arrivals:       arrivals,
	})
}

// A writer has the one connection that writes, and its statements.
type writer struct {
	conn                                                 *sql.Conn
	addFeed, setFeed                                     *sql.Stmt
	freeDuplicates, removeItems, forgetMoved, removeFeed *sql.Stmt
	fence, nextFence                                     *sql.Stmt
	feed, setStatistics, setWords                        *sql.Stmt
	storedItems, putItem, lastItem                       *sql.Stmt
	feedByID, resolve, takeBack, passOn, standFor, merge *sql.Stmt
	repeatsOf, repeatItem, makeFirst                     *sql.Stmt
	itemsToMove, renameItem, dropItem                    *sql.Stmt
	putProxy, removeProxy, putImport, forgetImports      *sql.Stmt
	cancelImport                                         *sql.Stmt
	ruleVersions, putRules, forgetRules                  *sql.Stmt
	items, openLabels, setLabels                         *sql.Stmt
	keepLabels, keptLabels, dropKept, forgetLabels       *sql.Stmt
	correctionOf, putCorrection, dropCorrection          *sql.Stmt
	forgetKeptOf, uncorrect                              *sql.Stmt
	putJob, forgetJobs, cancelJob                        *sql.Stmt
	spamBegins, spamEnds, dropSpam                       *sql.Stmt
	forgetSpam, forgetCorrections, forgetKept            *sql.Stmt
	renameSpam, renameCorrection, renameKept             *sql.Stmt
	markStories, markItem, markOfFeed                    *sql.Stmt
	forgetMoves, putMove, movedEvents                    *sql.Stmt
	eventsOf, forgetEvent, addEvent                      *sql.Stmt
	setStory, placements, placeItem                      *sql.Stmt
	tellStory, forgetStories, forgetMarks                *sql.Stmt
	click, putNote                                       *sql.Stmt
	roomForToken, addToken, useToken, removeToken        *sql.Stmt
	markItems, readUntil, allReadUntil, readUnread       *sql.Stmt
	forgetMarksOf, forgetUntil, putSearch, removeSearch  *sql.Stmt
	sayRead, forgetReadFeed, renameMarks, takeMarks      *sql.Stmt
	dropMarks, forgetFeedMarks                           *sql.Stmt
}

// newWriter returns a writer to close even if there is an error.
func newWriter(ctx context.Context, conn *sql.Conn) (*writer, error) {
	w := &writer{conn: conn}
	return w, prepareAll(ctx, conn, w.statements())
}

func (w *writer) statements() map[**sql.Stmt]string {
	return map[**sql.Stmt]string{
		&w.addFeed:           addFeed,
		&w.setFeed:           setFeed,
		&w.freeDuplicates:    freeDuplicates,
		&w.removeItems:       removeItems,
		&w.forgetMoved:       forgetMoved,
		&w.removeFeed:        removeFeed,
		&w.fence:             newestFence,
		&w.nextFence:         nextFence,
		&w.feed:              feedStatistics,
		&w.setStatistics:     setFeedStatistics,
		&w.setWords:          setFeedWords,
		&w.storedItems:       storedItems,
		&w.putItem:           putItem,
		&w.lastItem:          lastItem,
		&w.feedByID:          feedByID,
		&w.resolve:           resolveFeed,
		&w.takeBack:          takeBack,
		&w.passOn:            passOn,
		&w.standFor:          standFor,
		&w.merge:             mergeFeed,
		&w.itemsToMove:       itemsToMove,
		&w.repeatsOf:         repeatsOf,
		&w.repeatItem:        repeatItem,
		&w.renameItem:        renameItem,
		&w.dropItem:          dropItem,
		&w.makeFirst:         makeFirst,
		&w.putProxy:          putProxy,
		&w.removeProxy:       removeProxy,
		&w.putImport:         putImport,
		&w.forgetImports:     forgetImports,
		&w.cancelImport:      cancelImport,
		&w.ruleVersions:      ruleVersions,
		&w.putRules:          putRules,
		&w.forgetRules:       forgetRules,
		&w.items:             itemsByID,
		&w.openLabels:        openLabels,
		&w.setLabels:         setLabels,
		&w.keepLabels:        keepLabels,
		&w.keptLabels:        keptLabels,
		&w.dropKept:          dropKept,
		&w.forgetLabels:      forgetLabels,
		&w.correctionOf:      correctionOf,
		&w.putCorrection:     putCorrection,
		&w.dropCorrection:    dropCorrection,
		&w.forgetKeptOf:      forgetKeptOf,
		&w.uncorrect:         uncorrect,
		&w.putJob:            putJob,
		&w.forgetJobs:        forgetJobs,
		&w.cancelJob:         cancelJob,
		&w.spamBegins:        spamBegins,
		&w.spamEnds:          spamEnds,
		&w.forgetSpam:        forgetSpam,
		&w.forgetCorrections: forgetCorrections,
		&w.forgetKept:        forgetKept,
		&w.renameSpam:        renameSpam,
		&w.renameCorrection:  renameCorrection,
		&w.renameKept:        renameKept,
		&w.dropSpam:          dropSpam,
		&w.markStories:       markStories,
		&w.markItem:          markItem,
		&w.markOfFeed:        markOfFeed,
		&w.forgetMoves:       forgetMoves,
		&w.putMove:           putMove,
		&w.movedEvents:       storiesOfMoved,
		&w.eventsOf:          eventsOf,
		&w.forgetEvent:       forgetEvent,
		&w.addEvent:          addEvent,
		&w.setStory:          setStory,
		&w.placements:        placementsByID,
		&w.placeItem:         placeItem,
		&w.tellStory:         tellStory,
		&w.forgetStories:     forgetStories,
		&w.forgetMarks:       forgetMarks,
		&w.click:             click,
		&w.putNote:           putNote,
		&w.markItems:         markItems,
		&w.readUntil:         readUntil,
		&w.allReadUntil:      allReadUntil,
		&w.readUnread:        readUnread,
		&w.forgetMarksOf:     forgetMarksOf,
		&w.forgetUntil:       forgetUntil,
		&w.sayRead:           sayRead,
		&w.forgetReadFeed:    forgetReadFeed,
		&w.renameMarks:       renameMarks,
		&w.takeMarks:         takeMarks,
		&w.dropMarks:         dropMarks,
		&w.forgetFeedMarks:   forgetFeedMarks,
		&w.putSearch:         putSearch,
		&w.removeSearch:      removeSearch,
		&w.roomForToken:      roomForToken,
		&w.addToken:          addToken,
		&w.useToken:          useToken,
		&w.removeToken:       removeToken,
	}
}

// close also closes the statements, which an [sql.Conn] does not do by itself.
func (w *writer) close() error {
	var errs []error
	for stmt := range w.statements() {
		if *stmt != nil {
			errs = append(errs, (*stmt).Close())
		}
	}
	return errors.Join(append(errs, w.conn.Close())...)
}

func prepareAll(ctx context.Context, on interface {
	PrepareContext(context.Context, string) (*sql.Stmt, error)
}, statements map[**sql.Stmt]string) (err error) {
	for stmt, text := range statements {
		if *stmt, err = on.PrepareContext(ctx, text); err != nil {
			return fmt.Errorf("prepare %s: %w", text, err)
		}
	}
	return nil
}

// A scanner is an [sql.Row] or the current one of [sql.Rows].
type scanner interface{ Scan(...any) error }

// collect reads all rows before it returns, so that no read stays open, which
// would keep the log from being cut.
func collect[T any](ctx context.Context, stmt *sql.Stmt, scan func(scanner) (T, error), args ...any) ([]T, error) {
	rows, err := stmt.QueryContext(ctx, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []T
	for rows.Next() {
		one, err := scan(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, rows.Err()
}

// query is [collect] for a statement that is made for the occasion.
func query[T any](ctx context.Context, s *Store, scan func(scanner) (T, error), text string, args ...any) ([]T, error) {
	stmt, err := s.readers.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	defer stmt.Close()
	return collect(ctx, stmt, scan, args...)
}

func scanText(row scanner) (text string, err error) {
	err = row.Scan(&text)
	return text, err
}

// changes reports whether a statement changed any row.
func changes(result sql.Result, err error) (bool, error) {
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	return n > 0, err
}

package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// A reader contains the statements of the pool of reading connections.
type reader struct {
	feed, feeds, counts, resolve                                       *sql.Stmt
	itemHashes, items, since, days, stamps                             *sql.Stmt
	spam, spamOf                                                       *sql.Stmt
	countSpam, countSpamOf                                             *sql.Stmt
	corrections                                                        *sql.Stmt
	storyTotals, newestOfStory, itemsOfStories, duplicates             *sql.Stmt
	story, someStories, stories, newestStories                         *sql.Stmt
	dirtyStories, sightings, recentEvents, itemsOfEvents, feedCoverage *sql.Stmt
	arrivals                                                           *sql.Stmt
	marksOf, countUnread, itemsByIDPrefix                              *sql.Stmt
}

func newReader(ctx context.Context, db *sql.DB) (*reader, error) {
	r := &reader{}
	return r, prepareAll(ctx, db, map[**sql.Stmt]string{
		&r.feed:        feedByID,
		&r.resolve:     resolveFeed,
		&r.itemHashes:  itemHashes,
		&r.items:       itemsByID,
		&r.since:       itemsByTime,
		&r.days:        countByDay,
		&r.stamps:      stampsOfDay,
		&r.spam:        newestSpam,
		&r.spamOf:      newestSpamOf,
		&r.countSpam:   countSpam,
		&r.countSpamOf: countSpamOf,
		&r.corrections: correctionsByTime,

		&r.storyTotals:    storyTotals,
		&r.newestOfStory:  newestOfStory,
		&r.itemsOfStories: itemsOfStories,
		&r.duplicates:     duplicatesOfItem,
		&r.someStories:    storiesByID,
		&r.stories:        storiesByRank,
		&r.newestStories:  newestStories,
		&r.dirtyStories:   oldestDirtyStories,
		&r.sightings:      sightings,
		&r.recentEvents:   recentEvents,
		&r.itemsOfEvents:  itemsOfEvents,
		&r.feedCoverage:   feedCoverage,

		&r.marksOf:         marksOf,
		&r.countUnread:     countUnread,
		&r.itemsByIDPrefix: itemsByIDPrefix,
		&r.arrivals:        arrivals,
	})
}

// A writer contains the only writing connection and its statements.
type writer struct {
	conn                                                                 *sql.Conn
	addFeed, setFeed                                                     *sql.Stmt
	freeDuplicates, removeItems, deleteRedirects, removeFeed             *sql.Stmt
	fence, nextFence                                                     *sql.Stmt
	feed, setStatistics, setWords                                        *sql.Stmt
	storedItems, putItem, lastItem                                       *sql.Stmt
	feedByID, resolve, deleteRedirect, moveRedirects, putRedirect, merge *sql.Stmt
	duplicatesOfFeed, setDuplicateOf, makeOriginal                       *sql.Stmt
	itemsToMove, renameItem, deleteItem                                  *sql.Stmt
	items, uncorrectedLabels, setLabels                                  *sql.Stmt
	saveLabels, savedLabels, deleteRestoredLabels, deleteSavedLabels     *sql.Stmt
	correctionOf, putCorrection, deleteCorrection                        *sql.Stmt
	deleteSavedLabelsOfItem, clearCorrected                              *sql.Stmt
	putSpam, deleteSpamUnlessLabeled, deleteSpam                         *sql.Stmt
	deleteSpamOfFeed, deleteCorrectionsOfFeed, deleteSavedLabelsOfFeed   *sql.Stmt
	renameSpam, renameCorrection, renameSavedLabels                      *sql.Stmt
	addDirtyStories, addDirtyStoryOfItem, addDirtyStoriesOfFeed          *sql.Stmt
	deleteOldMoves, putMove, movedEvents                                 *sql.Stmt
	eventsOf, deleteEventStories, addEvent                               *sql.Stmt
	setStory, placements, placeItem                                      *sql.Stmt
	putStoryStmt, deleteStories, deleteDirtyStories                      *sql.Stmt
	addClicks, putNote                                                   *sql.Stmt
	markItems, readUntil, allReadUntil, readUnread                       *sql.Stmt
	deleteMarksOfClient, deleteReadUntilOfClient                         *sql.Stmt
	addReadMarks, deleteReadUntilOfFeed, renameMarks, mergeMarks         *sql.Stmt
	deleteMarksOfItem, deleteMarksOfFeed                                 *sql.Stmt
}

// newWriter opens a writer. The caller must close it even after an error.
func newWriter(ctx context.Context, conn *sql.Conn) (*writer, error) {
	w := &writer{conn: conn}
	return w, prepareAll(ctx, conn, w.statements())
}

func (w *writer) statements() map[**sql.Stmt]string {
	return map[**sql.Stmt]string{
		&w.addFeed:                 addFeed,
		&w.setFeed:                 setFeed,
		&w.freeDuplicates:          freeDuplicates,
		&w.removeItems:             removeItems,
		&w.deleteRedirects:         deleteRedirects,
		&w.removeFeed:              removeFeed,
		&w.fence:                   newestFence,
		&w.nextFence:               nextFence,
		&w.feed:                    feedStatistics,
		&w.setStatistics:           setFeedStatistics,
		&w.setWords:                setFeedWords,
		&w.storedItems:             storedItems,
		&w.putItem:                 putItem,
		&w.lastItem:                lastItem,
		&w.feedByID:                feedByID,
		&w.resolve:                 resolveFeed,
		&w.deleteRedirect:          deleteRedirect,
		&w.moveRedirects:           moveRedirects,
		&w.putRedirect:             putRedirect,
		&w.merge:                   mergeFeed,
		&w.itemsToMove:             itemsToMove,
		&w.duplicatesOfFeed:        duplicatesOfFeed,
		&w.setDuplicateOf:          setDuplicateOf,
		&w.renameItem:              renameItem,
		&w.deleteItem:              deleteItem,
		&w.makeOriginal:            makeOriginal,
		&w.items:                   itemsByID,
		&w.uncorrectedLabels:       uncorrectedLabels,
		&w.setLabels:               setLabels,
		&w.saveLabels:              saveLabels,
		&w.savedLabels:             savedLabels,
		&w.deleteRestoredLabels:    deleteRestoredLabels,
		&w.correctionOf:            correctionOf,
		&w.putCorrection:           putCorrection,
		&w.deleteCorrection:        deleteCorrection,
		&w.deleteSavedLabelsOfItem: deleteSavedLabelsOfItem,
		&w.clearCorrected:          clearCorrected,
		&w.putSpam:                 putSpam,
		&w.deleteSpamUnlessLabeled: deleteSpamUnlessLabeled,
		&w.deleteSpamOfFeed:        deleteSpamOfFeed,
		&w.deleteCorrectionsOfFeed: deleteCorrectionsOfFeed,
		&w.deleteSavedLabelsOfFeed: deleteSavedLabelsOfFeed,
		&w.renameSpam:              renameSpam,
		&w.renameCorrection:        renameCorrection,
		&w.renameSavedLabels:       renameSavedLabels,
		&w.deleteSpam:              deleteSpam,
		&w.addDirtyStories:         addDirtyStories,
		&w.addDirtyStoryOfItem:     addDirtyStoryOfItem,
		&w.addDirtyStoriesOfFeed:   addDirtyStoriesOfFeed,
		&w.deleteOldMoves:          deleteOldMoves,
		&w.putMove:                 putMove,
		&w.movedEvents:             storiesOfMoved,
		&w.eventsOf:                eventsOf,
		&w.deleteEventStories:      deleteEventStories,
		&w.addEvent:                addEvent,
		&w.setStory:                setStory,
		&w.placements:              placementsByID,
		&w.placeItem:               placeItem,
		&w.putStoryStmt:            putStory,
		&w.deleteStories:           deleteStories,
		&w.deleteDirtyStories:      deleteDirtyStories,
		&w.addClicks:               addClicks,
		&w.putNote:                 putNote,
		&w.markItems:               markItems,
		&w.readUntil:               readUntil,
		&w.allReadUntil:            allReadUntil,
		&w.readUnread:              readUnread,
		&w.deleteMarksOfClient:     deleteMarksOfClient,
		&w.deleteReadUntilOfClient: deleteReadUntilOfClient,
		&w.addReadMarks:            addReadMarks,
		&w.deleteReadUntilOfFeed:   deleteReadUntilOfFeed,
		&w.renameMarks:             renameMarks,
		&w.mergeMarks:              mergeMarks,
		&w.deleteMarksOfItem:       deleteMarksOfItem,
		&w.deleteMarksOfFeed:       deleteMarksOfFeed,
	}
}

// close closes the connection and its statements, which [sql.Conn] leaves open.
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

// A scanner is an [sql.Row], or the current row of [sql.Rows].
type scanner interface{ Scan(...any) error }

// collect reads all rows before it returns. An open read would prevent truncating the log.
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

// query is [collect] for a statement that is prepared for one call.
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

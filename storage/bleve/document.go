package bleve

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/blevesearch/bleve/v2/document"
	bleveindex "github.com/blevesearch/bleve_index_api"

	"feedmesh/classify/query"
	"feedmesh/storage"
)

// A keywordField is a field of a document whose terms are whole values.
type keywordField struct {
	name    string
	options bleveindex.FieldIndexingOptions
	matches query.Field                       // the searched field with these values, if any
	facet   string                            // the name in [storage.FacetNames], if any
	values  func(*storage.IndexItem) []string // of an item; nil for fields of stories
}

// Keyword fields that searches, stamps or stories name. All others are only in keywordFields.
const (
	fieldID        = "_id" // of Bleve: the document's ID
	fieldFlag      = "flag"
	fieldStory     = "story"
	fieldKind      = "kind"      // see kindOf and kindStory
	fieldStanding  = "standing"  // a hexadecimal digit, see baseProminence
	fieldPublished = "published" // see sortable
	fieldDay       = "day"       // see dayOf
	fieldStamp     = "stamp"     // see stampOf
	fieldTitleWord = "titleword" // words of titles, to suggest
)

// keywordFields are all of them except the words of titles. A new one, or another form of values, needs another
// format.
var keywordFields = [...]keywordField{
	{"feed", shared, query.Feed, "feed", func(it *storage.IndexItem) []string { return []string{it.FeedID} }},
	{"category", shared, query.Category, "category", func(it *storage.IndexItem) []string { return it.Categories }},
	{"topic", shared, query.Topic, "topic", func(it *storage.IndexItem) []string { return it.Topics }},
	{fieldFlag, shared, "", "", func(it *storage.IndexItem) []string { return it.Flags }},
	{"language", shared, query.Language, "language", func(it *storage.IndexItem) []string { return []string{it.Language} }},
	{"host", shared, query.Host, "", func(it *storage.IndexItem) []string { return query.Hosts(it.URL) }},
	{fieldStory, lone, query.Story, "", func(it *storage.IndexItem) []string { return []string{it.StoryID} }},
	{"sentiment", shared, "", "sentiment", func(it *storage.IndexItem) []string { return []string{storage.SentimentOf(it.Sentiment)} }},
	{fieldKind, shared, "", "", func(it *storage.IndexItem) []string {
		return []string{kindOf(it.Spam, it.DuplicateOf != "", slices.Contains(it.Flags, storage.FlagMuted))}
	}},
	{fieldStanding, shared, "", "", func(it *storage.IndexItem) []string {
		return []string{strconv.FormatInt(int64(baseProminence(it)), 16)}
	}},
	{fieldPublished, lone | bleveindex.DocValues, "", "", func(it *storage.IndexItem) []string { return []string{sortable(it.Published)} }},
	{"date", shared, "", "day", func(it *storage.IndexItem) []string { return []string{it.Published.UTC().Format(time.DateOnly)} }},
	{fieldDay, shared, "", "", func(it *storage.IndexItem) []string { return []string{dayOf(it.FirstSeen)} }},
	{fieldStamp, lone, "", "", func(it *storage.IndexItem) []string { return []string{stampOf(&it.Item)} }},
	{fieldBoost, lone, "", "", nil},
}

// Most terms of a lone field occur in one document. Zapx stores such a term smallest and reads it fastest,
// but only with its frequency.
const (
	lone   = bleveindex.IndexField
	shared = bleveindex.IndexField | bleveindex.SkipFreqNorm
)

// fieldOfFacet returns the name of the field that a facet counts.
func fieldOfFacet(facet string) string {
	return keywordFields[slices.IndexFunc(keywordFields[:], func(f keywordField) bool { return f.facet == facet })].name
}

// documentOf converts an item to the document that bleve indexes. Bleve's own mapping of structs would store
// and index far more.
func documentOf(it *storage.IndexItem) *document.Document {
	return newDocument(it, func(f *keywordField) []string {
		if f.values == nil {
			return nil
		}
		return f.values(it)
	})
}

// newDocument returns a document with the ID and words of an item, and with values. It always has all fields:
// a merge copies segments with equal fields, and must rewrite others.
func newDocument(it *storage.IndexItem, values func(*keywordField) []string) *document.Document {
	doc := document.NewDocument(it.ID)
	for i := range keywordFields {
		field := &keywordFields[i]
		doc.AddField(&keywords{name: field.name, options: field.options, values: values(field)})
	}
	suggested := &keywords{name: fieldTitleWord, options: shared}
	for _, field := range wordFields {
		words := &wordsOf{name: field.name, texts: field.texts(it)}
		if field.name == fieldTitle {
			words.written = suggested
		}
		doc.AddField(words)
	}
	doc.AddField(suggested) // after the title, whose analysis fills its values
	return doc
}

// kindOf returns the term that combines the flags spam, duplicate and muted.
func kindOf(spam, duplicate, muted bool) string {
	kind := "item"
	if spam {
		kind = "spam"
	}
	if duplicate {
		kind += " duplicate"
	}
	if muted {
		kind += " muted"
	}
	return kind
}

// dayOf returns the day of t as a term.
func dayOf(t time.Time) string { return sortable(storage.Day(t)) }

// sortable formats t, to the microsecond, so that texts sort by time.
func sortable(t time.Time) string { return fmt.Sprintf("%016x", uint64(t.UnixMicro())^sign) }

// stampOf returns the day, the ID and the time of change of an item as one term, so that the terms of a day
// are its stamps, ordered by ID. The NUL, which no ID contains, orders an ID before all IDs that it is a
// prefix of.
func stampOf(it *storage.Item) string {
	return dayOf(it.FirstSeen) + it.ID + "\x00" + sortable(it.Changed)
}

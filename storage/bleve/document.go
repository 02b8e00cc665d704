package bleve

import (
	"slices"
	"strconv"
	"time"

	"github.com/blevesearch/bleve/v2/document"
	bleveindex "github.com/blevesearch/bleve_index_api"

	"feedmesh/classify/query"
	"feedmesh/storage"
)

// The keyword fields of a document: their terms are whole values.
const (
	fieldFeed      = "feed"
	fieldCategory  = "category"
	fieldTopic     = "topic"
	fieldFlag      = "flag"
	fieldLanguage  = "language"
	fieldHost      = "host"
	fieldStory     = "story"
	fieldSentiment = "sentiment" // see [storage.SentimentOf]
	fieldKind      = "kind"      // see kindOf and kindTold
	fieldStanding  = "standing"  // a hexadecimal digit, see standing
	fieldPublished = "published" // see sortable
	fieldDate      = "date"      // day of publication, as the facet has it
	fieldDay       = "day"       // see dayOf
	fieldStamp     = "stamp"     // see stampOf
	fieldTitleWord = "titleword" // words of titles, to suggest
)

// keywordFields are these fields except the words of titles, plus the field of stories.
var keywordFields = [...]struct {
	name    string
	options bleveindex.FieldIndexingOptions
}{
	{fieldFeed, shared}, {fieldCategory, shared}, {fieldTopic, shared}, {fieldFlag, shared}, {fieldLanguage, shared},
	{fieldHost, shared}, {fieldStory, lone}, {fieldSentiment, shared}, {fieldKind, shared}, {fieldStanding, shared},
	{fieldPublished, lone | bleveindex.DocValues}, {fieldDate, shared}, {fieldDay, shared}, {fieldStamp, lone}, {fieldBoost, lone},
}

// Most terms of a lone field occur in one document. Zapx stores such a term smallest and reads it fastest,
// but only with its frequency.
const (
	lone   = bleveindex.IndexField
	shared = bleveindex.IndexField | bleveindex.SkipFreqNorm
)

// documentOf converts an item to the document that bleve indexes. Bleve's own mapping of structs would store
// and index far more.
func documentOf(it *storage.IndexItem) *document.Document {
	return newDocument(it, map[string][]string{
		fieldFeed:      {it.FeedID},
		fieldCategory:  it.Categories,
		fieldTopic:     it.Topics,
		fieldFlag:      it.Flags,
		fieldLanguage:  {it.Language},
		fieldHost:      query.Hosts(it.URL),
		fieldStory:     {it.StoryID},
		fieldSentiment: {storage.SentimentOf(it.Sentiment)},
		fieldKind:      {kindOf(it.Spam, it.DuplicateOf != "", slices.Contains(it.Flags, storage.FlagMuted))},
		fieldStanding:  {strconv.FormatInt(int64(baseProminence(it)), 16)},
		fieldPublished: {sortable(it.Published)},
		fieldDate:      {it.Published.UTC().Format(time.DateOnly)},
		fieldDay:       {dayOf(it.FirstSeen)},
		fieldStamp:     {stampOf(&it.Item)},
	})
}

// newDocument returns a document with the ID and words of an item, and with values. It always has all fields:
// a merge copies segments with equal fields, and must rewrite others.
func newDocument(it *storage.IndexItem, values map[string][]string) *document.Document {
	doc := document.NewDocument(it.ID)
	for _, field := range keywordFields {
		doc.AddField(&keywords{name: field.name, options: field.options, values: values[field.name]})
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

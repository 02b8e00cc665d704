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

// The fields of a document that are not words: they have whole values as terms.
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

// keywordFields are these but for the words of titles, and that of stories.
var keywordFields = [...]struct {
	name    string
	options bleveindex.FieldIndexingOptions
}{
	{fieldFeed, shared}, {fieldCategory, shared}, {fieldTopic, shared}, {fieldFlag, shared}, {fieldLanguage, shared},
	{fieldHost, shared}, {fieldStory, lone}, {fieldSentiment, shared}, {fieldKind, shared}, {fieldStanding, shared},
	{fieldPublished, lone | bleveindex.DocValues}, {fieldDate, shared}, {fieldDay, shared}, {fieldStamp, lone}, {fieldTold, lone},
}

// Most terms of a lone field are of one document. Zapx writes such a term in the
// least room, and reads it the quickest, but only with its frequency.
const (
	lone   = bleveindex.IndexField
	shared = bleveindex.IndexField | bleveindex.SkipFreqNorm
)

// document returns what bleve indexes of an item. It is made by hand, since
// bleve's mapping of structs would store and index far more.
func (x *Index) document(it *storage.Indexed) *document.Document {
	return newDocument(it, map[string][]string{
		fieldFeed:      {it.FeedID},
		fieldCategory:  it.Categories,
		fieldTopic:     it.Topics,
		fieldFlag:      it.Flags,
		fieldLanguage:  {it.Language},
		fieldHost:      query.Hosts(it.URL),
		fieldStory:     {it.StoryID},
		fieldSentiment: {storage.SentimentOf(it.Sentiment)},
		fieldKind:      {kindOf(it.Spam, it.DuplicateOf != "", slices.Contains(it.Flags, storage.Muted))},
		fieldStanding:  {strconv.FormatInt(int64(standing(it)), 16)},
		fieldPublished: {sortable(it.Published)},
		fieldDate:      {it.Published.UTC().Format(time.DateOnly)},
		fieldDay:       {dayOf(it.FirstSeen)},
		fieldStamp:     {stampOf(&it.Item)},
	})
}

// newDocument returns a document with the ID and words of an item, and with values.
// It has all the fields there are: of segments that differ in theirs, a merge takes
// apart and writes anew what it otherwise copies.
func newDocument(it *storage.Indexed, values map[string][]string) *document.Document {
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
	doc.AddField(suggested) // after the title, which gives it its values
	return doc
}

// kindOf returns the one term that says whether an item is spam, whether it is a
// duplicate, and whether it is muted.
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

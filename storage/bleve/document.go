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

const keyword = bleveindex.IndexField | bleveindex.SkipFreqNorm

// document returns what bleve indexes of an item. It is made by hand, since
// bleve's mapping of structs would store and index far more.
func (x *Index) document(it *storage.Indexed) *document.Document {
	doc := document.NewDocument(it.ID)
	add := func(name, value string, options bleveindex.FieldIndexingOptions) {
		if value != "" {
			doc.AddField(document.NewTextFieldCustom(name, nil, []byte(value), options, nil))
		}
	}
	add(fieldFeed, it.FeedID, keyword)
	add(fieldLanguage, it.Language, keyword)
	for _, category := range it.Categories {
		add(fieldCategory, category, keyword)
	}
	for _, topic := range it.Topics {
		add(fieldTopic, topic, keyword)
	}
	for _, flag := range it.Flags {
		add(fieldFlag, flag, keyword)
	}
	for _, host := range query.Hosts(it.URL) {
		add(fieldHost, host, keyword)
	}
	add(fieldStory, it.StoryID, keyword)
	add(fieldSentiment, storage.SentimentOf(it.Sentiment), keyword)
	add(fieldKind, kindOf(it.Spam, it.DuplicateOf != "", slices.Contains(it.Flags, storage.Muted)), keyword)
	add(fieldStanding, strconv.FormatInt(int64(standing(it)), 16), keyword)
	add(fieldPublished, sortable(it.Published), keyword|bleveindex.DocValues)
	add(fieldDate, it.Published.UTC().Format(time.DateOnly), keyword)
	add(fieldDay, dayOf(it.FirstSeen), keyword)
	add(fieldStamp, stampOf(&it.Item), keyword)
	for _, word := range titleWords(it.Title) {
		add(fieldTitleWord, word, keyword)
	}

	for _, field := range wordFields {
		doc.AddField(&wordsOf{name: field.name, texts: field.texts(it)})
	}
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

// titleWords returns the words of a title that are worth a suggestion, each once.
func titleWords(title string) []string {
	var words []string
	for _, word := range query.Words(title) {
		words = append(words, word.Text)
	}
	slices.Sort(words)
	return slices.Compact(words)
}

package bleve

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/blevesearch/bleve/v2/document"
	bleveindex "github.com/blevesearch/bleve_index_api"

	"feedmesh/classify/text"
	"feedmesh/storage"
)

// The fields of a document. Those in wordFields have words, the others have
// whole values as terms.
const (
	fieldFeed      = "feed"
	fieldCategory  = "category"
	fieldTopic     = "topic"
	fieldFlag      = "flag"
	fieldLanguage  = "language"
	fieldSentiment = "sentiment" // see [storage.SentimentOf]
	fieldKind      = "kind"      // see kindOf
	fieldOrder     = "order"     // see orderOf
	fieldDay       = "day"       // see dayOf
	fieldStamp     = "stamp"     // see stampOf
)

const (
	keyword = bleveindex.IndexField | bleveindex.SkipFreqNorm // for filters
	column  = keyword | bleveindex.DocValues                  // for facets and order too
)

// document returns what bleve indexes of an item. It is made by hand, since
// bleve's mapping of structs would store and index far more.
func (x *Index) document(it *storage.Indexed) *document.Document {
	doc := document.NewDocument(it.ID)
	add := func(name, value string, options bleveindex.FieldIndexingOptions) {
		if value != "" {
			doc.AddField(document.NewTextFieldCustom(name, nil, []byte(value), options, nil))
		}
	}
	add(fieldFeed, it.FeedID, column)
	add(fieldLanguage, it.Language, column)
	for _, category := range it.Categories {
		add(fieldCategory, category, column)
	}
	for _, topic := range it.Topics {
		add(fieldTopic, topic, column)
	}
	for _, flag := range it.Flags {
		add(fieldFlag, flag, keyword)
	}
	add(fieldSentiment, storage.SentimentOf(it.Sentiment), column)
	add(fieldKind, kindOf(it.Spam, it.DuplicateOf != "", slices.Contains(it.Flags, storage.Muted)), keyword)
	add(fieldOrder, orderOf(it.Published)+it.ID, column)
	add(fieldDay, dayOf(it.FirstSeen), keyword)
	add(fieldStamp, stampOf(&it.Item), keyword)

	for _, field := range wordFields {
		doc.AddField(&wordField{name: field.name, texts: field.texts(it)})
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

// orderOf returns 16 characters that sort newest first. Followed by the item's
// ID they are its place in the order by time. They are hexadecimal since
// scorch ends a value at a byte 0xff.
func orderOf(published time.Time) string {
	const sign = 1 << 63 // times before 1970 are negative
	return fmt.Sprintf("%016x", math.MaxUint64-(uint64(published.UnixMicro())^sign))
}

// A wordField is a field of words, searchable by stem. Bleve calls Analyze,
// concurrently for several documents, then asks for what it found.
type wordField struct {
	name  string
	texts []string

	length int
	stem   bleveindex.TokenFrequencies
}

func (f *wordField) Analyze() {
	for _, s := range f.texts {
		words := text.Words(s)
		if f.stem == nil {
			f.stem = make(bleveindex.TokenFrequencies, len(words))
		}
		f.length += len(words)
		for _, word := range words {
			stem := stemOf(word)
			freq := f.stem[stem]
			if freq == nil {
				freq = new(bleveindex.TokenFreq)
				f.stem[stem] = freq
			}
			freq.SetFrequency(freq.Frequency() + 1)
		}
	}
}

func (f *wordField) Name() string                                          { return f.name }
func (f *wordField) AnalyzedLength() int                                   { return f.length }
func (f *wordField) AnalyzedTokenFrequencies() bleveindex.TokenFrequencies { return f.stem }
func (f *wordField) Options() bleveindex.FieldIndexingOptions              { return bleveindex.IndexField }
func (f *wordField) EncodedFieldType() byte                                { return 't' }
func (f *wordField) ArrayPositions() []uint64                              { return nil }
func (f *wordField) Value() []byte                                         { return nil } // never stored
func (f *wordField) NumPlainTextBytes() uint64                             { return 0 }   // for statistics
func (f *wordField) Size() int                                             { return 0 }   // for statistics

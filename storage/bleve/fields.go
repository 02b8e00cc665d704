package bleve

import (
	"encoding/binary"
	"hash/fnv"
	"sync"

	bleveindex "github.com/blevesearch/bleve_index_api"

	"feedmesh/classify/query"
	"feedmesh/storage"
)

// format is the format version. An index with another format is rebuilt: raise it when fields, words or stems
// change.
const format = "7"

// A wordField is a full-text field.
type wordField struct {
	name  string
	texts func(*storage.IndexItem) []string
	boost float64 // weight of a word in this field
	usual float64 // usual number of words; 0 if its length is ignored
}

const fieldTitle = "title"

// wordFields are all full-text fields. A field of the name of a [query.Part] is that part.
var wordFields = [...]wordField{
	{fieldTitle, func(it *storage.IndexItem) []string { return []string{it.Title} }, 4, 0},
	{"tags", func(it *storage.IndexItem) []string { return it.Tags }, 2, 0},
	{"author", func(it *storage.IndexItem) []string { return []string{it.Author} }, 1.5, 0},
	{"text", func(it *storage.IndexItem) []string { return []string{it.Text} }, 1, 300},
}

// fieldsOf returns the fields to search for a part.
func fieldsOf(part query.Part) []wordField {
	for i, f := range wordFields {
		if f.name == string(part) {
			return wordFields[i : i+1]
		}
	}
	return wordFields[:]
}

// wordsOf is a full-text field of a document, searchable by stem. Bleve calls Analyze, concurrently for
// several documents, and then reads the results.
//
// It also stores the word order as short codes, for phrase searches: positions in postings would double the
// index and take a third more time to write; the stored codes make it a third larger.
type wordsOf struct {
	name    string
	texts   []string
	written *keywords // receives the words as written; may be nil

	length   int
	stems    bleveindex.TokenFrequencies
	sequence []byte // see codeOf
}

// wordLists are buffers of Analyze, of type *[]query.Word.
var wordLists = sync.Pool{New: func() any { return new([]query.Word) }}

func (f *wordsOf) Analyze() {
	var spare []bleveindex.TokenFreq // allocated in batches
	list := wordLists.Get().(*[]query.Word)
	defer wordLists.Put(list)
	for _, s := range f.texts {
		words := query.AppendWords((*list)[:0], s)
		*list = words
		if len(words) == 0 {
			continue
		}
		if f.stems == nil {
			f.stems = make(bleveindex.TokenFrequencies, len(words)/2+1) // many repeat
			f.sequence = make([]byte, 0, 2*(len(words)+1))
		}
		f.length += len(words)
		for i, word := range words {
			freq := f.stems[word.Stem]
			if freq == nil {
				if len(spare) == 0 {
					spare = make([]bleveindex.TokenFreq, min(len(words)-i, 32))
				}
				freq, spare = &spare[0], spare[1:]
				f.stems[word.Stem] = freq
			}
			freq.SetFrequency(freq.Frequency() + 1)
			if i > 0 {
				f.skip(word.Pos - words[i-1].Pos - 1)
			}
			f.sequence = binary.BigEndian.AppendUint16(f.sequence, codeOf(word.Stem))
			if f.written != nil {
				f.written.values = append(f.written.values, word.Text)
			}
		}
		clear(words) // the pool keeps no text in memory
		f.skip(1)
	}
}

// skip appends empty positions.
func (f *wordsOf) skip(places int) {
	for range places {
		f.sequence = append(f.sequence, 0, 0)
	}
}

// codeOf returns the two-byte code of a stem in a sequence. 0 is an empty position, as after each of several
// texts. One in 65,000 words shares its code with another.
func codeOf(stem string) uint16 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(stem)) // never fails
	sum := h.Sum32()
	return max(1, uint16(sum>>16^sum))
}

func (f *wordsOf) Options() bleveindex.FieldIndexingOptions {
	return bleveindex.IndexField | bleveindex.StoreField
}

func (f *wordsOf) Name() string                                          { return f.name }
func (f *wordsOf) AnalyzedLength() int                                   { return f.length }
func (f *wordsOf) AnalyzedTokenFrequencies() bleveindex.TokenFrequencies { return f.stems }
func (f *wordsOf) EncodedFieldType() byte                                { return 't' }
func (f *wordsOf) ArrayPositions() []uint64                              { return nil }
func (f *wordsOf) Value() []byte                                         { return f.sequence }
func (f *wordsOf) NumPlainTextBytes() uint64                             { return 0 } // for statistics
func (f *wordsOf) Size() int                                             { return 0 } // for statistics

// keywords is a document field whose terms are whole values, any number of them. Empty values are ignored.
type keywords struct {
	name    string
	options bleveindex.FieldIndexingOptions
	values  []string
	terms   bleveindex.TokenFrequencies
}

func (f *keywords) Analyze() {
	f.terms = make(bleveindex.TokenFrequencies, len(f.values))
	for _, value := range f.values {
		if value == "" {
			continue
		}
		term := &bleveindex.TokenFreq{}
		if !f.options.SkipFreqNorm() {
			term.SetFrequency(1)
		}
		f.terms[value] = term
	}
}

func (f *keywords) Name() string                                          { return f.name }
func (f *keywords) Options() bleveindex.FieldIndexingOptions              { return f.options }
func (f *keywords) AnalyzedLength() int                                   { return len(f.terms) }
func (f *keywords) AnalyzedTokenFrequencies() bleveindex.TokenFrequencies { return f.terms }
func (f *keywords) EncodedFieldType() byte                                { return 't' }
func (f *keywords) ArrayPositions() []uint64                              { return nil }
func (f *keywords) Value() []byte                                         { return nil } // not stored
func (f *keywords) NumPlainTextBytes() uint64                             { return 0 }   // for statistics
func (f *keywords) Size() int                                             { return 0 }   // for statistics

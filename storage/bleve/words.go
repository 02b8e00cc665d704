package bleve

import (
	"encoding/binary"
	"hash/fnv"

	bleveindex "github.com/blevesearch/bleve_index_api"

	"feedmesh/classify/query"
	"feedmesh/storage"
)

// A wordField is a field that has words.
type wordField struct {
	name  string
	texts func(*storage.Indexed) []string
	boost float64 // how much a word counts there
	usual float64 // words it usually has; 0 if its length says nothing
}

const fieldTitle = "title"

// wordFields are all of them.
var wordFields = [...]wordField{
	{fieldTitle, func(it *storage.Indexed) []string { return []string{it.Title} }, 4, 0},
	{"tags", func(it *storage.Indexed) []string { return it.Tags }, 2, 0},
	{"author", func(it *storage.Indexed) []string { return []string{it.Author} }, 1.5, 0},
	{"text", func(it *storage.Indexed) []string { return []string{it.Text} }, 1, 300},
}

// fieldsOf returns the fields to look for words in.
func fieldsOf(part query.Part) []wordField {
	switch part {
	case query.Title:
		return wordFields[:1]
	case query.Author:
		return wordFields[2:3]
	}
	return wordFields[:]
}

// A wordsOf is a field of words in a document, searchable by stem. Bleve calls
// Analyze, concurrently for several documents, then asks for what it found.
//
// It stores the words too, in short, since phrases must be told from the same
// words in another order: positions in postings would double the index and take
// a third more time to write; what is stored makes it a third larger.
type wordsOf struct {
	name    string
	texts   []string
	written *keywords // gets the words as they are written; nil: they are not wanted

	length   int
	stems    bleveindex.TokenFrequencies
	sequence []byte // see codeOf
}

func (f *wordsOf) Analyze() {
	var spare []bleveindex.TokenFreq // to make many at once
	for _, s := range f.texts {
		words := query.Words(s)
		if words == nil {
			continue
		}
		if f.stems == nil {
			f.stems = make(bleveindex.TokenFrequencies, len(words)/2+1) // many come again
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
		f.skip(1)
	}
}

// skip leaves places without a word.
func (f *wordsOf) skip(places int) {
	for range places {
		f.sequence = append(f.sequence, 0, 0)
	}
}

// codeOf returns the code of a stem in a sequence, where two bytes stand for each
// place of a word: 0 if there is none, as after each of several texts. One in
// 65,000 words has the code of another.
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

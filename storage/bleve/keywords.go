package bleve

import bleveindex "github.com/blevesearch/bleve_index_api"

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

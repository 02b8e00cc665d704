package spam

import "feedmesh/classify/stem"

// Classify scores a document. history is that of its feed and host, zero if unknown. The score is the
// logistic function of the sum of the evidence's weights; each weight is a log-likelihood ratio. Evidence of
// the same kind is not independent: each further piece counts 0.6 of the one before it. Equal documents with
// equal histories get equal verdicts.
func (f *Filter) Classify(d Document, habits History) Verdict {
	return f.score(&d, habits).verdict()
}

// score collects the evidence in a document.
func (f *Filter) score(d *Document, habits History) *scorer {
	shorten(d)
	s := &scorer{filter: f, doc: d, message: d.isMessage(), evidence: make([]evidence, 0, 8)}
	if s.message {
		s.sum = f.weights[priorMessage]
	} else {
		s.sum = f.weights[prior]
	}
	index := f.indexOf(d.Language)
	s.title, s.text = d.TitleStems, d.Stems
	if s.title == nil {
		s.title = stem.Words(d.Title, d.Language)
	}
	if s.text == nil {
		s.text = stem.Words(d.Text, d.Language)
	}
	s.text = s.text[:min(len(s.text), maxStems)]
	s.scorePhrases(index)
	scoreNumbers(s)
	scoreMismatch(s)
	s.scoreLinks(linksOf(d, s.text))
	scoreStyle(s, index)
	discount(s.evidence)
	s.subtotal = s.total()
	s.scoreLearned()
	scoreHistory(s, habits)
	return s
}

// shorten bounds the size of a document.
func shorten(d *Document) {
	for _, s := range []*string{&d.Title, &d.Text, &d.URL, &d.Host, &d.Author} {
		*s = (*s)[:min(len(*s), maxText)]
	}
	d.HTML = d.HTML[:min(len(d.HTML), maxHTML)]
}

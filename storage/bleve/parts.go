package bleve

import (
	"context"
	"encoding/binary"

	"github.com/RoaringBitmap/roaring/v2"
)

// A part is a condition of a plan.
type part interface {
	// within returns the documents of docs that match in a segment. It may modify and return docs.
	within(ctx context.Context, s *segment, docs *roaring.Bitmap) (*roaring.Bitmap, error)
}

type (
	allOf    []part // conjunction
	oneOf    []part // disjunction
	negation struct{ part }

	// anyOf matches documents with one of the terms.
	anyOf struct {
		field string
		terms []string
	}

	// between matches documents published in a range of microseconds, inclusive.
	between struct{ from, to int64 }

	// A phrase matches documents with words at given distances.
	phrase struct {
		words  []*word
		places []int // of the words, from 0
	}
)

func (p allOf) within(ctx context.Context, s *segment, docs *roaring.Bitmap) (*roaring.Bitmap, error) {
	for _, one := range p {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if docs.IsEmpty() {
			return docs, nil
		}
		var err error
		if docs, err = one.within(ctx, s, docs); err != nil {
			return nil, err
		}
	}
	return docs, nil
}

func (p oneOf) within(ctx context.Context, s *segment, docs *roaring.Bitmap) (*roaring.Bitmap, error) {
	found := roaring.New()
	for _, one := range p {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		some, err := one.within(ctx, s, docs.Clone())
		if err != nil {
			return nil, err
		}
		found.Or(some)
	}
	return found, nil
}

func (p negation) within(ctx context.Context, s *segment, docs *roaring.Bitmap) (*roaring.Bitmap, error) {
	found, err := p.part.within(ctx, s, docs.Clone())
	if err != nil {
		return nil, err
	}
	docs.AndNot(found)
	return docs, nil
}

func (p anyOf) within(ctx context.Context, s *segment, docs *roaring.Bitmap) (*roaring.Bitmap, error) {
	found, err := s.having(p.field, p.terms...)
	if err != nil {
		return nil, err
	}
	docs.And(found)
	return docs, nil
}

func (p between) within(ctx context.Context, s *segment, docs *roaring.Bitmap) (*roaring.Bitmap, error) {
	var found []uint32
	all := docs.ToArray()
	for _, doc := range all {
		if at := s.published[doc]; at >= p.from && at <= p.to {
			found = append(found, doc)
		}
	}
	if len(found) == len(all) {
		return docs, nil
	}
	return roaring.BitmapOf(found...), nil
}

func (p *phrase) within(ctx context.Context, s *segment, docs *roaring.Bitmap) (*roaring.Bitmap, error) {
	found := roaring.New()
	for _, field := range p.words[0].fields {
		some := docs.Clone()
		for _, w := range p.words {
			having, err := s.having(field.name, w.stem)
			if err != nil {
				return nil, err
			}
			some.And(having)
		}
		some.AndNot(found)
		for i, doc := range some.ToArray() {
			if i%checkEvery == 0 && ctx.Err() != nil {
				return nil, ctx.Err()
			}
			ok, err := p.standsIn(s, doc, field.name)
			if err != nil {
				return nil, err
			}
			if ok {
				found.Add(doc)
			}
		}
	}
	return found, nil
}

// standsIn reports whether a field of a document contains the phrase.
func (p *phrase) standsIn(s *segment, doc uint32, field string) (ok bool, err error) {
	err = s.snapshot.VisitDocument(uint64(doc), func(name string, _ byte, sequence []byte, _ []uint64) bool {
		if name == field {
			ok = p.occurs(sequence)
		}
		return name != field
	})
	return ok, err
}

// occurs reports whether a sequence of codes contains the phrase.
func (p *phrase) occurs(sequence []byte) bool {
	length := 2 * (p.places[len(p.places)-1] + 1) // bytes
	for ; len(sequence) >= length; sequence = sequence[2:] {
		i := 0
		for i < len(p.words) && binary.BigEndian.Uint16(sequence[2*p.places[i]:]) == p.words[i].code {
			i++
		}
		if i == len(p.words) {
			return true
		}
	}
	return false
}

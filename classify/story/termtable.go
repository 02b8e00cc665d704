package story

// A row is the posting of a term.
type row struct {
	term uint32 // 0: the row is free
	at   uint32 // slot of the only event with the term, or several + location of a posting
}

// several exceeds every slot.
const several = 1 << 31

// A terms is a hash table of rows, partitioned by the highest bits: each partition grows separately, so no
// item waits long.
type terms struct {
	tables [1 << tableBits]table
	len    int
}

const tableBits = 8

// A table is a power of two of rows, by term, with linear probing.
type table struct {
	rows []row
	used int
}

func (t *terms) table(term uint32) *table { return &t.tables[term>>(32-tableBits)] }

// find returns the row of a term, or nil. The pointer is valid until a term is added or removed.
func (t *terms) find(term uint32) *row {
	rows := t.table(term).rows
	if len(rows) == 0 {
		return nil
	}
	mask := len(rows) - 1
	for i := int(term>>kindBits) & mask; ; i = (i + 1) & mask {
		switch rows[i].term {
		case term:
			return &rows[i]
		case 0:
			return nil
		}
	}
}

// touch reads the first probe of each term, to overlap cache misses: with a million terms each waits for
// memory. The result has no meaning.
func (t *terms) touch(terms []uint32) (sum uint32) {
	for _, term := range terms {
		if rows := t.table(term).rows; len(rows) > 0 {
			sum += rows[int(term>>kindBits)&(len(rows)-1)].at
		}
	}
	return sum
}

// add adds a row for a new term.
func (t *terms) add(term, slot uint32) {
	in := t.table(term)
	if 4*(in.used+1) > 3*len(in.rows) {
		was := in.rows
		in.rows = make([]row, max(16, 2*len(was)))
		for _, r := range was {
			if r.term != 0 {
				*in.free(r.term) = r
			}
		}
	}
	in.used++
	t.len++
	*in.free(term) = row{term, slot}
}

// free returns the row for a new term.
func (t *table) free(term uint32) *row {
	mask := len(t.rows) - 1
	i := int(term>>kindBits) & mask
	for t.rows[i].term != 0 {
		i = (i + 1) & mask
	}
	return &t.rows[i]
}

// remove removes the row of a term, and closes the gap.
func (t *terms) remove(term uint32) {
	in := t.table(term)
	mask := len(in.rows) - 1
	gap := int(term>>kindBits) & mask
	for in.rows[gap].term != term {
		gap = (gap + 1) & mask
	}
	for i := gap; ; {
		i = (i + 1) & mask
		r := in.rows[i]
		if r.term == 0 {
			break
		}
		if home := int(r.term>>kindBits) & mask; (i-home)&mask >= (i-gap)&mask {
			in.rows[gap] = r
			gap = i
		}
	}
	in.rows[gap] = row{}
	in.used--
	t.len--
}

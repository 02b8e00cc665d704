package unique

const (
	longShingle  = 10 // words of a shingle of source 2, "for medium texts"
	shortShingle = 3  // where one of the texts is short, such as a title: most titles have no shingle of ten words
	minLong      = 40 // canonical words of a text that is not short
	maxWords     = 2000
)

// A List contains texts no two of which agree by a percentage or more. The zero List with a Percent is empty and ready to
// use.
type List struct {
	Percent float64 // agreement from which a text is not unique: above 0, at most 100
	texts   []entry
}

// An entry is a text of a List as checksums.
type entry struct {
	id          string
	words       int
	long, short []int32
}

// A Repeat is a text that is not unique.
type Repeat struct {
	Of      string  // ID of the text that it repeats
	Percent float64 // how much they agree
	Words   int     // in a shingle that was compared
}

// Add adds a text unless it repeats one of the list; it returns the text that it agrees with most. A text without
// shingles is unique. Texts are compared by shingles of ten words, or of three if one has less than 40 words without
// stop words. Only the first 2,000 words count. O(texts of the list * length).
func (l *List) Add(id, plain, language string) (Repeat, bool) {
	words := CanonicalWords(plain, language)
	words = words[:min(len(words), maxWords)]
	t := entry{id: id, words: len(words), long: Checksums(words, longShingle), short: Checksums(words, shortShingle)}
	var most Repeat
	for _, other := range l.texts {
		if r := t.agreement(other); r.Percent > most.Percent {
			most = r
		}
	}
	if most.Percent > 0 && most.Percent >= l.Percent {
		return most, true
	}
	l.texts = append(l.texts, t)
	return Repeat{}, false
}

// Len returns the number of texts.
func (l *List) Len() int { return len(l.texts) }

// agreement returns how much two texts agree.
func (t entry) agreement(other entry) Repeat {
	if min(t.words, other.words) < minLong {
		return Repeat{other.id, Dice(t.short, other.short), shortShingle}
	}
	return Repeat{other.id, Dice(t.long, other.long), longShingle}
}

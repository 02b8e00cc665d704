package measure

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"feedmesh/classify/story"
)

// A Record is an item with a labelled story.
type Record struct {
	story.Item
	Story string
	Day   string // such as 2026-01-02; may be empty
}

// A Pair is two items, labelled whether they are of one story.
type Pair struct {
	ID    string
	Group string // pairs about the same things have the same; empty if unknown
	A, B  story.Item
	Same  bool
}

// half returns the half that contains the pair: a group is never in both.
func (p Pair) half() Half {
	if Train.has(cmp.Or(p.Group, p.ID)) {
		return Train
	}
	return Test
}

// A Set is the content of a file: records, or pairs.
type Set struct {
	Records []Record // with a labelled story; by day, otherwise in the order of the file
	Alone   []Record // without a label, of posts about different things: each is a story of its own; likewise
	Pairs   []Pair
	Across  []Pair // of items in different languages
	Missing int    // pairs that are left out, because an item that they refer to is not among the texts
}

// Texts are items of other sets by ID, which pairs refer to so that they need not contain the texts of publishers. The
// items of a pair have its ID followed by "/a" and "/b".
type Texts map[string]story.Item

// Add reads the items of a set.
func (t Texts) Add(r io.Reader) error {
	return eachLine(r, func(l line) {
		switch {
		case l.A != nil && l.B != nil:
			t[l.ID+"/a"], t[l.ID+"/b"] = l.A.item(), l.B.item()
		case l.ID != "":
			t[l.ID] = l.item()
		}
	})
}

// A Half is a part of a set. Records are split by story and pairs by group or ID, so no story is in both.
type Half string

// The halves of a set.
const (
	All   Half = "all"
	Train Half = "train"
	Test  Half = "test"
)

// has reports whether a half contains the key of a story or pair. The rule is FNV-32a(key)>>4&1: 0 is train
// and 1 is test.
func (h Half) has(key string) bool {
	sum := fnv.New32a()
	io.WriteString(sum, key)
	return h == All || (sum.Sum32()>>4&1 == 0) == (h == Train)
}

const (
	maxLine    = 4 << 20 // bytes of a record
	maxRecords = 2_000_000
)

// line is the JSON form of a record.
type line struct {
	ID, Title, Body, Lang, Host, Published, Story, Label string
	Group, Ref                                           string
	A, B                                                 *line
}

// Read reads the half of a set: one JSON object a line, packed by gzip or not.
//
//	{"id": "1", "title": "Quake", "body": "", "lang": "en", "host": "a.example",
//	 "published": "2026-01-02", "story": "quake"}
//	{"id": "2", "lang": "en", "label": "OK", "a": {"title": "..."}, "b": {"title": "..."}}
//
// A pair is of one story if its label is OK, and an item without a story is alone in its own. Items of a day are taken to come
// through the day, in the order of the file; those without a day, one a minute.
// An item of a pair may be in texts instead: {"ref": "ID"}.
// Errors name the line.
func Read(r io.Reader, half Half, texts Texts) (Set, error) {
	var set Set
	if err := eachLine(r, func(l line) { set.add(l, half, texts) }); err != nil {
		return set, err
	}
	for _, records := range [][]Record{set.Records, set.Alone} {
		slices.SortStableFunc(records, func(a, b Record) int { return cmp.Compare(a.Day, b.Day) })
		spread(records)
	}
	return set, nil
}

// eachLine calls a function with the JSON value of each line, packed by gzip or not.
func eachLine(r io.Reader, each func(line)) error {
	in := bufio.NewReader(r)
	if head, _ := in.Peek(2); string(head) == "\x1f\x8b" {
		z, err := gzip.NewReader(in)
		if err != nil {
			return err
		}
		in = bufio.NewReader(z)
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLine)
	n := 0
	for lines.Scan() {
		n++
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		var l line
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		if n > maxRecords {
			return fmt.Errorf("line %d: there are more records than can be read", n)
		}
		each(l)
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("line %d: %w", n+1, err)
	}
	return nil
}

func (s *Set) add(l line, half Half, texts Texts) {
	switch {
	case l.A != nil && l.B != nil && half.has(cmp.Or(l.Group, l.ID)):
		s.addPair(l, texts)
	case l.A == nil && l.Story != "" && half.has(l.Story):
		s.Records = append(s.Records, l.record(l.Story))
	case l.A == nil && l.Story == "" && half.has(l.ID):
		s.Alone = append(s.Alone, l.record(l.ID))
	}
}

func (s *Set) addPair(l line, texts Texts) {
	p := Pair{ID: l.ID, Group: l.Group, Same: l.Label == "OK"}
	for _, side := range []struct {
		from *line
		to   *story.Item
		id   string
	}{{l.A, &p.A, "/a"}, {l.B, &p.B, "/b"}} {
		*side.to = side.from.item()
		if side.from.Ref != "" {
			found, ok := texts[side.from.Ref]
			if !ok {
				s.Missing++
				return
			}
			*side.to = found
		}
		side.to.ID, side.to.Language = l.ID+side.id, cmp.Or(side.from.Lang, l.Lang)
	}
	if p.A.Language != p.B.Language {
		s.Across = append(s.Across, p)
		return
	}
	s.Pairs = append(s.Pairs, p)
}

func (l *line) record(story string) Record {
	return Record{Item: l.item(), Story: story, Day: l.Published[:min(len(l.Published), len(time.DateOnly))]}
}

func (l *line) item() story.Item {
	return story.Item{ID: l.ID, Title: l.Title, Text: l.Body, Language: l.Lang, Host: strings.ToLower(l.Host), Seen: undated}
}

// undated is the start time of records without a day.
var undated = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// PairRecords returns the items of pairs as records: those of a pair are of one story if it is labelled so.
func PairRecords(pairs []Pair) (records []Record) {
	for i, p := range pairs {
		a, b := Record{Item: p.A, Story: p.ID}, Record{Item: p.B, Story: p.ID}
		if !p.Same {
			b.Story += " b"
		}
		a.Seen, b.Seen = undated.Add(time.Duration(2*i)*time.Minute), undated.Add(time.Duration(2*i+1)*time.Minute)
		records = append(records, a, b)
	}
	return records
}

// TrainDays is the number of first days of a set of titles that are used for training. The others are for tests.
const TrainDays = 15

// FirstDays returns the records of the first n days, and the others.
func FirstDays(records []Record, n int) (first, rest []Record) {
	for i, today := range days(records) {
		if i == n {
			break
		}
		first = records[:len(first)+len(today)]
	}
	return first, records[len(first):]
}

// FewerHosts returns the records of one host in n, as a reader of few feeds has them.
func FewerHosts(records []Record, n int) (fewer []Record) {
	for _, r := range records {
		sum := fnv.New32a()
		io.WriteString(sum, r.Host)
		if sum.Sum32()>>8%uint32(n) == 0 {
			fewer = append(fewer, r)
		}
	}
	return fewer
}

// Titles returns records without their texts.
func Titles(records []Record) []Record {
	records = slices.Clone(records)
	for i := range records {
		records[i].Text = ""
	}
	return records
}

// spread sets the times of records: evenly through their day, or one a minute without a day.
func spread(records []Record) {
	for _, today := range days(records) {
		start, gap := undated, time.Minute
		if at, err := time.Parse(time.DateOnly, today[0].Day); err == nil {
			start, gap = at, 24*time.Hour/time.Duration(len(today))
		}
		for i := range today {
			today[i].Seen = start.Add(time.Duration(i) * gap)
		}
	}
}

// days splits records by day.
func days(records []Record) [][]Record {
	var list [][]Record
	for start, i := 0, 1; i <= len(records); i++ {
		if i == len(records) || records[i].Day != records[start].Day {
			list = append(list, records[start:i])
			start = i
		}
	}
	return list
}

// shuffled returns records in a different, reproducible order within their days.
func shuffled(records []Record) []Record {
	records = slices.Clone(records)
	random := rand.New(rand.NewPCG(7, 1))
	for _, today := range days(records) {
		random.Shuffle(len(today), func(i, j int) { today[i], today[j] = today[j], today[i] })
	}
	spread(records)
	return records
}

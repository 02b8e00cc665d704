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
	ID   string
	A, B story.Item
	Same bool
}

// A Set is the content of a file: records, or pairs.
type Set struct {
	Records []Record // with a labelled story; by day, otherwise in the order of the file
	Alone   []Record // without a label, of posts about different things: each is a story of its own; likewise
	Pairs   []Pair
}

// A Half is a part of a set. Records are split by story and pairs by ID, so no story is in both.
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
// Errors name the line.
func Read(r io.Reader, half Half) (Set, error) {
	var set Set
	in := bufio.NewReader(r)
	if head, _ := in.Peek(2); string(head) == "\x1f\x8b" {
		z, err := gzip.NewReader(in)
		if err != nil {
			return set, err
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
			return set, fmt.Errorf("line %d: %w", n, err)
		}
		if n > maxRecords {
			return set, fmt.Errorf("line %d: there are more records than can be read", n)
		}
		set.add(l, half)
	}
	if err := lines.Err(); err != nil {
		return set, fmt.Errorf("line %d: %w", n+1, err)
	}
	for _, records := range [][]Record{set.Records, set.Alone} {
		slices.SortStableFunc(records, func(a, b Record) int { return cmp.Compare(a.Day, b.Day) })
		spread(records)
	}
	return set, nil
}

func (s *Set) add(l line, half Half) {
	switch {
	case l.A != nil && l.B != nil && half.has(l.ID):
		p := Pair{ID: l.ID, A: l.A.item(), B: l.B.item(), Same: l.Label == "OK"}
		p.A.ID, p.B.ID = l.ID+"/a", l.ID+"/b"
		p.A.Language, p.B.Language = l.Lang, l.Lang
		s.Pairs = append(s.Pairs, p)
	case l.A == nil && l.Story != "" && half.has(l.Story):
		s.Records = append(s.Records, l.record(l.Story))
	case l.A == nil && l.Story == "" && half.has(l.ID):
		s.Alone = append(s.Alone, l.record(l.ID))
	}
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

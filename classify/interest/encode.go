package interest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"
	"unicode/utf8"
)

// MaxSize bounds an encoded model, in bytes.
const MaxSize = 64 << 10

// Errors of [Decode].
var (
	ErrUnreadable = errors.New("what was learned is unreadable")
	ErrNewer      = errors.New("what was learned was written by a newer version of feedmesh: update this agent")
)

// version is the first byte of an encoded model.
const version = 1

// Encode returns the model in a form for [Decode], the same for equal models.
//
// After the version: time of the counts, their two sums, then the number of features, each with key, two counts and name;
// the number of signals, each with ID, signal and time; the number of days, each with day and three counts. Times are varints of
// seconds since 1970, days of such days; counts are little-endian float32; texts have their length before them.
func (m *Model) Encode() []byte {
	b := append(make([]byte, 0, 64+len(m.counts)*30+len(m.signals)*40), version)
	b = binary.AppendVarint(b, m.at.Unix())
	b = appendFloats(b, m.liked, m.other)
	b = binary.AppendUvarint(b, uint64(len(m.counts)))
	for _, key := range slices.Sorted(maps.Keys(m.counts)) {
		c := m.counts[key]
		b = binary.LittleEndian.AppendUint64(b, uint64(key))
		b = appendText(appendFloats(b, c.liked, c.other), c.name)
	}
	b = binary.AppendUvarint(b, uint64(len(m.signals)))
	for _, e := range m.signals {
		b = binary.AppendVarint(append(appendText(b, e.Item), byte(e.Signal)), e.At.Unix())
	}
	b = binary.AppendUvarint(b, uint64(len(m.days)))
	for _, d := range m.days {
		b = binary.AppendVarint(b, d.Day.Unix()/secondsOfDay)
		for _, n := range []int{d.Opened, d.Good, d.Bad} {
			b = binary.AppendUvarint(b, uint64(n))
		}
	}
	return b
}

const secondsOfDay = 24 * 60 * 60

func appendFloats(b []byte, values ...float64) []byte {
	for _, v := range values {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(v)))
	}
	return b
}

func appendText(b []byte, text string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

// Decode returns an encoded model, the zero Model for nil. The error is [ErrNewer], or [ErrUnreadable] with a reason.
func Decode(b []byte) (*Model, error) {
	switch {
	case len(b) == 0:
		return &Model{}, nil
	case b[0] > version:
		return nil, ErrNewer
	case b[0] != version:
		return nil, fmt.Errorf("%w: version %d", ErrUnreadable, b[0])
	}
	r := reader{rest: b[1:]}
	m := r.model()
	if r.failed || len(r.rest) > 0 {
		return nil, fmt.Errorf("%w: damaged, %d of %d bytes left", ErrUnreadable, len(r.rest), len(b))
	}
	return m, nil
}

// A reader reads the parts of an encoded model. After a failure it returns zero values.
type reader struct {
	rest   []byte
	failed bool
}

func (r *reader) model() *Model {
	m := &Model{at: r.time(1), counts: map[Key]count{}}
	m.liked, m.other = r.float(), r.float()
	for range r.number(maxFeatures) {
		key := Key(binary.LittleEndian.Uint64(r.bytes(8)))
		m.counts[key] = count{r.float(), r.float(), r.text(maxName)}
	}
	for range r.number(maxSignals) {
		e := Entry{Item: r.text(maxItemID), Signal: Signal(r.bytes(1)[0]), At: r.time(1)}
		r.failed = r.failed || e.Signal == 0 || e.Signal >= signalsEnd
		m.signals = append(m.signals, e)
	}
	for range r.number(maxDays) {
		m.days = append(m.days, Day{r.time(secondsOfDay), r.number(math.MaxInt32), r.number(math.MaxInt32), r.number(math.MaxInt32)})
	}
	return m
}

// bytes returns the next n bytes, zeros after a failure.
func (r *reader) bytes(n int) []byte {
	if r.failed || len(r.rest) < n {
		r.failed = true
		return make([]byte, n)
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

// number returns an unsigned number of at most limit, 0 after a failure.
func (r *reader) number(limit int) int {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 || v > uint64(limit) {
		r.failed = true
	}
	if r.failed {
		return 0
	}
	r.rest = r.rest[n:]
	return int(v)
}

// time returns a time in units of some seconds.
func (r *reader) time(seconds int64) time.Time {
	v, n := binary.Varint(r.rest)
	if n <= 0 || v > math.MaxInt64/secondsOfDay || v < math.MinInt64/secondsOfDay {
		r.failed = true
	}
	if r.failed {
		return time.Time{}
	}
	r.rest = r.rest[n:]
	return time.Unix(v*seconds, 0).UTC()
}

// float returns a number that is finite and not negative.
func (r *reader) float() float64 {
	v := float64(math.Float32frombits(binary.LittleEndian.Uint32(r.bytes(4))))
	if !(v >= 0) || math.IsInf(v, 1) {
		r.failed = true
		return 0
	}
	return v
}

func (r *reader) text(limit int) string {
	text := string(r.bytes(r.number(limit)))
	r.failed = r.failed || !utf8.ValidString(text)
	return text
}

package policy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// modelVersion is the first byte of a model in bytes.
const modelVersion = 2

// unzoned stands for a zone that is not known.
const unzoned = -1 << 15

// errModel says that bytes are no model.
var errModel = errors.New("these bytes are no model of a feed")

// MarshalBinary returns the model in typically 60 to 100 bytes, and at most
// 400. Only bins with items are written. The zero Model is one byte.
func (m Model) MarshalBinary() ([]byte, error) {
	b := append(make([]byte, 0, 128), modelVersion)
	if m == (Model{}) {
		return b, nil
	}
	zone := int16(unzoned)
	if m.zoned {
		zone = m.zone
	}
	b = binary.AppendVarint(b, m.at)
	b = binary.AppendVarint(b, m.at-m.newest)
	for _, v := range [...]float32{m.recent.items, m.recent.days, m.usual.items, m.usual.days, m.bursts} {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	b = binary.LittleEndian.AppendUint16(b, uint16(zone))
	b = binary.AppendUvarint(b, uint64(m.profile.day))
	b = appendBins(b, m.profile.quarters[:])
	return appendBins(b, m.profile.weekdays[:]), nil
}

// appendBins appends one bit for each bin that has something in it, and then
// what those have.
func appendBins(b []byte, bins []uint16) []byte {
	bits := len(b)
	b = append(b, make([]byte, (len(bins)+7)/8)...)
	for i, v := range bins {
		if v > 0 {
			b[bits+i/8] |= 1 << (i % 8)
			b = binary.AppendUvarint(b, uint64(v))
		}
	}
	return b
}

// UnmarshalBinary takes over what MarshalBinary returned, or changes nothing.
func (m *Model) UnmarshalBinary(b []byte) error {
	r := reader{left: b}
	if version := r.next(1); len(version) == 1 && version[0] != modelVersion {
		return fmt.Errorf("%w: version %d is not known here", errModel, version[0])
	}
	var read Model
	if len(b) > 1 {
		read.at = r.varint()
		read.newest = read.at - r.varint()
		read.recent = tally{items: r.float(), days: r.float()}
		read.usual = tally{items: r.float(), days: r.float()}
		read.bursts = r.float()
		if zone := int16(r.uint16()); zone != unzoned {
			read.zone, read.zoned = zone, true
		}
		read.profile.day = int32(r.uvarint(math.MaxInt32 - 1))
		r.bins(read.profile.quarters[:])
		r.bins(read.profile.weekdays[:])
		read.profile.sum()
	}
	if r.bad || len(r.left) > 0 || !read.sound() {
		return errModel
	}
	*m = read
	return nil
}

// latest bounds times, so that sums of them do not overflow: the year 9999.
const latest = 253402300799

// sound reports whether a model may be one that MarshalBinary wrote.
func (m *Model) sound() bool {
	return m.at >= 0 && m.at <= latest && m.newest >= 0 && m.newest <= latest &&
		m.recent.sound(recently) && m.usual.sound(usually) &&
		m.bursts >= 0 && m.bursts <= math.MaxFloat32 &&
		m.zone >= -farthest && m.zone <= farthest
}

// A reader reads numbers off bytes. Once it could not, it is bad and reads
// zeros.
type reader struct {
	left []byte
	bad  bool
}

func (r *reader) next(n int) []byte {
	if r.bad || len(r.left) < n {
		r.bad = true
		return nil
	}
	b := r.left[:n]
	r.left = r.left[n:]
	return b
}

func (r *reader) uint16() uint16 {
	b := r.next(2)
	if r.bad {
		return 0
	}
	return binary.LittleEndian.Uint16(b)
}

// float reads a number; NaN is not one.
func (r *reader) float() float32 {
	b := r.next(4)
	if r.bad {
		return 0
	}
	return math.Float32frombits(binary.LittleEndian.Uint32(b))
}

func (r *reader) varint() int64 {
	v, n := binary.Varint(r.left)
	r.next(max(n, 0))
	r.bad = r.bad || n <= 0 || v > latest || v < -latest
	return v
}

func (r *reader) uvarint(most uint64) uint64 {
	v, n := binary.Uvarint(r.left)
	r.next(max(n, 0))
	r.bad = r.bad || n <= 0 || v > most
	return v
}

func (r *reader) bins(bins []uint16) {
	bits := r.next((len(bins) + 7) / 8)
	for i := range bins {
		if !r.bad && bits[i/8]&(1<<(i%8)) != 0 {
			bins[i] = uint16(r.uvarint(math.MaxUint16))
		}
	}
}

package policy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// modelVersion is the first byte of an encoded model.
const modelVersion = 2

// noZone encodes a missing time zone.
const noZone = -1 << 15

// errModel reports bytes that are not an encoded model.
var errModel = errors.New("decode feed model: invalid data")

// MarshalBinary encodes the model in typically 60 to 100 bytes, and at most 400. Empty bins are omitted. The
// zero Model is one byte.
func (m Model) MarshalBinary() ([]byte, error) {
	b := append(make([]byte, 0, 128), modelVersion)
	if m == (Model{}) {
		return b, nil
	}
	zone := int16(noZone)
	if m.hasZone {
		zone = m.zone
	}
	b = binary.AppendVarint(b, m.watchedUntil)
	b = binary.AppendVarint(b, m.watchedUntil-m.newest)
	for _, v := range [...]float32{m.recent.items, m.recent.days, m.longTerm.items, m.longTerm.days, m.burstSquares} {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	b = binary.LittleEndian.AppendUint16(b, uint16(zone))
	b = binary.AppendUvarint(b, uint64(m.profile.day))
	b = appendBins(b, m.profile.quarters[:])
	return appendBins(b, m.profile.weekdays[:]), nil
}

// appendBins appends a bitmap of the non-empty bins, then their values.
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

// UnmarshalBinary decodes the output of MarshalBinary. On error the model is unchanged.
func (m *Model) UnmarshalBinary(b []byte) error {
	r := decoder{remaining: b}
	if version := r.next(1); len(version) == 1 && version[0] != modelVersion {
		return fmt.Errorf("%w: unsupported version %d", errModel, version[0])
	}
	var read Model
	if len(b) > 1 {
		read.watchedUntil = r.varint()
		read.newest = read.watchedUntil - r.varint()
		read.recent = decayedCount{items: r.float(), days: r.float()}
		read.longTerm = decayedCount{items: r.float(), days: r.float()}
		read.burstSquares = r.float()
		if zone := int16(r.uint16()); zone != noZone {
			read.zone, read.hasZone = zone, true
		}
		read.profile.day = int32(r.uvarint(math.MaxInt32 - 1))
		r.bins(read.profile.quarters[:])
		r.bins(read.profile.weekdays[:])
		read.profile.sum()
	}
	if r.failed || len(r.remaining) > 0 || !read.valid() {
		return errModel
	}
	*m = read
	return nil
}

// maxTime bounds times, so that their sums do not overflow: the year 9999.
const maxTime = 253402300799

// valid reports whether all values are in the range that MarshalBinary writes.
func (m *Model) valid() bool {
	return m.watchedUntil >= 0 && m.watchedUntil <= maxTime && m.newest >= 0 && m.newest <= maxTime &&
		m.recent.valid(recentHalfLife) && m.longTerm.valid(longTermHalfLife) &&
		m.burstSquares >= 0 && m.burstSquares <= math.MaxFloat32 &&
		m.zone >= -maxOffset && m.zone <= maxOffset
}

// A decoder reads numbers from a byte buffer. After the first failure it returns zeros.
type decoder struct {
	remaining []byte
	failed    bool
}

func (r *decoder) next(n int) []byte {
	if r.failed || len(r.remaining) < n {
		r.failed = true
		return nil
	}
	b := r.remaining[:n]
	r.remaining = r.remaining[n:]
	return b
}

func (r *decoder) uint16() uint16 {
	b := r.next(2)
	if r.failed {
		return 0
	}
	return binary.LittleEndian.Uint16(b)
}

// float reads a float32. NaN passes here and is rejected by Model.valid.
func (r *decoder) float() float32 {
	b := r.next(4)
	if r.failed {
		return 0
	}
	return math.Float32frombits(binary.LittleEndian.Uint32(b))
}

func (r *decoder) varint() int64 {
	v, n := binary.Varint(r.remaining)
	r.next(max(n, 0))
	r.failed = r.failed || n <= 0 || v > maxTime || v < -maxTime
	return v
}

func (r *decoder) uvarint(most uint64) uint64 {
	v, n := binary.Uvarint(r.remaining)
	r.next(max(n, 0))
	r.failed = r.failed || n <= 0 || v > most
	return v
}

func (r *decoder) bins(bins []uint16) {
	bits := r.next((len(bins) + 7) / 8)
	for i := range bins {
		if !r.failed && bits[i/8]&(1<<(i%8)) != 0 {
			bins[i] = uint16(r.uvarint(math.MaxUint16))
		}
	}
}

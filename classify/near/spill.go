package near

import (
	"encoding/binary"
	"io"
)

// A File stores parts of an [Index] outside of memory. Files are read and written by their index only.
type File interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
}

const (
	residentBlocks = 16      // newest blocks that stay in memory: 16,384 items
	fileBytes      = 4 << 20 // size from which on another file is used
)

// A spill writes blocks to files: texts and bodies of older items, which are seldom read. A block that can't be
// written stays in memory.
type spill struct {
	newFile func() (File, error) // nil: blocks stay in memory
	file    *spillFile           // the next block is written to; may be nil
	written int                  // blocks in files

	writeErr error // of the last write, nil if it succeeded
	readErr  error // the first
}

// A spillFile is a file with blocks. It is closed when all of them are evicted.
type spillFile struct {
	File
	size   int64
	blocks int // that are not evicted
}

// A place is the location of a block in a file. The zero place is none: the block is in memory.
type place struct {
	file *spillFile
	at   int64
	size int
}

// write writes a block, and returns the zero place if that failed.
func (s *spill) write(block []byte) (p place) {
	if s.newFile == nil {
		return p
	}
	if s.file != nil && s.file.size >= fileBytes {
		s.leave(s.file)
		s.file = nil
	}
	if s.file == nil {
		file, err := s.newFile()
		if s.writeErr = err; err != nil {
			return p
		}
		s.file = &spillFile{File: file, blocks: 1} // one for the file in use
	}
	_, s.writeErr = s.file.WriteAt(block, s.file.size)
	if s.writeErr != nil {
		return p
	}
	p = place{s.file, s.file.size, len(block)}
	s.file.size += int64(len(block))
	s.file.blocks++
	s.written++
	return p
}

// read reads the bytes of a block from an offset on. They are arbitrary after a failure.
func (s *spill) read(p place, offset int, into []byte) {
	if _, err := p.file.ReadAt(into, p.at+int64(offset)); err != nil && s.readErr == nil {
		s.readErr = err
	}
}

// evict removes a block from its file.
func (s *spill) evict(p *place) {
	if p.file != nil {
		s.written--
		s.leave(p.file)
		*p = place{}
	}
}

// leave counts a block less, and closes the file after the last one.
func (s *spill) leave(file *spillFile) {
	if file.blocks--; file.blocks == 0 {
		file.Close() // nothing of it is needed any more
	}
}

// A textBlock contains the strings of perBlock items, in memory or in a file.
type textBlock struct {
	bytes []byte
	place
}

// bodySize is the size of a [Body] in a file.
const bodySize = 4 + minHashBins/2 + filterBits/8

func (b *Body) append(to []byte) []byte {
	to = binary.LittleEndian.AppendUint32(to, uint32(b.Shingles))
	return append(append(to, b.Minima[:]...), b.Lead[:]...)
}

func (b *Body) decode(from []byte) {
	b.Shingles = int32(binary.LittleEndian.Uint32(from))
	copy(b.Minima[:], from[4:])
	copy(b.Lead[:], from[4+len(b.Minima):])
}

// bodyBlocks are the indexed bodies, oldest first, in blocks of perBlock bodies.
type bodyBlocks struct {
	blocks []bodyBlock
	head   uint32 // index of the oldest body in the first block
	len    uint32
	read   Body // the last body that was read from a file
}

// A bodyBlock contains perBlock bodies, in memory or in a file.
type bodyBlock struct {
	bodies []Body
	place
}

// at returns a body, valid until the next call.
func (r *bodyBlocks) at(i uint32, s *spill) *Body {
	i += r.head
	block := &r.blocks[i/perBlock]
	if block.bodies != nil {
		return &block.bodies[i%perBlock]
	}
	var buffer [bodySize]byte
	s.read(block.place, int(i%perBlock)*bodySize, buffer[:])
	r.read.decode(buffer[:])
	return &r.read
}

// push appends a body.
func (r *bodyBlocks) push(b Body, s *spill) {
	if (r.head+r.len)/perBlock == uint32(len(r.blocks)) {
		r.blocks = append(r.blocks, bodyBlock{bodies: make([]Body, perBlock)})
		if n := len(r.blocks) - 1 - residentBlocks; n >= 0 && r.blocks[n].bodies != nil {
			r.blocks[n].spill(s)
		}
	}
	i := r.head + r.len
	r.blocks[i/perBlock].bodies[i%perBlock] = b
	r.len++
}

// spill moves a block to a file.
func (b *bodyBlock) spill(s *spill) {
	if s.newFile == nil {
		return
	}
	bytes := make([]byte, 0, perBlock*bodySize)
	for i := range b.bodies {
		bytes = b.bodies[i].append(bytes)
	}
	if b.place = s.write(bytes); b.file != nil {
		b.bodies = nil
	}
}

// pop removes the oldest body.
func (r *bodyBlocks) pop(s *spill) {
	r.len--
	if r.head++; r.head == perBlock {
		s.evict(&r.blocks[0].place)
		r.blocks[0] = bodyBlock{}
		r.blocks, r.head = r.blocks[1:], 0
	}
}

package near

import "io"

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

// A spill writes blocks to files: older items, their texts and bodies, which are seldom read. A block that can't be
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

// overwrite changes bytes of a block from an offset on, and reports whether it succeeded.
func (s *spill) overwrite(p place, offset int, bytes []byte) bool {
	_, s.writeErr = p.file.WriteAt(bytes, p.at+int64(offset))
	return s.writeErr == nil
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

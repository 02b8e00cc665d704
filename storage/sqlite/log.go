package sqlite

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/ncruces/go-sqlite3"

	"feedmesh/storage"
)

const (
	// checkpointPages is the size of the log, in pages, from which a commit checkpoints it.
	checkpointPages = 8000

	// logInterval is the interval at which the log is verified if its file was written. A log of 64 MB takes 50 ms.
	logInterval = 20 * time.Second

	// restingLogInterval is the interval at which a log is verified that was not written: only the disk can have damaged it.
	restingLogInterval = 10 * time.Minute
)

// SQLite verifies the log only when it recovers it after a crash. A read of a damaged page of the log returns what is
// there, and a checkpoint gives it a right checksum: so the log is verified at intervals and before each checkpoint.

// A logEnd is the end of the log after a commit of this process.
type logEnd struct {
	salts uint64 // of the log, which are others after it was begun anew
	pages int
}

// A verifiedLog is the state of the file of the log when it was last found right.
type verifiedLog struct {
	logEnd
	size         int64
	written, was time.Time // last write of the file, and when it was verified
}

// committed is called by SQLite after each commit, with the number of pages in the log.
func (e *engine) committed(c *sqlite3.Conn, schema string, pages int) error {
	defer close(*e.changed.Swap(new(make(chan struct{}))))
	e.log.Store(nil)
	if file, err := os.Open(e.path + "-wal"); err == nil {
		if header, err := readLogHeader(file); err == nil {
			e.log.Store(&logEnd{header.salts, pages})
		}
		file.Close()
	}
	if pages < e.checkpointPages {
		return nil
	}
	if e.verifyLog() != nil {
		return sqlite3.CORRUPT // see transact
	}
	_, _, _ = c.WALCheckpoint(schema, sqlite3.CHECKPOINT_PASSIVE) // a failure is repeated by the next commit
	return nil
}

// closing prepares the connection for its end, which is a checkpoint if no other is open. A damaged log stays: the next
// Open recovers what precedes the damage.
func (e *engine) closing(c *sqlite3.Conn) error {
	c.SetInterrupt(context.Background())
	var err error
	damaged := e.verifyLog() != nil
	if damaged {
		_, err = c.Config(sqlite3.DBCONFIG_NO_CKPT_ON_CLOSE, true)
	}
	// The last connection deletes the log, and the next one begins with an empty file.
	if e.connections.Add(-1) == 0 && !damaged {
		e.log.Store(nil)
	}
	return errors.Join(err, c.Exec(stopVerifying))
}

// scanLog verifies the log at intervals until Close.
func (e *engine) scanLog() {
	for {
		select {
		case <-e.ending.Done():
			return
		case <-time.After(logInterval):
		}
		_ = e.scanLogOnce() // records damage
	}
}

// scanLogOnce verifies the log unless its file is the one that was verified last.
func (e *engine) scanLogOnce() error {
	end := e.log.Load()
	if end == nil {
		return nil
	}
	info, err := os.Stat(e.path + "-wal")
	if err != nil {
		return nil
	}
	now := verifiedLog{logEnd: *end, size: info.Size(), written: info.ModTime(), was: time.Now()}
	if last := e.verified; last.logEnd == now.logEnd && last.size == now.size && last.written.Equal(now.written) && now.was.Sub(last.was) < restingLogInterval {
		return nil
	}
	if err := e.verifyLog(); err != nil {
		return err
	}
	e.verified = now
	return nil
}

// verifyLog verifies the log up to the last commit of this process, and records damage. It returns nil for a log that
// another process began anew, and for one that cannot be read.
func (e *engine) verifyLog() error {
	end := e.log.Load()
	if end == nil {
		return nil
	}
	file, err := os.Open(e.path + "-wal")
	if err != nil {
		return nil
	}
	defer file.Close()
	if err = checkLog(file, *end); err == nil {
		return nil
	}
	if header, again := readLogHeader(file); again == nil && header.salts != end.salts {
		return nil // it was begun anew meanwhile
	}
	err = fmt.Errorf("the log of the store is %w: restart the agent: the store goes back to its state before the damage, and what it lost is fetched again as far as feeds still list it: %w", storage.ErrDamaged, err)
	e.damage.CompareAndSwap(nil, &err)
	return err
}

// A logHeader is the begin of a log.
//
// Source: https://sqlite.org/fileformat2.html#the_write_ahead_log
type logHeader struct {
	salts    uint64
	pageSize int
	sums     [2]uint32 // that the checksum of the first frame continues
}

const (
	logHeaderSize   = 32
	frameHeaderSize = 24

	// littleEndianLog begins a log whose checksums are little-endian, as machines of that kind write it.
	littleEndianLog = 0x377f0682
)

var errOtherLog = errors.New("the log was written by a machine of another kind")

func readLogHeader(file *os.File) (h logHeader, err error) {
	b := make([]byte, logHeaderSize)
	if _, err := file.ReadAt(b, 0); err != nil {
		return h, err
	}
	if binary.BigEndian.Uint32(b) == littleEndianLog|1 {
		return h, errOtherLog
	}
	h.pageSize, h.salts = int(binary.BigEndian.Uint32(b[8:])), binary.BigEndian.Uint64(b[16:])
	h.sums[0], h.sums[1] = addChecksum(0, 0, b[:24])
	if binary.BigEndian.Uint32(b) != littleEndianLog || h.sums != storedSums(b[24:]) || h.pageSize < 512 || h.pageSize > 1<<16 {
		return h, errors.New("its header has a wrong checksum")
	}
	return h, nil
}

func storedSums(b []byte) [2]uint32 {
	return [2]uint32{binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])}
}

// checkLog returns an error unless the pages of the log have right checksums, each of which includes those before it.
func checkLog(file *os.File, end logEnd) error {
	header, err := readLogHeader(file)
	if err != nil {
		return err
	}
	frame := make([]byte, frameHeaderSize+header.pageSize)
	pages := bufio.NewReaderSize(io.NewSectionReader(file, logHeaderSize, 1<<62), 1<<20)
	sums := header.sums
	for n := range end.pages {
		if _, err := io.ReadFull(pages, frame); err != nil {
			return fmt.Errorf("page %d of %d: %w", n+1, end.pages, err)
		}
		sums[0], sums[1] = addChecksum(sums[0], sums[1], frame[:8])
		sums[0], sums[1] = addChecksum(sums[0], sums[1], frame[frameHeaderSize:])
		if binary.BigEndian.Uint64(frame[8:]) != end.salts || sums != storedSums(frame[16:]) {
			return fmt.Errorf("page %d of %d has a wrong checksum", n+1, end.pages)
		}
	}
	return nil
}

package sqlite

import (
	"bytes"
	"context"
	"database/sql"
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
	// scanInterval is the interval of the scans for damage in pages that are never read otherwise.
	scanInterval = 24 * time.Hour

	// scanRate bounds the bytes that a scan reads in a second. It takes a fiftieth of a CPU.
	scanRate = 64 << 20
)

// checksumSize is the number of bytes at the end of each page for its checksum. The driver verifies it where a page
// is read from the file, and writes it where a checkpoint writes the page. Pages in the log have checksums of the log.
//
// Source: https://sqlite.org/cksumvfs.html
const checksumSize = 8

// requestChecksums gives checksums to the pages of a new file, and to those of an existing one when VACUUM writes it
// anew.
func requestChecksums(c *sqlite3.Conn) error {
	_, err := c.FileControl("main", sqlite3.FCNTL_RESERVE_BYTES, checksumSize)
	return err
}

// stopVerifying ends the verification by a connection before a checkpoint, which reads no pages of the file. With it,
// the driver (v0.35.4 to v0.37.0) panics if another process wrote since the connection read last: vfsUnfetch calls a
// nil MemoryMapper.
const stopVerifying = `PRAGMA checksum_verification = OFF`

// maxRewrite bounds the size of a file that is written anew to get checksums, which takes a second. A larger one gets
// them when it is restored from a backup.
const maxRewrite = 64 << 20

// addChecksums gives checksums to the pages of a small file of an older version, and lets it shrink. A file that cannot be written now,
// because another process uses it or the disk is full, stays as it is.
func (e *engine) addChecksums(ctx context.Context, conn *sql.Conn) error {
	file, err := os.Open(e.path)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if _, reserved, err := pageFormat(file); err != nil || reserved == checksumSize || info.Size() > maxRewrite {
		return err
	}
	_, err = conn.ExecContext(ctx, `PRAGMA auto_vacuum = INCREMENTAL; VACUUM`)
	if err = translateError(ctx, e.path, err); errors.Is(err, storage.ErrDamaged) {
		return err
	}
	return ctx.Err()
}

// scanFile scans the file now and at intervals, and the log more often, until Close.
func (e *engine) scanFile() {
	e.scanner.Go(e.scanLog)
	for {
		if err := e.scan(scanRate); errors.Is(err, storage.ErrDamaged) {
			e.damage.CompareAndSwap(nil, &err)
		}
		select {
		case <-e.ending.Done():
			return
		case <-time.After(scanInterval):
		}
	}
}

// scan verifies all pages at the given rate in bytes per second. A file without checksums is checked by SQLite for a
// right structure. Errors other than damage only end the scan.
func (e *engine) scan(rate int) error {
	file, err := os.Open(e.path)
	if err != nil {
		return err
	}
	defer file.Close()
	pageSize, reserved, err := pageFormat(file)
	if err != nil {
		return err
	}
	if reserved != checksumSize {
		return e.checkStructure()
	}
	chunk := make([]byte, max(1, 1<<20/pageSize)*pageSize)
	for at := int64(0); ; at += int64(len(chunk)) {
		n, err := file.ReadAt(chunk, at)
		if err != nil && err != io.EOF {
			return err
		}
		if page := wrongPage(chunk[:n], pageSize); page >= 0 {
			if err := e.verifyPage(file, at+int64(page), pageSize); err != nil {
				return err
			}
		}
		if n < len(chunk) {
			return nil
		}
		select {
		case <-e.ending.Done():
			return e.ending.Err()
		case <-time.After(time.Duration(n) * time.Second / time.Duration(rate)):
		}
	}
}

// pageFormat returns the size of the file's pages and the bytes that each reserves.
//
// Source: https://sqlite.org/fileformat2.html#the_database_header
func pageFormat(file *os.File) (size, reserved int, err error) {
	header := make([]byte, 100)
	if _, err := file.ReadAt(header, 0); err != nil {
		return 0, 0, err
	}
	size = int(binary.BigEndian.Uint16(header[16:]))
	if size == 1 {
		size = 1 << 16
	}
	if size < 512 {
		return 0, 0, damaged(errors.New("the header has no page size"))
	}
	return size, int(header[20]), nil
}

// wrongPage returns the offset of the first page with a wrong checksum, or -1. It ignores an incomplete page at the
// end, which is being written.
func wrongPage(pages []byte, size int) int {
	for at := 0; at+size <= len(pages); at += size {
		page := pages[at : at+size]
		end := size - checksumSize
		if sum := checksum(page[:end]); !bytes.Equal(sum[:], page[end:]) {
			return at
		}
	}
	return -1
}

// checksum returns the checksum of a page's content.
func checksum(content []byte) (sum [checksumSize]byte) {
	a, b := addChecksum(0, 0, content)
	binary.LittleEndian.PutUint32(sum[:], a)
	binary.LittleEndian.PutUint32(sum[4:], b)
	return sum
}

// addChecksum continues a checksum with more content, of a multiple of 8 bytes.
func addChecksum(a, b uint32, content []byte) (uint32, uint32) {
	for ; len(content) >= 8; content = content[8:] {
		a += binary.LittleEndian.Uint32(content) + b
		b += binary.LittleEndian.Uint32(content[4:]) + a
	}
	return a, b
}

// verifyPage returns an error if a page is damaged. A page that seems to be damaged may have been read while it was
// written, or the log may have a newer version: a checkpoint writes that.
func (e *engine) verifyPage(file *os.File, at int64, size int) error {
	if err := e.checkpoint(e.ending); err != nil {
		return err
	}
	page := make([]byte, size)
	if _, err := file.ReadAt(page, at); err != nil {
		return err
	}
	if wrongPage(page, size) < 0 {
		return nil
	}
	return damaged(fmt.Errorf("page %d of %s has a wrong checksum", at/int64(size)+1, e.path))
}

// checkpoint writes the log's pages to the file, as far as no reader needs older ones.
func (e *engine) checkpoint(ctx context.Context) error {
	select {
	case e.writeLock <- struct{}{}:
		defer func() { <-e.writeLock }()
	case <-ctx.Done():
		return ctx.Err()
	}
	w, err := e.writer(ctx)
	if err != nil {
		return err
	}
	if err := e.verifyLog(); err != nil {
		return err
	}
	if _, err := w.conn.ExecContext(ctx, stopVerifying); err != nil {
		return err
	}
	_, err = w.conn.ExecContext(ctx, `PRAGMA wal_checkpoint(PASSIVE)`)
	_, failed := w.conn.ExecContext(context.WithoutCancel(ctx), `PRAGMA checksum_verification = ON`)
	return errors.Join(err, failed)
}

// checkStructure has SQLite check the structure of each table.
func (e *engine) checkStructure() error {
	tables, err := readOnce(e.ending, e, "list tables", `SELECT name FROM sqlite_schema WHERE type = 'table'`, scanText)
	if err != nil {
		return err
	}
	for _, table := range tables {
		found, err := readOnce(e.ending, e, "check "+table, `PRAGMA quick_check(`+sqlite3.QuoteIdentifier(table)+`)`, scanText)
		if err != nil {
			return err
		}
		if found[0] != "ok" {
			return damaged(errors.New(found[0]))
		}
	}
	return nil
}

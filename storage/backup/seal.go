package backup

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
)

// sealMark begins the last bytes of a backup. The SHA-256 of all before it follows. SQLite ignores bytes after the
// pages of a file.
const sealMark = "feedmesh"

const sealSize = len(sealMark) + sha256.Size

// ErrDamaged reports that a file is not a complete backup as it was made.
var ErrDamaged = errors.New("the file is not a complete feedmesh backup, or was changed or damaged since: use another copy of it or an older backup")

// seal appends the checksum to the file and syncs it to disk.
func seal(path string) (err error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return err
	}
	if _, err := f.Write(sum.Sum([]byte(sealMark))); err != nil { // at the end, where the reads stopped
		return err
	}
	return f.Sync()
}

// copySealed copies a backup without its seal to w. It returns [ErrDamaged] if the checksum differs.
func copySealed(w io.Writer, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	if size < int64(sealSize) {
		return ErrDamaged
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	sum := sha256.New()
	if _, err := io.CopyN(io.MultiWriter(sum, w), f, size-int64(sealSize)); err != nil {
		return fmt.Errorf("copy the backup: %w", err)
	}
	end := make([]byte, sealSize)
	if _, err := io.ReadFull(f, end); err != nil {
		return err
	}
	if !bytes.Equal(end, sum.Sum([]byte(sealMark))) {
		return ErrDamaged
	}
	return nil
}

package imageproxy

import (
	"bytes"
	"container/list"
	"crypto/sha256"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// endings are the endings of cached files, by media type.
var endings = map[string]string{"image/jpeg": ".jpg", "image/png": ".png"}

// useInterval is the interval at which the use of a file is noted in its modification time, by which a restarted process
// orders the files.
const useInterval = time.Hour

// A cache is a folder of pictures with a limit, which removes those used longest ago. A file is the SHA-256 hash of a
// picture and the picture; damaged files are removed. A nil cache caches nothing.
type cache struct {
	folder string
	limit  int64
	log    *slog.Logger

	mu    sync.Mutex
	files map[string]*list.Element // by key
	order *list.List               // of *cached; last used first
	size  int64                    // of all files, in bytes
}

// A cached is a file of a [cache].
type cached struct {
	key, path, kind string
	size            int64
	used            time.Time // as in the file's modification time
}

// openCache opens a folder, or returns nil.
func openCache(folder string, limit int64, log *slog.Logger) *cache {
	if folder == "" {
		return nil
	}
	c := &cache{folder: folder, limit: limit, log: log, files: map[string]*list.Element{}, order: list.New()}
	if err := c.read(); err != nil {
		log.Warn("pictures are not cached: their folder can't be used", "folder", folder, "err", err)
		return nil
	}
	return c
}

// read lists the files of the folder. It removes other files: those that a stopped process left unfinished.
func (c *cache) read() error {
	if err := os.MkdirAll(c.folder, 0o700); err != nil {
		return err
	}
	entries, err := os.ReadDir(c.folder)
	if err != nil {
		return err
	}
	var all []*cached
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		path, ending := filepath.Join(c.folder, e.Name()), filepath.Ext(e.Name())
		kind := ""
		for k, of := range endings {
			if of == ending {
				kind = k
			}
		}
		if kind == "" {
			_ = os.Remove(path) // else the next start removes it
			continue
		}
		all = append(all, &cached{key: e.Name()[:len(e.Name())-len(ending)], path: path, kind: kind, size: info.Size(), used: info.ModTime()})
	}
	slices.SortFunc(all, func(a, b *cached) int { return b.used.Compare(a.used) })
	for _, f := range all {
		c.files[f.key] = c.order.PushBack(f)
		c.size += f.size
	}
	c.shrink()
	return nil
}

// get returns a cached picture.
func (c *cache) get(key string) (Picture, bool) {
	if c == nil {
		return Picture{}, false
	}
	c.mu.Lock()
	element := c.files[key]
	if element == nil {
		c.mu.Unlock()
		return Picture{}, false
	}
	c.order.MoveToFront(element)
	f := element.Value.(*cached)
	now := time.Now()
	note := now.Sub(f.used).Abs() > useInterval
	if note {
		f.used = now
	}
	c.mu.Unlock()
	content, err := os.ReadFile(f.path)
	if err != nil || !isIntact(content) {
		c.remove(key)
		return Picture{}, false
	}
	if note {
		_ = os.Chtimes(f.path, now, now) // else it counts as used earlier after a restart
	}
	return Picture{f.kind, content[sha256.Size:]}, true
}

// isIntact reports whether a file has the hash that it begins with.
func isIntact(file []byte) bool {
	if len(file) <= sha256.Size {
		return false
	}
	sum := sha256.Sum256(file[sha256.Size:])
	return bytes.Equal(sum[:], file[:sha256.Size])
}

// put caches a picture. Without space on the disk it does not.
func (c *cache) put(key string, p Picture) {
	if c == nil || int64(len(p.Content)) > c.limit/10 {
		return
	}
	f := &cached{key: key, path: filepath.Join(c.folder, key+endings[p.Type]), kind: p.Type, size: int64(sha256.Size + len(p.Content)), used: time.Now()}
	sum := sha256.Sum256(p.Content)
	if err := write(f.path, sum[:], p.Content); err != nil {
		c.log.Warn("picture not cached", "err", err)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if old := c.files[key]; old != nil {
		c.size -= old.Value.(*cached).size
		c.order.Remove(old)
	}
	c.files[key] = c.order.PushFront(f)
	c.size += f.size
	c.shrink()
}

// write writes a file under another name first, so that a stopped process leaves no part of it under its own.
func write(path string, parts ...[]byte) error {
	file, err := os.CreateTemp(filepath.Dir(path), "*.part")
	if err != nil {
		return err
	}
	for _, part := range parts {
		if _, err = file.Write(part); err != nil {
			break
		}
	}
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		_ = os.Remove(file.Name()) // the next start removes it too
	}
	return err
}

// shrink removes the files used longest ago until the others are within the limit. c.mu is locked, or c is not shared yet.
func (c *cache) shrink() {
	for c.size > c.limit {
		c.drop(c.order.Back())
	}
}

func (c *cache) remove(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if element := c.files[key]; element != nil {
		c.drop(element)
	}
}

// drop removes a file. One that can't be removed is listed again at the next start.
func (c *cache) drop(element *list.Element) {
	f := element.Value.(*cached)
	c.order.Remove(element)
	delete(c.files, f.key)
	c.size -= f.size
	_ = os.Remove(f.path)
}

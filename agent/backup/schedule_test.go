package backup

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/minio/minio-go/v7"
	"github.com/prometheus/client_golang/prometheus"

	"feedmesh/config"
	"feedmesh/storage/backup"
	"feedmesh/storage/sqlite"
)

// newMaker returns a maker of an empty store.
func newMaker(t *testing.T) *Maker {
	t.Helper()
	dir := t.TempDir()
	s, err := sqlite.Open(t.Context(), filepath.Join(dir, "store.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return New(Options{
		Store: backup.Store{File: filepath.Join(dir, "store.db"), Engine: "sqlite"}, Program: "test", Folder: dir, Log: slog.New(slog.DiscardHandler),
		Size:     func(context.Context) (int64, error) { return 1 << 20, nil },
		Free:     func(string) (int64, error) { return 1 << 40, nil },
		Schedule: func(context.Context, func(bucket, key string, value []byte) error) error { return nil },
	})
}

func newSchedule(t *testing.T, m *Maker, c config.Backup) *Schedule {
	t.Helper()
	s, err := NewSchedule(m, ScheduleOptions{
		Settings: c, StoreID: "0123456789abcdef", Metrics: prometheus.NewRegistry(),
		Single: func(ctx context.Context, _ string, run func(context.Context) error) error { return run(ctx) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// bucketSettings returns the settings of a bucket of a server that speaks S3.
func bucketSettings(t *testing.T) (config.Backup, *gofakes3.GoFakeS3) {
	t.Helper()
	server := gofakes3.New(s3mem.New())
	web := httptest.NewServer(server.Server())
	t.Cleanup(web.Close)
	c := config.Backup{To: "s3://feeds/deep/er", Every: time.Hour, Keep: 2, S3Endpoint: config.Address(web.URL), S3Key: "id", S3Secret: "secret"}
	b, err := openTarget(c, t.TempDir())
	if err == nil {
		err = b.(*bucket).client.MakeBucket(t.Context(), "feeds", minio.MakeBucketOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
	return c, server
}

// Targets store backups under their names, list and prune only their own, and continue after a restart.
func TestSchedule_KeepsTheNewest(t *testing.T) {
	inFolder := config.Backup{To: filepath.Join(t.TempDir(), "backups"), Every: time.Hour, Keep: 2}
	inBucket, _ := bucketSettings(t)
	for _, c := range []config.Backup{inFolder, inBucket} {
		t.Run(c.To[:2], func(t *testing.T) {
			m := newMaker(t)
			s := newSchedule(t, m, c)
			foreign := []string{"feedmesh-20200101T000000Z.db", "feedmesh-99999999-20200101T000000Z.db", "feedmesh-01234567-2020.db", "feedmesh-other.db"}
			old := []string{"feedmesh-01234567-20200101T000000Z.db", "feedmesh-01234567-20210101T000000Z.db"}
			future := fileName("01234567", time.Now().Add(48*time.Hour))
			dir, err := s.target.workFolder()
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range append(append(foreign, old...), future) {
				path := filepath.Join(dir, name+".test")
				if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
					t.Fatal(err)
				}
				if err := s.target.store(t.Context(), path, name); err != nil {
					t.Fatal(err)
				}
			}
			if wait := s.attempt(t.Context()); wait != maxRetry {
				t.Errorf("got the next attempt in %v, want %v", wait, maxRetry)
			}
			if state := s.State(); state.Problem != "" || time.Since(state.Last) > time.Minute || state.Size < 4096 || !s.Check().OK {
				t.Errorf("got %+v, want a backup made now", state)
			}
			names, err := s.target.list(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range append(foreign, future) {
				if !slices.Contains(names, name) {
					t.Errorf("%s was deleted", name)
				}
			}
			if slices.Contains(names, old[0]) || slices.Contains(names, old[1]) || len(names) != len(foreign)+2 {
				t.Errorf("got %v, want the old ones deleted", names)
			}
			again := newSchedule(t, m, c)
			again.attempt(t.Context())
			if now, err := again.target.list(t.Context()); err != nil || !slices.Equal(now, names) {
				t.Errorf("after a restart: got %v, %v; want no new backup", now, err)
			}
			if left, _ := filepath.Glob(filepath.Join(m.Folder, "*.partial*")); len(left) > 0 {
				t.Errorf("%v remain", left)
			}
		})
	}
}

// The state has the last backup on request, also without a schedule.
func TestMaker_State(t *testing.T) {
	m := newMaker(t)
	if state := m.State(nil); state != nil {
		t.Errorf("without a backup: got %+v", state)
	}
	d, err := m.Make(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer d.Body.Close()
	if state := m.State(nil); state == nil || state.To != "" || time.Since(state.Requested) > time.Minute || state.RequestedSize != d.Size {
		t.Errorf("got %+v, want the backup of %d bytes", state, d.Size)
	}
	s := newSchedule(t, m, config.Backup{To: t.TempDir(), Every: time.Hour, Keep: 2})
	s.attempt(t.Context())
	if state := m.State(s); state.To == "" || state.Last.IsZero() || state.RequestedSize != d.Size {
		t.Errorf("with a schedule: got %+v", state)
	}
}

// A stored backup is the file that was made.
func TestSchedule_StoredFileIsWhole(t *testing.T) {
	c, _ := bucketSettings(t)
	s := newSchedule(t, newMaker(t), c)
	s.attempt(t.Context())
	names, err := s.own(t.Context())
	if err != nil || len(names) != 1 {
		t.Fatalf("got %v, %v", names, err)
	}
	b := s.target.(*bucket)
	path := filepath.Join(t.TempDir(), "received.db")
	if err := b.client.FGetObject(t.Context(), b.name, b.key(names[0]), path, minio.GetObjectOptions{}); err != nil {
		t.Fatal(err)
	}
	if info, err := backup.Verify(t.Context(), path); err != nil || info.Program != "test" {
		t.Errorf("got %+v, %v", info, err)
	}
}

// A backup that fails, and one that is missing, is a warning with its reason until one succeeds.
func TestSchedule_ProblemUntilASuccess(t *testing.T) {
	m := newMaker(t)
	c := config.Backup{To: filepath.Join(t.TempDir(), "backups"), Every: time.Hour, Keep: 2}
	s := newSchedule(t, m, c)
	free := m.Free
	m.Free = func(string) (int64, error) { return minFree + 1000, nil }
	s.attempt(t.Context())
	if got := s.Check(); got.OK || !got.Warning || !strings.Contains(got.Detail, "too little space for a backup") || !strings.Contains(got.Detail, c.To) {
		t.Errorf("got %+v, want that the disk is full", got)
	}
	m.Free = free
	s.attempt(t.Context())
	if got := s.Check(); !got.OK {
		t.Errorf("got %+v after a success", got)
	}
	for _, name := range []string{"feedmesh-01234567-20200101T000000Z.db", ""} {
		if err := os.RemoveAll(c.To); err != nil {
			t.Fatal(err)
		}
		if name != "" {
			os.MkdirAll(c.To, 0o700)
			os.WriteFile(filepath.Join(c.To, name), nil, 0o600)
		}
		s.started = time.Now().Add(-3 * time.Hour)
		s.list(t.Context())
		if got := s.Check(); got.OK || !strings.Contains(got.Detail, "two intervals") {
			t.Errorf("with %q: got %+v, want that it is old or missing", name, got)
		}
	}
	if err := os.RemoveAll(c.To); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(c.To, nil, 0o600); err != nil { // not a folder
		t.Fatal(err)
	}
	s.list(t.Context())
	if got := s.Check(); got.OK || !strings.Contains(got.Detail, "fail") {
		t.Errorf("got %+v, want that it can't be listed", got)
	}
}

// An unreachable or unknown bucket is reported, and no temporary file remains.
func TestSchedule_BucketUnavailable(t *testing.T) {
	c, _ := bucketSettings(t)
	c.To = "s3://unknown"
	m := newMaker(t)
	s := newSchedule(t, m, c)
	s.attempt(t.Context())
	if got := s.Check(); got.OK || !strings.Contains(got.Detail, "bucket unknown") || strings.Contains(got.Detail, "secret") {
		t.Errorf("got %+v, want the bucket's error", got)
	}
	if left, _ := filepath.Glob(filepath.Join(m.Folder, "feedmesh-*")); len(left) > 0 {
		t.Errorf("%v remain", left)
	}
}

// Downloads that are made at the same time have different files, which are deleted when they are closed; files of an
// interrupted process are deleted at the start.
func TestMaker_TemporaryFiles(t *testing.T) {
	m := newMaker(t)
	first, err := m.Make(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	second, err := m.Make(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(first.Body.Close(), second.Body.Close()); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"feedmesh-1.db.partial", "feedmesh-1.db.partial.values", "feedmesh-01234567-20200101T000000Z.db.partial-journal"} {
		if err := os.WriteFile(filepath.Join(m.Folder, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	New(m.Options)
	if left, _ := filepath.Glob(filepath.Join(m.Folder, "feedmesh-*")); len(left) > 0 {
		t.Errorf("%v remain", left)
	}
	m.Free = func(string) (int64, error) { return 0, fmt.Errorf("no such disk") }
	if _, err := m.Make(t.Context()); err == nil || !strings.Contains(err.Error(), "no such disk") {
		t.Errorf("got %v", err)
	}
}

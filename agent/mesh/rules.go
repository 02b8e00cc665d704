package mesh

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"feedmesh/storage"
	"feedmesh/subjects"
)

const (
	// maxRuleRetries bounds the retries of a write that conflicts with others.
	maxRuleRetries = 5

	// maxWatchTime bounds one watch. The client detects a lost consumer or bucket itself; this timeout covers
	// cases that it misses.
	maxWatchTime = 5 * time.Minute

	// watchRetry is the delay before a failed watch is retried.
	watchRetry = 2 * time.Second
)

// rules are the active versions of the rule sets.
type rules struct{ *client }

// PutRules activates the newest version of a rule set. newest returns it, or [storage.ErrNotFound] if the set
// does not exist; then PutRules does nothing. newest is called after the bucket was read, so the result is
// never older than the active version, unless the store itself was reset to an older state. A concurrent
// write of a newer version fails this one by its revision, and it is retried.
func (r rules) PutRules(ctx context.Context, set string, newest func(ctx context.Context) (storage.RuleSet, error)) error {
	var err error
	for range maxRuleRetries {
		if err = r.putRules(ctx, set, newest); !isStale(err) {
			break
		}
		sleep(ctx, 50*time.Millisecond)
	}
	if err != nil {
		return fmt.Errorf("activate rules %s: %w", set, err)
	}
	return nil
}

func (r rules) putRules(ctx context.Context, set string, newest func(ctx context.Context) (storage.RuleSet, error)) error {
	kv, err := r.bucket(ctx, subjects.RuleBucket)
	if err != nil {
		return err
	}
	entry, err := kv.Get(perRequestTimeout(ctx), set)
	if err != nil && !errors.Is(err, jetstream.ErrKeyNotFound) {
		return err
	}
	current, err := newest(ctx)
	if errors.Is(err, storage.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if entry != nil {
		version, text, err := decodeRules(entry.Value())
		if err == nil && version == current.Version && bytes.Equal(text, current.Text) {
			return nil
		}
		if err != nil {
			if err := r.quarantineValue(ctx, subjects.RuleBucket, set, entry.Revision(), entry.Value(), err); err != nil {
				return err
			}
		}
	}
	value, err := encodeRules(current)
	if err != nil {
		return err
	}
	if entry == nil {
		_, err = kv.Create(perRequestTimeout(ctx), set, value)
	} else {
		_, err = kv.Update(perRequestTimeout(ctx), set, value, entry.Revision())
	}
	return err
}

// WatchRules calls notify with the active rules of a set, and again after each change, until ctx ends. The
// first call follows the first read of the bucket; without active rules it has version 0 and no text. If the
// bucket is unavailable or deleted, the last rules remain. It always returns nil.
func (r rules) WatchRules(ctx context.Context, set string, notify func(version int64, text []byte)) error {
	w := &rulesWatch{client: r.client, set: set, notify: notify}
	for ctx.Err() == nil {
		if err := w.watch(ctx); err != nil && ctx.Err() == nil {
			r.log.Debug("watch of active rules failed", "rules", set, "err", err)
			sleep(ctx, watchRetry)
		}
	}
	return nil
}

// rulesWatch is the state of a watch: the version reported last.
type rulesWatch struct {
	client   *client
	set      string
	notify   func(version int64, text []byte)
	notified bool
	version  int64
	text     []byte
	damaged  uint64 // revision of the last unreadable value
}

// watch runs one watch. It ends when the connection was restored, because the client would detect the lost
// consumer only by missing heartbeats.
func (w *rulesWatch) watch(ctx context.Context) error {
	reconnected := w.client.conn.StatusChanged(nats.CONNECTED)
	defer w.client.conn.RemoveStatusListener(reconnected)
	kv, err := w.client.bucket(ctx, subjects.RuleBucket)
	if err != nil {
		return err
	}
	watcher, err := kv.Watch(ctx, w.set)
	if err != nil {
		return err
	}
	defer watcher.Stop()
	timeout := time.NewTimer(maxWatchTime)
	defer timeout.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-reconnected:
			return nil
		case <-timeout.C:
			return nil
		case entry, open := <-watcher.Updates():
			switch {
			case !open:
				return errors.New("connection lost")
			case entry != nil && entry.Operation() == jetstream.KeyValuePut:
				w.update(entry)
			case entry == nil && !w.notified: // all values were read
				w.report(0, nil)
			}
		}
	}
}

// update reports a value if it differs from the last one.
func (w *rulesWatch) update(entry jetstream.KeyValueEntry) {
	version, text, err := decodeRules(entry.Value())
	if err != nil {
		if w.damaged != entry.Revision() {
			w.damaged = entry.Revision()
			w.client.log.Warn("active rules unreadable, keep the previous version", "rules", w.set, "err", err)
		}
		return
	}
	if !w.notified || version != w.version || !bytes.Equal(text, w.text) {
		w.report(version, text)
	}
}

func (w *rulesWatch) report(version int64, text []byte) {
	w.notified, w.version, w.text = true, version, text
	w.notify(version, text)
}

// encodeRules returns rules in the format of the bucket.
func encodeRules(set storage.RuleSet) ([]byte, error) {
	var compressed bytes.Buffer
	zip := gzip.NewWriter(&compressed)
	if _, err := zip.Write(set.Text); err != nil {
		return nil, err
	}
	if err := zip.Close(); err != nil {
		return nil, err
	}
	return json.Marshal(subjects.Rules{Version: set.Version, Text: compressed.Bytes()})
}

// decodeRules decodes a value of encodeRules.
func decodeRules(value []byte) (version int64, text []byte, err error) {
	var stored subjects.Rules
	if err := json.Unmarshal(value, &stored); err != nil {
		return 0, nil, err
	}
	unzip, err := gzip.NewReader(bytes.NewReader(stored.Text))
	if err != nil {
		return 0, nil, err
	}
	text, err = io.ReadAll(io.LimitReader(unzip, storage.MaxRules+1))
	if err == nil && len(text) > storage.MaxRules {
		err = storage.ErrTooLarge
	}
	return stored.Version, text, err
}

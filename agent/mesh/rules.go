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
	// rulesTries is how often rules are put that others put at the same time.
	rulesTries = 5

	// watchAnew is how long one watch lasts. The client finds out by itself that
	// its consumer, or the bucket, was lost; should it not, this does.
	watchAnew = 5 * time.Minute

	// watchAgain is when a watch that could not begin is tried again.
	watchAgain = 2 * time.Second
)

// PutRules puts the newest version of a rule set in force: newest returns it, or
// [storage.ErrNotFound] if there is none, and then nothing is done. It is asked
// after the bucket was, so that what it returns is never older than what is in
// force, unless the store itself went back to an older state. Who asked it before
// somebody else put a newer version is refused by revision, and asks again.
func (m *Mesh) PutRules(ctx context.Context, set string, newest func(ctx context.Context) (storage.RuleSet, error)) error {
	var err error
	for range rulesTries {
		if err = m.putRules(ctx, set, newest); !isStale(err) {
			break
		}
		sleep(ctx, 50*time.Millisecond)
	}
	if err != nil {
		return fmt.Errorf("put rules %s in force: %w", set, err)
	}
	return nil
}

func (m *Mesh) putRules(ctx context.Context, set string, newest func(ctx context.Context) (storage.RuleSet, error)) error {
	kv, err := m.bucket(ctx, subjects.RuleBucket)
	if err != nil {
		return err
	}
	entry, err := kv.Get(eachBounded(ctx), set)
	if err != nil && !errors.Is(err, jetstream.ErrKeyNotFound) {
		return err
	}
	rules, err := newest(ctx)
	if errors.Is(err, storage.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if entry != nil {
		version, text, err := rulesOf(entry.Value())
		if err == nil && version == rules.Version && bytes.Equal(text, rules.Text) {
			return nil
		}
	}
	value, err := packRules(rules)
	if err != nil {
		return err
	}
	if entry == nil {
		_, err = kv.Create(eachBounded(ctx), set, value)
	} else {
		_, err = kv.Update(eachBounded(ctx), set, value, entry.Revision())
	}
	return err
}

// WatchRules calls do with the rules in force of a set, and again whenever they
// change, until ctx ends. The first call comes as soon as the bucket was read; if
// there are none in force then, it is with version 0 and no text. A bucket that is
// away or was deleted changes nothing. It never fails.
func (m *Mesh) WatchRules(ctx context.Context, set string, do func(version int64, text []byte)) error {
	w := &rulesWatch{mesh: m, set: set, do: do}
	for ctx.Err() == nil {
		if err := w.follow(ctx); err != nil && ctx.Err() == nil {
			m.log.Debug("can't see which rules are in force", "rules", set, "err", err)
			sleep(ctx, watchAgain)
		}
	}
	return nil
}

// A rulesWatch is what was last told of a set.
type rulesWatch struct {
	mesh    *Mesh
	set     string
	do      func(version int64, text []byte)
	called  bool
	version int64
	text    []byte
	damaged uint64 // revision of a value that can't be read
}

// follow watches for a while. A connection that was lost and is back ends it: the
// client would notice by the silence of its consumer only.
func (w *rulesWatch) follow(ctx context.Context) error {
	back := w.mesh.conn.StatusChanged(nats.CONNECTED)
	defer w.mesh.conn.RemoveStatusListener(back)
	kv, err := w.mesh.bucket(ctx, subjects.RuleBucket)
	if err != nil {
		return err
	}
	watcher, err := kv.Watch(ctx, w.set)
	if err != nil {
		return err
	}
	defer watcher.Stop()
	enough := time.NewTimer(watchAnew)
	defer enough.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-back:
			return nil
		case <-enough.C:
			return nil
		case entry, open := <-watcher.Updates():
			switch {
			case !open:
				return errors.New("the connection was lost")
			case entry != nil && entry.Operation() == jetstream.KeyValuePut:
				w.see(entry)
			case entry == nil && !w.called: // that was all there is
				w.tell(0, nil)
			}
		}
	}
}

// see tells of a value if it is another one.
func (w *rulesWatch) see(entry jetstream.KeyValueEntry) {
	version, text, err := rulesOf(entry.Value())
	if err != nil {
		if w.damaged != entry.Revision() {
			w.damaged = entry.Revision()
			w.mesh.log.Warn("the rules in force are unreadable: those before them stay", "rules", w.set, "err", err)
		}
		return
	}
	if !w.called || version != w.version || !bytes.Equal(text, w.text) {
		w.tell(version, text)
	}
}

func (w *rulesWatch) tell(version int64, text []byte) {
	w.called, w.version, w.text = true, version, text
	w.do(version, text)
}

// packRules returns rules as the bucket has them.
func packRules(set storage.RuleSet) ([]byte, error) {
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	if _, err := zip.Write(set.Text); err != nil {
		return nil, err
	}
	if err := zip.Close(); err != nil {
		return nil, err
	}
	return json.Marshal(subjects.Rules{Version: set.Version, Text: packed.Bytes()})
}

// rulesOf returns what packRules packed.
func rulesOf(value []byte) (version int64, text []byte, err error) {
	var rules subjects.Rules
	if err := json.Unmarshal(value, &rules); err != nil {
		return 0, nil, err
	}
	unzip, err := gzip.NewReader(bytes.NewReader(rules.Text))
	if err != nil {
		return 0, nil, err
	}
	text, err = io.ReadAll(io.LimitReader(unzip, storage.MaxRules+1))
	if err == nil && len(text) > storage.MaxRules {
		err = storage.ErrTooLarge
	}
	return rules.Version, text, err
}

package embedded

import (
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// The server drops what follows damage in the file of a stream when it starts or when it reads it, most often without
// a message. The last sequence numbers of the streams only grow: they are compared while the server runs, written when
// it stops, and compared with that at the next start.

// recordName is the name of the file with the last sequence numbers, in the server's folder.
const recordName = "streams.json"

// A streamEnd is the last sequence number of a stream.
type streamEnd struct {
	Created time.Time `json:"created"` // of the stream: one of the same name may be created later
	Last    uint64    `json:"last"`
}

// ends returns the ends of all streams.
func ends(of *server.Server) (map[string]streamEnd, error) {
	info, err := of.Jsz(&server.JSzOptions{Streams: true})
	if err != nil {
		return nil, err
	}
	all := map[string]streamEnd{}
	for _, account := range info.AccountDetails {
		for _, stream := range account.Streams {
			all[stream.Name] = streamEnd{stream.Created, stream.State.LastSeq}
		}
	}
	return all, nil
}

// record writes the ends of all streams. In a cluster the other servers have the messages.
func (s *Server) record(of *server.Server) error {
	if s.clustered || of == nil || !of.JetStreamEnabled() {
		return nil
	}
	all, err := ends(of)
	if err != nil {
		return err
	}
	text, err := json.Marshal(all)
	if err != nil {
		return err
	}
	path := filepath.Join(s.settings.StoreDir, recordName)
	if err := os.WriteFile(path+".partial", text, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".partial", path)
}

// An observer compares the ends of the streams with those observed last.
type observer struct {
	mu   sync.Mutex
	last map[string]streamEnd
	lost map[string]uint64 // since the start, by stream
}

// readRecord makes the record of the last stop the ends observed last. An unreadable record counts as none.
func (s *Server) readRecord() error {
	o := &s.observed
	o.mu.Lock()
	defer o.mu.Unlock()
	o.last, o.lost = nil, map[string]uint64{}
	text, err := os.ReadFile(filepath.Join(s.settings.StoreDir, recordName))
	if err == nil && json.Unmarshal(text, &o.last) != nil {
		o.last = nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// observe compares the streams with those observed last, and logs those that lost messages. A deleted stream that was
// created again lost none.
func (o *observer) observe(now map[string]streamEnd, log *slog.Logger) (lost map[string]uint64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for name, before := range o.last {
		if end, exists := now[name]; exists && end.Created.Equal(before.Created) && end.Last < before.Last {
			o.lost[name] += before.Last - end.Last
			log.Warn("NATS lost messages of a stream, its files are damaged", "stream", name, "messages", before.Last-end.Last)
		}
	}
	o.last = now
	return maps.Clone(o.lost)
}

// Lost returns the maximum numbers of messages that streams lost because of damaged files since the last start and
// before it, by stream. It is empty for a server of a cluster. It must be called often: a stream that was filled again
// meanwhile seems to have lost nothing.
func (s *Server) Lost() (map[string]uint64, error) {
	if s.clustered {
		return nil, nil
	}
	now, err := ends(s.nats.Load())
	if err != nil {
		return nil, err
	}
	return s.observed.observe(now, s.log), nil
}

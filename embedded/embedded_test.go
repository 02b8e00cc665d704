package embedded

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

func options(dir string) Options {
	return Options{Dir: dir, MaxFile: 64 << 20, MaxMessage: 1 << 20, Log: slog.New(slog.DiscardHandler)}
}

func start(t *testing.T, o Options) *Server {
	t.Helper()
	s, err := Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func connect(t *testing.T, s *Server) jetstream.JetStream {
	t.Helper()
	conn, err := s.Connect()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	return js
}

func stream(t *testing.T, js jetstream.JetStream) jetstream.Stream {
	t.Helper()
	stream, err := js.CreateOrUpdateStream(t.Context(), jetstream.StreamConfig{Name: "s", Subjects: []string{"s"}, MaxBytes: 32 << 20, MaxMsgSize: -1})
	if err != nil {
		t.Fatal(err)
	}
	return stream
}

func TestServer_KeepsAcknowledgedMessages(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const rounds, each = 3, 50
	for round := range rounds {
		s := start(t, options(dir))
		if err := s.Healthy(); err != nil {
			t.Errorf("after start %d: got %v, want it healthy", round, err)
		}
		js := connect(t, s)
		messages := stream(t, js)
		if got := messages.CachedInfo().State.Msgs; got != uint64(round*each) {
			t.Errorf("after start %d: got %d messages, want %d", round, got, round*each)
		}
		for i := range each {
			if _, err := js.Publish(t.Context(), "s", fmt.Appendf(nil, "%d/%d", round, i)); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	messages := stream(t, connect(t, start(t, options(dir))))
	for seq := range uint64(rounds * each) {
		m, err := messages.GetMsg(t.Context(), seq+1)
		if want := fmt.Sprintf("%d/%d", seq/each, seq%each); err != nil || string(m.Data) != want {
			t.Fatalf("message %d: got %v, %v; want %s", seq+1, m, err, want)
		}
	}
}

// It is what makes an acknowledged message safe from a power failure; that it
// works is nats-server's to prove.
// The server drops messages after damage without a word.
func TestStart_ReportsLostMessages(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := start(t, options(dir))
	js := connect(t, s)
	stream(t, js)
	for range 10 {
		if _, err := js.Publish(t.Context(), "s", []byte("text")); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []uint64{0, 10, 0} { // of a restart, of one with damage, of the next
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if want > 0 {
			if err := os.RemoveAll(filepath.Join(dir, "jetstream", "$G", "streams", "s", "msgs")); err != nil {
				t.Fatal(err)
			}
		}
		s = start(t, options(dir))
		if got, err := s.Lost(); err != nil || got["s"] != want {
			t.Errorf("%d messages are reported as lost, %v; want %d", got["s"], err, want)
		}
	}
}

func TestServer_SyncsBeforeAck(t *testing.T) {
	t.Parallel()
	s := start(t, options(t.TempDir()))
	if js := s.nats.Load().JetStreamConfig(); js == nil || !js.SyncAlways {
		t.Errorf("got %+v, want SyncAlways", js)
	}
}

func TestServer_OpensNoPort(t *testing.T) {
	t.Parallel()
	s := start(t, options(t.TempDir()))
	if addr := s.nats.Load().Addr(); addr != nil {
		t.Errorf("it listens on %v", addr)
	}
	if conn, err := nats.Connect(s.nats.Load().ClientURL(), nats.Timeout(time.Second)); err == nil {
		conn.Close()
		t.Errorf("it can be reached at %s", s.nats.Load().ClientURL())
	}
}

func TestServer_InstancesAreIsolated(t *testing.T) {
	t.Parallel()
	a, b := connect(t, start(t, options(t.TempDir()))), connect(t, start(t, options(t.TempDir())))
	stream(t, a)
	if _, err := b.Stream(t.Context(), "s"); !errors.Is(err, jetstream.ErrStreamNotFound) {
		t.Errorf("got %v, want %v", err, jetstream.ErrStreamNotFound)
	}
}

func TestServer_EnforcesBounds(t *testing.T) {
	t.Parallel()
	js := connect(t, start(t, options(t.TempDir())))
	stream(t, js)
	if _, err := js.Publish(t.Context(), "s", make([]byte, 1<<20)); err != nil {
		t.Errorf("the largest message: got %v, want it taken", err)
	}
	if _, err := js.Publish(t.Context(), "s", make([]byte, 1<<20+1)); !errors.Is(err, nats.ErrMaxPayload) {
		t.Errorf("a byte more: got %v, want %v", err, nats.ErrMaxPayload)
	}
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "big", MaxBytes: 64 << 20}); err == nil {
		t.Error("a stream larger than there is room for was made")
	}
}

func TestHealthy_ClosedServer(t *testing.T) {
	t.Parallel()
	s := start(t, options(t.TempDir()))
	conn, err := s.Connect(nats.NoReconnect())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for range 2 { // closing twice is harmless
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Healthy(); err == nil || !strings.HasPrefix(err.Error(), "embedded NATS server: ") {
		t.Errorf("got %v, want an error that says whose", err)
	}
	if conn, err := s.Connect(); err == nil {
		conn.Close()
		t.Error("it can be connected to")
	}
}

func TestStart_UnusableFolder(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	for _, dir := range []string{file, filepath.Join(file, "below")} {
		s, err := Start(options(dir))
		if err == nil {
			s.Close()
			t.Fatalf("%s: it started", dir)
		}
		if !strings.HasPrefix(err.Error(), "embedded NATS server in "+dir+": ") {
			t.Errorf("got %v, want an error that names %s", err, dir)
		}
	}
	if took := time.Since(began); took > 25*time.Second { // a server that is not ready is awaited for 30 s
		t.Errorf("it took %v", took)
	}
}

func TestStart_CreatesFolder(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a", "b")
	start(t, options(dir))
	if info, err := os.Stat(dir); err != nil || !info.IsDir() || runtime.GOOS != "windows" && info.Mode()&fs.ModePerm&0o007 != 0 {
		t.Errorf("got %v, %v; want a folder that is not for others", info, err)
	}
}

func TestRestart_KeepsStreamsAndConnections(t *testing.T) {
	s := start(t, options(t.TempDir()))
	restored := make(chan struct{}, 1)
	conn, err := s.Connect(nats.ReconnectWait(10*time.Millisecond), nats.MaxReconnects(-1), nats.ReconnectHandler(func(*nats.Conn) { restored <- struct{}{} }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "s", Subjects: []string{"s"}})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := js.Publish(t.Context(), "s", []byte("m")); err != nil {
			t.Fatal(err)
		}
		if err := s.Restart(); err != nil {
			t.Fatal(err)
		}
		<-restored
		if err := s.Healthy(); err != nil {
			t.Error(err)
		}
	}
	if info, err := stream.Info(t.Context()); err != nil || info.State.Msgs != 2 {
		t.Errorf("got %+v, %v after two restarts, want both messages", info, err)
	}
}

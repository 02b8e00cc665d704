package mesh_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"feedmesh/agent/mesh"
	"feedmesh/agent/mesh/meshtest"
	"feedmesh/embedded"
	"feedmesh/subjects"
)

const damagedFeeds, damagedTasks = 100, 50

func damageOptions(dir string) embedded.Options {
	return embedded.Options{Dir: dir, MaxFile: subjects.MaxBytes(1) * 5 / 4, MaxMessage: subjects.MaxMessage, Log: slog.New(slog.DiscardHandler), RecoveryTimeout: 5 * time.Second}
}

// joinAt runs do with the mesh of a server on the files in dir.
func joinAt(ctx context.Context, dir string, do func(*mesh.Mesh) error) error {
	o := damageOptions(dir)
	o.Log = slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{Level: slog.LevelWarn}))
	s, err := embedded.Start(o)
	if err != nil {
		return fmt.Errorf("start: %w", err)
	}
	defer s.Close()
	conn, err := s.Connect()
	if err != nil {
		return err
	}
	defer conn.Close()
	m, err := mesh.Join(ctx, mesh.Options{Agent: "a", Conn: conn, Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry()})
	if err != nil {
		return fmt.Errorf("join: %w", err)
	}
	err = do(m)
	_, failed := s.Lost() // logs what is lost
	return errors.Join(err, failed)
}

// damagedState returns the state of feed n.
func damagedState(n int) subjects.FeedState {
	id := fmt.Sprintf("feed%03d", n)
	return subjects.FeedState{FeedID: id, State: &subjects.State{URL: "https://example.org/" + id}}
}

// Of damaged JetStream files messages may be lost. The server holds no wrong values and takes new ones, or it
// reports an error.
func TestDamage_NATSFiles(t *testing.T) {
	dir := t.TempDir()
	err := joinAt(t.Context(), dir, func(m *mesh.Mesh) error {
		var all []subjects.FeedState
		for n := range damagedFeeds {
			all = append(all, damagedState(n))
		}
		for some := range slices.Chunk(all, 3) { // many entries
			if err := meshtest.TryPutStates(t.Context(), m, some...); err != nil {
				return err
			}
		}
		for n := range damagedTasks {
			task := subjects.Index{Reason: "test", IDs: []string{fmt.Sprint("item", n)}}
			if err := subjects.Publish(t.Context(), m, subjects.IndexQueue, task); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	seeds, counts := 110, map[string]int{}
	var mu sync.Mutex           // of counts
	var children errgroup.Group // which mostly wait for timeouts
	children.SetLimit(6)
	if testing.Short() {
		seeds = 3
	}
	for seed := range seeds {
		kind := "" // any file
		if seed >= 100 {
			kind = ".blk" // messages
		}
		copied := filepath.Join(t.TempDir(), "nats")
		if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		file := flipNATS(t, copied, kind, rand.New(rand.NewPCG(uint64(seed), 1)))
		children.Go(func() error {
			// A server that recovers without end can be ended only with its process.
			child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestDamage_Child$")
			child.Env = append(os.Environ(), damagedEnv+"="+copied)
			output, err := child.CombinedOutput()
			outcome := strings.TrimSpace(string(output))
			mu.Lock()
			defer mu.Unlock()
			switch {
			case strings.Contains(outcome, "OUTCOME nothing lost"):
				counts["nothing lost"]++
			case strings.Contains(outcome, "OUTCOME fewer") && strings.Contains(outcome, "NATS lost messages of a stream"):
				counts["started, some states or tasks lost, a warning says so"]++
			case strings.Contains(outcome, "OUTCOME refused") && strings.Contains(outcome, "move this folder away and start again"):
				counts["refused with what to do"]++
			case strings.Contains(outcome, "OUTCOME refused load: read bucket schedule: ") && strings.Contains(outcome, "move its JetStream folder away"):
				counts["a bucket cannot be read, refused with what to do"]++
			default:
				t.Errorf("seed %d, %s: %v: %.2000s", seed, file, err, outcome)
			}
			return nil
		})
	}
	_ = children.Wait()
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		t.Logf("%4d %s", counts[name], name)
	}
}

// damagedEnv contains the folder of damaged files that a child process uses.
const damagedEnv = "FEEDMESH_TEST_DAMAGED_NATS"

// TestDamage_Child uses damaged files and prints the outcome.
func TestDamage_Child(t *testing.T) {
	dir := os.Getenv(damagedEnv)
	if dir == "" {
		t.Skip("only in a child process")
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var kept int
	var tasks uint64
	err := joinAt(ctx, dir, func(m *mesh.Mesh) error {
		err := m.LoadStates(ctx, func(s subjects.FeedState) {
			if kept++; s.State == nil || s.State.URL != "https://example.org/"+s.FeedID {
				t.Errorf("wrong state of %s: %+v", s.FeedID, s.State)
			}
		})
		if err != nil {
			if ping := m.Ping(ctx); ping == nil || ping.Error() != err.Error() {
				t.Errorf("ping: %v, want %v", ping, err)
			}
			return fmt.Errorf("load: %w", err)
		}
		depths, err := m.Depths(ctx)
		if err != nil {
			return err
		}
		for _, d := range depths {
			if d.Queue == subjects.IndexQueue.Name {
				tasks = d.Tasks
			}
		}
		if err := meshtest.TryPutStates(ctx, m, damagedState(damagedFeeds)); err != nil {
			return fmt.Errorf("put: %w", err)
		}
		return subjects.Publish(ctx, m, subjects.IndexQueue, subjects.Index{Reason: "after", IDs: []string{"x"}})
	})
	switch {
	case t.Failed():
	case err != nil:
		fmt.Println("OUTCOME refused", err)
	case kept == damagedFeeds && tasks == damagedTasks:
		fmt.Println("OUTCOME nothing lost")
	default:
		fmt.Println("OUTCOME fewer", kept, tasks)
	}
}

// flipNATS inverts up to 40 bits of one of the files of JetStream whose names end so, and returns its path.
func flipNATS(t *testing.T, dir, end string, r *rand.Rand) string {
	var files []string
	err := filepath.WalkDir(filepath.Join(dir, "jetstream"), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(path, end) {
			return err
		}
		if info, err := e.Info(); err != nil || info.Size() == 0 {
			return err
		}
		files = append(files, path)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	name := files[r.IntN(len(files))]
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for range 1 + r.IntN(40) {
		content[r.IntN(len(content))] ^= 1 << r.IntN(8)
	}
	if err := os.WriteFile(name, content, 0o600); err != nil {
		t.Fatal(err)
	}
	name, _ = filepath.Rel(dir, name)
	return name
}

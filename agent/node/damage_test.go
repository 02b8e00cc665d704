package node

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"feedmesh/agent/client"
	"feedmesh/agent/wire"
)

// flipBit inverts a bit of the file, counted from its end if at is negative.
func flipBit(t *testing.T, path string, at int) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if at < 0 {
		at += len(content)
	}
	content[at] ^= 16
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

const damageRemedy = "the store is damaged: stop the agent, keep the file, restore a backup with agent restore"

func TestRun_DamagedStoreIsReported(t *testing.T) {
	t.Parallel()
	_, c := pipelineFixture(t)
	path := filepath.Join(c.Data, "store.db")
	flipBit(t, path, -4000) // in a page that the start does not need
	r := start(t, c)
	defer r.stop()
	damaged := time.Now()
	eventually(t, "readiness reports the damaged store", func() bool {
		ready, err := r.Ready(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, check := range ready.Checks {
			if check.Name == storeCheck && !check.OK && !check.Warning && strings.Contains(check.Detail, damageRemedy) {
				return true
			}
		}
		return false
	})
	if took := time.Since(damaged); took > 30*time.Second {
		t.Errorf("reported after %v, want 30 s at most", took)
	}
	eventually(t, "the status names the damage", func() bool {
		s, err := client.Call(t.Context(), r.Client, wire.GetStatus, wire.None{})
		return err == nil && strings.Contains(strings.Join(s.Stalled, "\n"), damageRemedy)
	})
	if n := strings.Count(r.log.String(), `msg="check failed"`); n != 1 {
		t.Errorf("the failed check was logged %d times, want once", n)
	}
	r.stop()

	flipBit(t, path, 3000) // in the first page
	if err := startError(t, c); !strings.Contains(err, damageRemedy) {
		t.Errorf("a start with the damaged store: %q, want the remedy", err)
	}
}

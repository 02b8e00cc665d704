package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"feedmesh/agent/opml"
	"feedmesh/agent/simulate"
	"feedmesh/tests/engines"
	"feedmesh/tools/command"
)

func TestSimulateFarm_ServesUntilInterrupted(t *testing.T) {
	port, err := engines.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(t.TempDir(), "farm.opml")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	go func() {
		defer cancel()
		for address := fmt.Sprintf("http://127.0.0.1:%d/feed/2", port); ctx.Err() == nil; time.Sleep(10 * time.Millisecond) {
			if response, err := http.Get(address); err == nil {
				response.Body.Close()
				return
			}
		}
	}()
	var out, said strings.Builder
	code := command.Run(ctx, &command.Output{Out: &out, Err: &said}, "simulate", "", new(simulateCommand), []string{"farm", "--feeds", "3", "--hosts", "1", "--listen", fmt.Sprintf("127.0.0.1:%d", port), "--opml", list})
	var ledger simulate.Summary
	if err := json.Unmarshal([]byte(out.String()), &ledger); err != nil || code != 0 || ledger.Requests != 1 || ledger.Feeds != 3 {
		t.Errorf("got %d, %s, %v; want the ledger of the one request", code, out.String(), err)
	}
	if want := fmt.Sprintf("3 feeds listed at http://127.0.0.1:%d/feeds.opml\n", port); said.String() != want {
		t.Errorf("got %q, want %q", said.String(), want)
	}
	file, err := os.Open(list)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if feeds, err := opml.Read(file); err != nil || len(feeds) != 3 {
		t.Errorf("the list has %v, %v; want 3 feeds", feeds, err)
	}
}

func TestSimulateFarm_RejectsInvalidSettings(t *testing.T) {
	for flags, want := range map[string]string{
		"--feeds 0":          "test: feeds: 0 is not between 1 and 1000000",
		"--hosts 70000":      "test: hosts: 70000 is not between 1 and 62500",
		"--rate 0":           "test: rate: 0 is not between 0 and 50 items a day",
		"--speed 0":          "test: --speed: 0 is not between 0 and 10000",
		"--listen 0.0.0.0:1": `test: invalid address "0.0.0.0:1": simulated feeds are served on this machine only; write 127.0.0.1:PORT`,
		"--proxy 1":          `test: invalid address "1": simulated feeds are served on this machine only; write 127.0.0.1:PORT`,
		"--faults teapot=1":  `test: --faults: "teapot" is no fault; there are`,
	} {
		t.Run(flags, func(t *testing.T) {
			do(t, append([]string{"farm"}, strings.Fields(flags)...)...).Check(t, 2, "", want)
		})
	}
}

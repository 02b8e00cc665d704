package mcp_test

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"feedmesh/agent/access"
	"feedmesh/agent/client"
)

func TestTypeScriptClient_UsesTheServer(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts Node.js")
	}
	modules, err := filepath.Abs("../../../tests/engines/node_modules")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(modules, "@modelcontextprotocol", "sdk")); err != nil {
		t.Skip("SKIPPED, NOT TESTED: @modelcontextprotocol/sdk is not installed; run just engines")
	}
	w, folder := newTestbed(t), t.TempDir()
	program, err := os.ReadFile("testdata/client.mjs")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "client.mjs"), program, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(modules, filepath.Join(folder, "node_modules")); err != nil {
		t.Fatal(err)
	}
	node := exec.CommandContext(t.Context(), "node", "client.mjs", w.URL+"/mcp", w.secret(t, access.Search), w.items[0].ID)
	var messages strings.Builder
	node.Dir, node.Stderr = folder, &messages
	out, err := node.Output()
	if err != nil {
		t.Fatalf("node: %v\n%s", err, messages.String())
	}
	var got struct {
		Server, Resource, Prompt, Refused string
		Tools                             []string
		Found                             struct{ Items []struct{ ID string } }
		Item                              struct{ Untrusted struct{ Text string } }
		Story                             struct{ Members []any }
		Wrong                             bool
		Templates                         int
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	slices.Sort(got.Tools)
	if got.Server != "feedmesh" || !slices.Equal(got.Tools, readers) || len(got.Found.Items) != 2 || len(got.Story.Members) != 2 || !got.Wrong || got.Templates != 3 {
		t.Errorf("got %+v", got)
	}
	if !strings.Contains(got.Item.Untrusted.Text, "new scheduler") || !strings.Contains(got.Prompt, "every sentence") || got.Refused == "" {
		t.Errorf("got %+v", got)
	}
	checkMarked(t, got.Resource)
}

// relay returns a session over the standard input and output of `agent mcp`.
func (w *testbed) relay(t *testing.T, token string) (*sdk.ClientSession, error) {
	t.Helper()
	api, err := client.NewClient(w.URL, token)
	if err != nil {
		t.Fatal(err)
	}
	in, toRelay := io.Pipe()
	fromRelay, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := api.RelayMCP(t.Context(), in, out)
		out.Close()
		ended <- err
	}()
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &sdk.IOTransport{Reader: fromRelay, Writer: toRelay}, nil)
	t.Cleanup(func() {
		if session != nil {
			session.Close()
		}
		toRelay.Close()
		if err := <-ended; err != nil {
			t.Errorf("the relay ended: %v", err)
		}
	})
	return session, err
}

func TestRelayMCP_PassesMessages(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	session, err := w.relay(t, w.secret(t, access.Search))
	if err != nil {
		t.Fatal(err)
	}
	list, err := session.ListTools(t.Context(), nil)
	if err != nil || len(list.Tools) != len(readers) {
		t.Errorf("got %v, %v; want the tools of scope search", list, err)
	}
	text, _ := call(t, session, "read_item", map[string]any{"id": w.items[0].ID})
	checkMarked(t, text)
	if _, err := session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "feedmesh://stories/s1"}); err != nil {
		t.Error(err)
	}
	if _, err := session.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "morning-briefing"}); err != nil {
		t.Error(err)
	}
}

func TestRelayMCP_ReportsErrorsOfTheNode(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	if _, err := w.relay(t, "wrong"); err == nil || !strings.Contains(err.Error(), "a token is required") {
		t.Errorf("a wrong token: got %v", err)
	}
	session, err := w.relay(t, owner)
	if err != nil {
		t.Fatal(err)
	}
	w.Server.Close()
	var failed error
	for range 2 { // the first may find its connection closed
		_, failed = session.ListTools(t.Context(), nil)
	}
	if failed == nil || !strings.Contains(failed.Error(), "no node answers") {
		t.Errorf("without a node: got %v", failed)
	}
}

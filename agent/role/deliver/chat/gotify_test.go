package chat

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"feedmesh/agent/role/deliver/channel"
	"feedmesh/tests/engines"
)

func TestGotify_RealServerReceivesMessages(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped by -short: builds and runs a Gotify server")
	}
	begin := time.Now()
	server, err := engines.StartGotify(t.TempDir())
	if errors.Is(err, os.ErrNotExist) {
		t.Skipf("skipped: requires the Go module of the Gotify server: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer server.Kill()
	t.Logf("built and started within %v", time.Since(begin).Round(time.Second))

	var application struct{ Token string }
	query(t, server, http.MethodPost, "/application", `{"name":"feedmesh"}`, &application)
	to := channel.Receiver{Address: "gotify://" + server.Host + "/" + application.Token + "?disabletls=yes&priority=5"}
	c := New(http.DefaultTransport)
	if err := c.Check(to.Address); err != nil {
		t.Fatal(err)
	}
	response, err := c.Send(t.Context(), to, message())
	if err != nil || response.Status != http.StatusOK {
		t.Fatalf("%v, %v, want status 200", response, err)
	}

	var received struct {
		Messages []struct {
			Title, Message string
			Priority       int
		}
	}
	query(t, server, http.MethodGet, "/message", "", &received)
	if len(received.Messages) != 1 || received.Messages[0].Title != "Morning" || received.Messages[0].Priority != 5 ||
		received.Messages[0].Message != "A title\nIt begins.\nhttps://example.com/1" {
		t.Errorf("the server has %+v", received.Messages)
	}

	to.Address = "gotify://" + server.Host + "/A23456789012345?disabletls=yes"
	_, err = c.Send(t.Context(), to, message())
	if channel.StatusOf(err) != http.StatusUnauthorized || strings.Contains(err.Error(), "A23456789012345") {
		t.Errorf("with a wrong token: %v, want status 401 without the token", err)
	}
}

// query requests a path of the server as its user, and decodes the response.
func query(t *testing.T, server *engines.Gotify, method, path, body string, to any) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.SetBasicAuth("admin", "admin")
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || json.Unmarshal(text, to) != nil {
		t.Fatalf("%s %s: %s, %v", method, path, text, err)
	}
}

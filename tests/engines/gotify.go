package engines

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// A Gotify is a server of notifications with the user admin, whose password is admin.
type Gotify struct {
	Process
	URL  string
	Host string // with port
}

// StartGotify builds the server of the module tests/gotify in a folder, starts it, and returns when it is ready. Its pages
// are empty. The build requires a C compiler.
// The error is [os.ErrNotExist] if the source is not available.
func StartGotify(folder string) (*Gotify, error) {
	program, err := buildGotify(folder)
	if err != nil {
		return nil, err
	}
	port, err := FreePort()
	if err != nil {
		return nil, err
	}
	host := fmt.Sprintf("127.0.0.1:%d", port)
	g := &Gotify{URL: "http://" + host, Host: host}
	g.Name, g.Path, g.Dir = "gotify", program, folder
	g.Env = []string{"GOTIFY_SERVER_LISTENADDR=127.0.0.1", "GOTIFY_SERVER_PORT=" + strconv.Itoa(port), "GOTIFY_PASSSTRENGTH=4",
		"GOTIFY_DATABASE_CONNECTION=" + filepath.Join(folder, "gotify.db"), "GOTIFY_UPLOADEDIMAGESDIR=" + filepath.Join(folder, "images"),
		"GOTIFY_PLUGINSDIR=" + filepath.Join(folder, "plugins")}
	if err := g.Start(); err != nil {
		return nil, err
	}
	return g, g.Ready(time.Minute, func() error {
		response, err := http.Get(g.URL + "/health")
		if err != nil {
			return err
		}
		return response.Body.Close()
	})
}

// buildGotify builds the server from a copy of its module, because the module lacks the pages that it embeds.
func buildGotify(folder string) (string, error) {
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "feedmesh").Output()
	if err != nil {
		return "", fmt.Errorf("find the module feedmesh: %w", err)
	}
	if _, err := exec.LookPath("gcc"); err != nil {
		return "", fmt.Errorf("find a C compiler: %w: %w", os.ErrNotExist, err)
	}
	list := exec.Command("go", "mod", "download", "github.com/gotify/server/v2")
	list.Dir = filepath.Join(strings.TrimSpace(string(root)), "tests", "gotify")
	if out, err := list.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: download the Gotify server: %w: %s", os.ErrNotExist, err, out)
	}
	list = exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/gotify/server/v2")
	list.Dir = filepath.Join(strings.TrimSpace(string(root)), "tests", "gotify")
	module, err := list.Output()
	if err != nil {
		return "", fmt.Errorf("%w: find the Gotify server: %w", os.ErrNotExist, err)
	}
	source := filepath.Join(folder, "source")
	if err := os.CopyFS(source, os.DirFS(strings.TrimSpace(string(module)))); err != nil {
		return "", err
	}
	pages := filepath.Join(source, "ui", "build")
	if err := os.MkdirAll(pages, 0o755); err != nil {
		return "", err
	}
	for _, name := range []string{"index.html", "manifest.json"} {
		if err := os.WriteFile(filepath.Join(pages, name), []byte("{}"), 0o644); err != nil {
			return "", err
		}
	}
	program := filepath.Join(folder, "gotify")
	build := exec.Command("go", "build", "-trimpath", "-tags", "nomsgpack", "-ldflags", "-s -w", "-o", program, ".")
	build.Dir, build.Env = source, append(os.Environ(), "CGO_ENABLED=1", "CGO_CFLAGS=-O0") // optimizing SQLite takes a minute
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the Gotify server: %w\n%s", err, out)
	}
	return program, nil
}

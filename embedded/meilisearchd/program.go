package meilisearchd

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"feedmesh/storage/meilisearch"
)

const install = "install Meilisearch " + meilisearch.MinVersion + " or newer, or give the URL of a server with --search"

// Check returns nil if the program is installed in a supported version. The error states what to do.
func Check(ctx context.Context) error {
	_, err := find(ctx)
	return err
}

// find returns the path of the program, whose version it checks.
func find(ctx context.Context) (string, error) {
	path, err := exec.LookPath("meilisearch")
	if err != nil {
		return "", fmt.Errorf("find Meilisearch: %w: %s", err, install)
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("read the version of %s: %w: %s", path, err, install)
	}
	version := strings.TrimSpace(string(out))
	number, named := strings.CutPrefix(version, "meilisearch ")
	supported, err := meilisearch.IsSupported(number)
	switch {
	case !named || err != nil:
		return "", fmt.Errorf("%s returned %q for its version: %s", path, version, install)
	case !supported:
		return "", fmt.Errorf("%s is %s: %s", path, version, install)
	}
	return path, nil
}

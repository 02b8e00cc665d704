package engines

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"
)

// PreviousRelease is the commit whose agents and data folders this version must work
// with, in both directions.
const PreviousRelease = "96f7855"

// ErrNoHistory is returned where the previous version's source is not at hand: outside
// a git repository, or in a shallow clone.
var ErrNoHistory = errors.New("no git history with the previous version")

// BuildPrevious builds the agent of [PreviousRelease] in a folder and returns the path of
// the program. It has the faults that its environment requests, none by default. The build
// takes about a minute on 2 cores, unless the build cache contains its packages: so they
// are compiled with the same tags for all tests, and by one test program at a time.
func BuildPrevious(folder string) (string, error) {
	folders, err := exec.Command("git", "rev-parse", "--show-toplevel", "--absolute-git-dir").Output()
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrNoHistory, err)
	}
	repository, gitFolder, _ := strings.Cut(strings.TrimSpace(string(folders)), "\n")
	if err := exec.Command("git", "-C", repository, "cat-file", "-e", PreviousRelease+"^{commit}").Run(); err != nil {
		return "", fmt.Errorf("%w: commit %s: %w", ErrNoHistory, PreviousRelease, err)
	}
	building := flock.New(filepath.Join(gitFolder, "feedmesh-build.lock"))
	if err := building.Lock(); err != nil {
		return "", fmt.Errorf("wait for another build of commit %s: %w", PreviousRelease, err)
	}
	defer building.Unlock()
	source := filepath.Join(folder, "source-"+PreviousRelease)
	if err := os.MkdirAll(source, 0o755); err != nil {
		return "", err
	}
	archive := filepath.Join(folder, PreviousRelease+".tar")
	if out, err := exec.Command("git", "-C", repository, "archive", "-o", archive, PreviousRelease).CombinedOutput(); err != nil {
		return "", fmt.Errorf("export commit %s: %w: %s", PreviousRelease, err, out)
	}
	if out, err := exec.Command("tar", "-x", "-f", archive, "-C", source).CombinedOutput(); err != nil {
		return "", fmt.Errorf("unpack commit %s: %w: %s", PreviousRelease, err, out)
	}
	program := filepath.Join(folder, "agent-"+PreviousRelease)
	build := exec.Command("go", "build", "-trimpath", "-tags", "faults", "-ldflags", "-s -w", "-o", program, "./agent")
	build.Dir, build.Env = source, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build commit %s: %w\n%s", PreviousRelease, err, out)
	}
	return program, nil
}

package compare

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"feedmesh/agent/wire"
)

// Bounds of one run of gofeed. MaxMemory is checked every checkInterval, so it may be
// exceeded by the memory that gofeed allocates in that time.
const (
	MaxTime       = 10 * time.Second
	MaxMemory     = 256 << 20 // bytes, of the whole child process
	checkInterval = 5 * time.Millisecond
)

// WorkerCommand is the hidden command of the agent that runs [Worker].
const WorkerCommand = "parse-with-gofeed"

// exitMemory is the exit code of a worker that needs more than [MaxMemory].
const exitMemory = 64

// A Document is a feed document as gofeed reads it.
type Document struct {
	Title   string             `json:"title,omitempty"`
	Format  string             `json:"format,omitempty"` // type and version, as in "rss 2.0"
	Entries []wire.ParsedEntry `json:"entries"`
}

// Errors of [Parser.Parse] beside those of gofeed itself.
var (
	ErrTime   = fmt.Errorf("gofeed did not finish within %s and was stopped", MaxTime)
	ErrMemory = fmt.Errorf("gofeed needed more than %d MB of memory and was stopped", MaxMemory>>20)
)

// A Parser runs gofeed in a child process. The zero Parser starts the program that
// is running, with [WorkerCommand].
type Parser struct {
	Command []string // program and arguments; nil: this program
}

// Parse returns the document as gofeed reads it. The error is [ErrTime], [ErrMemory],
// the context's, gofeed's own, or that of starting the process.
func (p Parser) Parse(ctx context.Context, document []byte) (Document, error) {
	command := p.Command
	if command == nil {
		program, err := os.Executable()
		if err != nil {
			return Document{}, fmt.Errorf("find this program: %w", err)
		}
		command = []string{program, WorkerCommand}
	}
	bounded, cancel := context.WithTimeoutCause(ctx, MaxTime, ErrTime)
	defer cancel()
	child := exec.CommandContext(bounded, command[0], command[1:]...)
	var out, problem bytes.Buffer
	child.Stdin, child.Stdout, child.Stderr = bytes.NewReader(document), &out, &problem
	// Nothing of the agent's environment, which may contain secrets: the child parses untrusted input.
	child.Env = []string{"GOMAXPROCS=2", fmt.Sprintf("GOMEMLIMIT=%d", MaxMemory/2)}
	err := child.Run()
	var exit *exec.ExitError
	switch {
	case bounded.Err() != nil:
		return Document{}, context.Cause(bounded)
	case errors.As(err, &exit) && exit.ExitCode() == exitMemory:
		return Document{}, ErrMemory
	case errors.As(err, &exit):
		return Document{}, fmt.Errorf("gofeed failed: %s", firstLine(problem.String()))
	case err != nil:
		return Document{}, fmt.Errorf("start gofeed: %w", err)
	}
	var d Document
	if err := json.Unmarshal(out.Bytes(), &d); err != nil {
		return Document{}, fmt.Errorf("decode the result of gofeed: %w", err)
	}
	return d, nil
}

// firstLine returns the first line of a text, at most 300 bytes of it.
func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return strings.ToValidUTF8(line[:min(len(line), 300)], "")
}

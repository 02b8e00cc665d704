package engines

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// Postgres is a PostgreSQL server with its data in a folder. It may be stopped (SIGINT: fast, SIGQUIT:
// immediate) or killed and restarted, and then has the same address and data.
type Postgres struct {
	Process
	port int
}

// whoMayConnect requires a password from all users except the superuser.
const whoMayConnect = `
host all postgres 127.0.0.1/32 trust
host all all      127.0.0.1/32 scram-sha-256
`

// StartPostgres creates a server with its data in dir, with settings such as "fsync=off" in addition to
// PostgreSQL's defaults, and returns when it is ready. The error is [os.ErrNotExist] if PostgreSQL is not
// installed.
func StartPostgres(dir string, settings ...string) (*Postgres, error) {
	initdb, err := postgresProgram("initdb")
	if err != nil {
		return nil, err
	}
	port, err := FreePort()
	if err != nil {
		return nil, err
	}
	// PostgreSQL refuses to run as root.
	var owner uint32
	if os.Getuid() == 0 {
		owner = unprivileged()
		if err := changeOwner(dir, owner); err != nil {
			return nil, err
		}
	}
	data := filepath.Join(dir, "data")
	making := Process{Name: "initdb", Path: initdb, Dir: dir, User: owner, Args: []string{
		"--pgdata", data, "--username", "postgres", "--auth", "trust", "--encoding", "UTF8", "--locale", "C", "--data-checksums", "--no-sync"}}
	if err := making.Start(); err != nil {
		return nil, err
	}
	if !making.Wait(2 * time.Minute) {
		making.Kill()
	}
	if _, err := os.Stat(filepath.Join(data, "PG_VERSION")); err != nil { // on failure initdb removes the folder
		return nil, fmt.Errorf("make a database in %s: %s", dir, making.Log())
	}

	if err := os.WriteFile(filepath.Join(data, "pg_hba.conf"), []byte(whoMayConnect), 0o600); err != nil {
		return nil, err
	}

	p := &Postgres{port: port}
	p.Name, p.Path, p.Dir, p.User = "postgres", filepath.Join(filepath.Dir(initdb), "postgres"), dir, owner
	// The paths of test folders are too long for Unix sockets.
	p.Args = []string{"-D", data, "-p", strconv.Itoa(port), "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="}
	for _, setting := range settings {
		p.Args = append(p.Args, "-c", setting)
	}
	if err := p.Start(); err != nil {
		p.Kill()
		return nil, err
	}
	return p, p.Exec("CREATE ROLE feedmesh LOGIN PASSWORD 'secret'")
}

// Start starts or restarts the server, and returns when it is ready. Processes of a killed server may block
// the start for a moment, so it retries.
func (p *Postgres) Start() error {
	deadline := time.Now().Add(time.Minute)
	for {
		if err := p.Process.Start(); err != nil {
			return err
		}
		err := p.Ready(time.Minute, func() error { return p.Exec("SELECT 1") })
		ended := err != nil && p.Wait(100*time.Millisecond)
		if !ended || time.Now().After(deadline) {
			return err
		}
	}
}

// URL returns the URL of the server's first database, for its superuser.
func (p *Postgres) URL() string {
	return fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable", p.port)
}

// Create creates an empty database and returns its URL, for a user who owns it and has no other rights.
func (p *Postgres) Create(name string) (url string, err error) {
	err = p.Exec(fmt.Sprintf(`CREATE DATABASE %q OWNER feedmesh`, name))
	return fmt.Sprintf("postgres://feedmesh:secret@127.0.0.1:%d/%s?sslmode=disable", p.port, name), err
}

// Exec runs statements as the superuser.
func (p *Postgres) Exec(statements string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := pgconn.Connect(ctx, p.URL())
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, statements).ReadAll()
	return err
}

// NewPostgres starts a server that ends with the test, or skips the test if PostgreSQL is not installed.
func NewPostgres(t testing.TB, settings ...string) *Postgres {
	t.Helper()
	p, err := StartPostgres(t.TempDir(), settings...)
	if errors.Is(err, os.ErrNotExist) {
		t.Skipf("NOT TESTED on PostgreSQL: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	// A killed server's child processes may still write while the folder is removed.
	t.Cleanup(func() { p.Stop(syscall.SIGQUIT, time.Minute) })
	return p
}

// postgresProgram returns the path of a PostgreSQL program: that in PATH, or the highest version installed by
// Debian.
func postgresProgram(name string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return filepath.EvalSymlinks(path)
	}
	paths, err := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if err != nil {
		return "", err
	}
	newest, version := "", 0.0
	for _, path := range paths {
		if v, err := strconv.ParseFloat(strings.Split(path, "/")[4], 64); err == nil && v > version {
			newest, version = path, v
		}
	}
	if newest == "" {
		return "", fmt.Errorf("find %s: %w: run tests/engines/install", name, os.ErrNotExist)
	}
	return newest, nil
}

// unprivileged returns the ID of a user who may run a server.
func unprivileged() uint32 {
	for _, name := range []string{"postgres", "nobody"} {
		if u, err := user.Lookup(name); err == nil {
			if id, err := strconv.ParseUint(u.Uid, 10, 32); err == nil {
				return uint32(id)
			}
		}
	}
	return 65534
}

// changeOwner changes the owner of dir, and makes its temporary parent folders accessible.
func changeOwner(dir string, owner uint32) error {
	if err := os.Chown(dir, int(owner), int(owner)); err != nil {
		return err
	}
	// testing.T.TempDir is below GOTMPDIR, if that is set.
	for _, root := range []string{os.TempDir(), os.Getenv("GOTMPDIR")} {
		inTemp := strings.TrimSuffix(root, "/") + "/"
		for parent := filepath.Dir(dir); root != "" && strings.HasPrefix(parent, inTemp); parent = filepath.Dir(parent) {
			info, err := os.Stat(parent)
			if err != nil {
				return err
			}
			if err := os.Chmod(parent, info.Mode().Perm()|0o011); err != nil {
				return err
			}
		}
	}
	return nil
}

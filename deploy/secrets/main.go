// Secrets generates the secrets of a mesh in deploy/secrets: random passwords, one a file, and nats.conf with
// their hashes for the NATS servers. Existing passwords are kept.
package main

import (
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"feedmesh/agent/role"

	"golang.org/x/crypto/bcrypt"
)

// users are the users of nats/feedmesh.conf: one for each role, and one for agents with several roles.
var users = append([]string{"all"}, role.Names(role.All)...)

func main() {
	dir := flag.String("dir", filepath.Join("deploy", "secrets"), "folder for them")
	servers := flag.String("servers", "nats-1:6222,nats-2:6222,nats-3:6222", "where the NATS servers meet")
	flag.Parse()
	if err := makeAll(*dir, strings.Split(*servers, ",")); err != nil {
		fmt.Fprintln(os.Stderr, "secrets:", err)
		os.Exit(1)
	}
}

func makeAll(dir string, servers []string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return err
	}
	var conf strings.Builder
	conf.WriteString("# Made by deploy/secrets. All are hashes but that of the routes: servers show it to each other.\n")
	for _, user := range users {
		password, err := secret(dir, "nats-"+user, rand.Text())
		if err != nil {
			return err
		}
		// The minimum cost suffices for 128 random bits.
		hash, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
		if err != nil {
			return fmt.Errorf("hash the password of %s: %w", user, err)
		}
		fmt.Fprintf(&conf, "%s_PASSWORD: %q\n", strings.ToUpper(user), hash)
	}
	route, err := secret(dir, "nats-route", rand.Text())
	if err != nil {
		return err
	}
	fmt.Fprintf(&conf, "ROUTE_PASSWORD: %q\nROUTES: [\n", route)
	for _, server := range servers {
		fmt.Fprintf(&conf, "  %q\n", "nats://route:"+route+"@"+server)
	}
	conf.WriteString("]\n")
	if err := os.WriteFile(filepath.Join(dir, "nats.conf"), []byte(conf.String()), 0o644); err != nil {
		return err
	}
	postgres, err := secret(dir, "postgres", rand.Text())
	if err != nil {
		return err
	}
	if _, err := secret(dir, "pgpass", "*:*:feedmesh:feedmesh:"+postgres+"\n"); err != nil {
		return err
	}
	for _, name := range []string{"meilisearch", "token"} {
		if _, err := secret(dir, name, rand.Text()); err != nil {
			return err
		}
	}
	return nil
}

// secret returns the contents of a file, which it creates with the given content if it does not exist. The
// file is readable by others, because containers run as different users; the folder is not.
func secret(dir, name, content string) (string, error) {
	path := filepath.Join(dir, name)
	have, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return content, os.WriteFile(path, []byte(content), 0o644)
	}
	return string(have), err
}

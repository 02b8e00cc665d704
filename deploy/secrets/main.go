// Secrets generates the secrets of a mesh in deploy/secrets: random passwords, one a file, and nats.conf with
// their hashes for the NATS servers. Existing passwords are kept. Each file has the mode 0600 and belongs to the user of
// the container that reads it, if root runs this program; another user can't give files away.
package main

import (
	"crypto/rand"
	"encoding/base64"
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

// Users of containers.
const (
	agentUser = 65532
	rootUser  = 0 // without capabilities: it reads its own files only
)

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
		password, err := secret(dir, "nats-"+user, rand.Text(), agentUser)
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
	route, err := secret(dir, "nats-route", rand.Text(), rootUser)
	if err != nil {
		return err
	}
	fmt.Fprintf(&conf, "ROUTE_PASSWORD: %q\nROUTES: [\n", route)
	for _, server := range servers {
		fmt.Fprintf(&conf, "  %q\n", "nats://route:"+route+"@"+server)
	}
	conf.WriteString("]\n")
	if err := write(filepath.Join(dir, "nats.conf"), conf.String(), rootUser); err != nil {
		return err
	}
	postgres, err := secret(dir, "postgres", rand.Text(), rootUser)
	if err != nil {
		return err
	}
	if _, err := secret(dir, "pgpass", "*:*:feedmesh:feedmesh:"+postgres+"\n", agentUser); err != nil {
		return err
	}
	search, err := secret(dir, "meilisearch", rand.Text(), rootUser)
	if err != nil {
		return err
	}
	if _, err := secret(dir, "search-key", search, agentUser); err != nil { // the same, for another container
		return err
	}
	key := make([]byte, 32)
	rand.Read(key) // never fails
	if _, err := secret(dir, "secret-key", base64.StdEncoding.EncodeToString(key)+"\n", agentUser); err != nil {
		return err
	}
	if _, err := secret(dir, "token", rand.Text(), agentUser); err != nil {
		return err
	}
	_, err = secret(dir, "health-token", rand.Text(), agentUser) // for monitoring
	return err
}

// secret returns the contents of a file for a user, which it creates with the given content if it does not exist.
func secret(dir, name, content string, user int) (string, error) {
	path := filepath.Join(dir, name)
	have, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return content, write(path, content, user)
	}
	if err != nil {
		return "", err
	}
	return string(have), protect(path, user) // of an older version
}

func write(path, content string, user int) error {
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		return err
	}
	return protect(path, user)
}

// protect lets only a user read a file, if this process may give it away. Otherwise the containers' users could not
// read it: then all may, and only the mode 0700 of its folder protects it.
func protect(path string, user int) error {
	if os.Geteuid() != 0 {
		return os.Chmod(path, 0o644)
	}
	return errors.Join(os.Chmod(path, 0o600), os.Chown(path, user, user))
}

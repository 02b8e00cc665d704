package postgres

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"feedmesh/storage"
	"feedmesh/tests/engines"
)

func wantErrorText(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("the error is %v, want text %q", err, want)
	}
}

// changed returns the URL after change.
func changed(t *testing.T, address string, change func(u *url.URL)) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	change(u)
	return u.String()
}

func TestOpen_ErrorStatesRemedy(t *testing.T) {
	good := emptyDatabase(t, server)
	free, err := engines.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, url, want string
		retryable       bool
	}{
		{"no server", changed(t, good, func(u *url.URL) { u.Host = fmt.Sprintf("127.0.0.1:%d", free) }),
			"the server can't be reached: check that it runs, and the address", true},
		{"unresolvable host", changed(t, good, func(u *url.URL) { u.Host = "nowhere.invalid" }),
			"the server can't be reached: check that it runs, and the address", true},
		{"no such database", changed(t, good, func(u *url.URL) { u.Path = "/nothing" }),
			`the database does not exist: create it with CREATE DATABASE "nothing" OWNER "feedmesh"`, false},
		{"no such user", changed(t, good, func(u *url.URL) { u.User = url.UserPassword("nobody", "secret") }),
			"the server rejects this user: check name and password", false},
		{"wrong password", changed(t, good, func(u *url.URL) { u.User = url.UserPassword("feedmesh", "wrong-secret") }),
			"the server rejects this user: check name and password", false},
		{"no permission to create tables", changed(t, good, func(u *url.URL) { u.Path = "/postgres" }),
			`the user may not create tables in it: ALTER DATABASE "postgres" OWNER TO "feedmesh"`, false},
		{"no UTF-8", latinDatabase(t), "the database encoding is LATIN1", false},
		{"tables of another program", foreignTables(t), "it contains tables of another program: use a separate database for feedmesh", false},
		{"invalid URL", "postgres://feedmesh:secret/with?slash@host/db", "use postgres://USER:PASSWORD@HOST/DATABASE", false},
		{"invalid port", "postgres://feedmesh:secret@host:port/db", "use postgres://USER:PASSWORD@HOST/DATABASE", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, err := Open(t.Context(), test.url)
			if err == nil {
				s.Close()
				t.Fatal("it was opened")
			}
			wantErrorText(t, err, test.want)
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("the error %q contains the password", err)
			}
			if got := errors.Is(err, storage.ErrUnavailable); got != test.retryable {
				t.Errorf("%v: is it unavailable: %v, want %v", err, got, test.retryable)
			}
		})
	}
}

func latinDatabase(t *testing.T) string {
	t.Helper()
	if err := server.Exec(`CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0 OWNER feedmesh`); err != nil {
		t.Fatal(err)
	}
	return changed(t, server.URL(), func(u *url.URL) { u.Path, u.User = "/latin", url.UserPassword("feedmesh", "secret") })
}

func foreignTables(t *testing.T) string {
	t.Helper()
	address := emptySchema(t)
	exec(t, address, `CREATE TABLE items (id integer)`)
	return address
}

// fakeServer is a fake server that reports these parameters.
type fakeServer map[string]string

func (s fakeServer) ParameterStatus(name string) string { return s[name] }

func TestCheckServer_RejectsOldVersions(t *testing.T) {
	for version, want := range map[string]bool{
		"13.22": false, "9.6.24": false, "14.0": true, "15.18 (Debian 15.18-0+deb12u1)": true, "18beta2": true,
	} {
		err := checkServer(fakeServer{"server_version": version, "server_encoding": "UTF8"})
		if (err == nil) != want {
			t.Errorf("version %s: the error is %v; want it to do: %v", version, err, want)
		}
	}
}

func TestPoolConfig_URLOverridesDefaults(t *testing.T) {
	config, err := poolConfig("postgres://host/db?pool_max_conns=33&statement_timeout=5&application_name=mine")
	if err != nil {
		t.Fatal(err)
	}
	params := config.ConnConfig.RuntimeParams
	if config.MaxConns != 33 || params["statement_timeout"] != "5" || params["application_name"] != "mine" || params["lock_timeout"] == "" {
		t.Errorf("got %d connections with %v; want the values of the url, and defaults for the rest", config.MaxConns, params)
	}
	if config, err = poolConfig("postgres://host/db"); err != nil || config.MaxConns != defaultPoolSize {
		t.Errorf("there are %d connections, %v; want %d", config.MaxConns, err, defaultPoolSize)
	}
}

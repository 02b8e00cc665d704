package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"feedmesh/agent/api"
	"feedmesh/agent/node"
	"feedmesh/config"
)

// patience is how long one check waits for others.
const patience = 5 * time.Second

func well(name, format string, args ...any) api.Check {
	return api.Check{Name: name, OK: true, Detail: fmt.Sprintf(format, args...)}
}

func ill(name, format string, args ...any) api.Check {
	return api.Check{Name: name, Detail: fmt.Sprintf(format, args...)}
}

// checkAPI asks a node how it is. It reports whether one answers.
func checkAPI(ctx context.Context, client *api.Client, address string) (checks []api.Check, answers bool) {
	ctx, cancel := context.WithTimeout(ctx, 2*patience)
	defer cancel()
	ready, err := client.Ready(ctx)
	var refusal *api.Problem
	switch {
	case errors.As(err, &refusal):
		return []api.Check{ill("api", "%v: give the node's token with --token or FEEDMESH_TOKEN", err), checkClock(time.Time{}, time.Now())}, true
	case errors.Is(err, context.DeadlineExceeded):
		return []api.Check{ill("api", "%s takes connections but does not answer: look at the node's log, or start it again", address)}, true
	case err != nil:
		return []api.Check{ill("api", "%v", err), checkClock(time.Time{}, time.Now())}, false
	}
	checks = []api.Check{well("api", "%s answers", address), checkClock(ready.At, time.Now())}
	for _, c := range ready.Checks {
		c.Name = "node: " + c.Name
		if !c.OK {
			c.Detail += ": look at the node's log"
		}
		checks = append(checks, c)
	}
	return checks, true
}

// released is a time that no clock can rightly show any more.
var released = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// checkClock compares the clock with a node's, if that one's time is known.
func checkClock(node, now time.Time) api.Check {
	const tolerance = 5 * time.Second // a header's time is in whole seconds, and was on its way
	switch {
	case now.Before(released):
		return ill("clock", "this machine believes it is %s: set its clock, or let NTP do so", now.Format(time.DateOnly))
	case node.IsZero():
		return well("clock", "%s", now.UTC().Format(time.RFC3339))
	case now.Sub(node).Abs() > tolerance:
		return ill("clock", "this machine's clock and the node's differ by %v: let NTP set both", now.Sub(node).Round(time.Second))
	}
	return well("clock", "agrees with the node's")
}

// checkPort tries to listen where a node would.
func checkPort(address string) api.Check {
	l, err := net.Listen("tcp", address)
	switch {
	case err == nil:
		l.Close()
		return well("port", "%s is free", address)
	case errors.Is(err, syscall.EACCES):
		return ill("port", "this user may not listen on %s: choose a port above 1023 with --listen", address)
	}
	return ill("port", "can't listen on %s: %v: stop what does, or choose another address with --listen", address, err)
}

// checkData looks whether a node could keep its files in a folder. One that is
// not there yet would be made; so the nearest folder that is there counts.
func checkData(dir string) []api.Check {
	at := dir
	for {
		info, err := os.Stat(at)
		if err == nil && !info.IsDir() {
			return []api.Check{ill("data", "%s is no folder: choose another with --data", at)}
		}
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return []api.Check{ill("data", "%v: choose another folder with --data", err)}
		}
		at = filepath.Dir(filepath.Clean(at))
	}
	file, err := os.CreateTemp(at, ".feedmesh-doctor-*")
	if err != nil {
		return []api.Check{ill("data", "%v: make the folder writable for this user, or choose another with --data", err)}
	}
	file.Close()
	os.Remove(file.Name())
	return []api.Check{well("data", "%s can be written to", dir), checkDisk(dir, at)}
}

// enough is the room below which a node would soon run out of it.
const enough = 1 << 30

func checkDisk(dir, at string) api.Check {
	free, err := node.FreeBytes(at)
	switch {
	case err != nil:
		return ill("disk", "can't see how full the disk of %s is: %v", dir, err)
	case free < enough:
		return ill("disk", "only %v are free for %s: free some, 1GB at least, or choose another folder with --data", config.Bytes(free>>20<<20), dir)
	}
	return well("disk", "%v free for %s", config.Bytes(free>>30<<30), dir)
}

// checkNATS tries the NATS servers, each by itself, and their JetStream.
func checkNATS(servers []config.Address, login config.NATSLogin) (checks []api.Check) {
	for _, server := range servers {
		checks = append(checks, checkServer(server, login))
	}
	return checks
}

func checkServer(server config.Address, login config.NATSLogin) api.Check {
	conn, err := node.ConnectNATS([]config.Address{server}, login, nats.Timeout(patience), nats.Name("feedmesh doctor"))
	if err != nil {
		return ill("nats", "%v: %v", server, err)
	}
	defer conn.Close()
	js, err := jetstream.NewWithDomain(conn, login.NATSDomain)
	if login.NATSDomain == "" {
		js, err = jetstream.New(conn)
	}
	if err == nil {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		_, err = js.AccountInfo(ctx)
	}
	if err != nil {
		return ill("nats", "%v has no JetStream for us: %v: start the server with -js, and see what the account may do", server, err)
	}
	return well("nats", "%v answers, with JetStream", server)
}

// checkEngine tries an engine at an address.
func checkEngine(ctx context.Context, name string, address config.Address, try func(context.Context, config.Address) error) api.Check {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := try(ctx, address); err != nil {
		return ill(name, "%v", err)
	}
	return well(name, "%v answers", address)
}

// checkDNS looks up a name that there always is.
func checkDNS(ctx context.Context, lookup func(context.Context, string) ([]string, error)) api.Check {
	const name = "example.com"
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if _, err := lookup(ctx, name); err != nil {
		return ill("dns", "%v: feeds can't be fetched; look at this machine's network and resolver", err)
	}
	return well("dns", "%s is found", name)
}

// isLocal reports whether a URL is of this machine.
func isLocal(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() == "localhost" || err == nil && ip.IsLoopback()
}

package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"feedmesh/agent/access/oidc"
	"feedmesh/agent/client"
	"feedmesh/agent/node"
	"feedmesh/agent/service/briefing"
	"feedmesh/agent/wire"
	"feedmesh/config"
)

// A doctorCommand checks a node and its dependencies.
type doctorCommand struct {
	query
	Data   string           `placeholder:"DIR" help:"Data folder to check; by default ./data if no node responds. A node checks its own."`
	Listen string           `default:"127.0.0.1:8080" placeholder:"ADDR" help:"Address that a node would listen on; checked if no node responds."`
	NATS   []config.Address `name:"nats" placeholder:"URL" help:"NATS servers to check."`
	config.NATSLogin
	Store     config.Address `placeholder:"URL" help:"PostgreSQL to check."`
	Search    config.Address `placeholder:"URL" help:"Meilisearch to check; meilisearch: whether it is installed."`
	SearchKey config.Secret  `placeholder:"SECRET" help:"API key for Meilisearch. @FILE reads it from a file."`

	OIDCIssuer config.Address `name:"oidc-issuer" placeholder:"URL" help:"OpenID provider to check."`

	BriefingURL config.Address `name:"briefing-url" placeholder:"URL" help:"Endpoint of the model that writes briefings to check."`
	BriefingKey config.Secret  `name:"briefing-key" placeholder:"SECRET" help:"API key for that endpoint. @FILE reads it from a file."`
}

// Help implements kong's HelpProvider.
func (doctorCommand) Help() string {
	return `Before the first start, and to diagnose problems:

    agent doctor

A member of a mesh:

    agent doctor --nats nats://host:4222 --store postgres://user@host/db --search meilisearch://host:7700

The exit code is 1 if a check failed.`
}

// Run implements the command.
func (c *doctorCommand) Run(ctx context.Context, p *program) error {
	client, err := c.client(p)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	checks := checkAll(c.checks(ctx, client, p))
	err = c.print(p, checks, func(pg *page) {
		pg.table(func(row func(...any)) {
			for _, check := range checks {
				row(verdict(check), check.Name, check.Detail)
			}
		})
	})
	for _, check := range checks {
		if !check.OK && !check.Warning {
			return exitError{errReported, exitFailure}
		}
	}
	return err
}

// checks returns the checks in the order in which they are printed. Each depends on no other.
func (c *doctorCommand) checks(ctx context.Context, client *client.Client, p *program) []func() []wire.Check {
	all := []func() []wire.Check{func() []wire.Check { return c.checkNode(ctx, client) }}
	add := func(check func() wire.Check) {
		all = append(all, func() []wire.Check { return []wire.Check{check()} })
	}
	for _, server := range c.NATS {
		add(func() wire.Check { return checkServer(server, c.NATSLogin) })
	}
	if c.Store != "" {
		add(func() wire.Check { return checkEngine(ctx, "store", c.Store, node.CheckStore) })
	}
	if c.Search != "" {
		add(func() wire.Check {
			return checkEngine(ctx, "search", c.Search, func(ctx context.Context, search config.Address) error {
				return node.CheckSearch(ctx, search, c.SearchKey)
			})
		})
	}
	if c.OIDCIssuer != "" {
		add(func() wire.Check {
			return checkEngine(ctx, "provider", c.OIDCIssuer, func(ctx context.Context, issuer config.Address) error {
				return oidc.Check(ctx, string(issuer))
			})
		})
	}
	if c.BriefingURL != "" {
		add(func() wire.Check { return checkBriefing(ctx, c.BriefingURL, c.BriefingKey) })
	}
	add(func() wire.Check { return checkDNS(ctx, p.lookup) })
	return all
}

// checkAll runs the checks concurrently, and returns their results in the order of the checks.
func checkAll(checks []func() []wire.Check) []wire.Check {
	results := make([][]wire.Check, len(checks))
	var group sync.WaitGroup
	for i, check := range checks {
		group.Go(func() { results[i] = check() })
	}
	group.Wait()
	return slices.Concat(results...)
}

// checkNode checks the node, and where none responds what one would need here.
func (c *doctorCommand) checkNode(ctx context.Context, client *client.Client) []wire.Check {
	checks, answers := checkAPI(ctx, client, c.API)
	if !answers {
		checks = append(checks, checkPort(c.Listen))
	}
	if c.Data != "" {
		checks = append(checks, checkData(c.Data)...)
	} else if !answers && isLocal(c.API) {
		checks = append(checks, checkData("./data")...)
	}
	return checks
}

func verdict(c wire.Check) string {
	switch {
	case c.OK:
		return "ok"
	case c.Warning:
		return "warning"
	}
	return "FAILED"
}

// checkTimeout is the timeout of one check.
const checkTimeout = 5 * time.Second

func passedCheck(name, format string, args ...any) wire.Check {
	return wire.Check{Name: name, OK: true, Detail: fmt.Sprintf(format, args...)}
}

func failedCheck(name, format string, args ...any) wire.Check {
	return wire.Check{Name: name, Detail: fmt.Sprintf(format, args...)}
}

// checkAPI checks a node's API and its readiness. It reports whether a node responds.
func checkAPI(ctx context.Context, api *client.Client, address string) (checks []wire.Check, answers bool) {
	ctx, cancel := context.WithTimeout(ctx, 2*checkTimeout)
	defer cancel()
	ready, err := api.Ready(ctx)
	var refusal *client.Problem
	switch {
	case errors.As(err, &refusal):
		return []wire.Check{failedCheck("api", "%v: give the node's token with --token or FEEDMESH_TOKEN", err), checkClock(time.Time{}, time.Now())}, true
	case errors.Is(err, context.DeadlineExceeded):
		return []wire.Check{failedCheck("api", "%s accepts connections but does not respond: check the node's log, or restart it", address)}, true
	case err != nil:
		return []wire.Check{failedCheck("api", "%v", err), checkClock(time.Time{}, time.Now())}, false
	}
	checks = []wire.Check{passedCheck("api", "%s responds", address), checkClock(ready.At, time.Now())}
	for _, c := range ready.Checks {
		c.Name = "node: " + c.Name
		if !c.OK && !c.Warning {
			c.Detail += ": check the node's log"
		}
		checks = append(checks, c)
	}
	if slices.ContainsFunc(checks, func(c wire.Check) bool { return !c.OK && !c.Warning }) {
		return checks, true // the node may not answer yet
	}
	return slices.Concat(checks, checkViews(ctx, api, time.Now()), checkSubscriptions(ctx, api)), true
}

// maxFillTime is how long a new view may take to be filled in before that is a warning.
const maxFillTime = 10 * time.Minute

// checkViews warns of views that get no items, or no older ones. It returns no check of a node without views, or of an older
// version.
func checkViews(ctx context.Context, api *client.Client, now time.Time) []wire.Check {
	all, err := client.Call(ctx, api, wire.ListViews, wire.None{})
	var refusal *client.Problem
	if errors.As(err, &refusal) && refusal.Status == http.StatusNotFound {
		return nil
	}
	if err != nil {
		return []wire.Check{failedCheck("views", "%v", err)}
	}
	var checks []wire.Check
	for _, v := range all.Views {
		switch {
		case v.Problem != "":
			checks = append(checks, wire.Check{Name: "view " + v.Name, Warning: true, Detail: "it gets no items: " + v.Problem + ": change its definition"})
		case !v.Filled && now.Sub(v.Changed) > maxFillTime:
			checks = append(checks, wire.Check{Name: "view " + v.Name, Warning: true, Detail: "its older items are not filled in: check the agents with the role index, and the search engine"})
		}
	}
	if len(checks) == 0 && len(all.Views) > 0 {
		checks = append(checks, passedCheck("views", "%d, all current", len(all.Views)))
	}
	return checks
}

// checkSubscriptions warns of subscriptions that fail, are off, or have a condition that can't hold. It returns no check of a node without subscriptions, or of an older
// version.
func checkSubscriptions(ctx context.Context, api *client.Client) []wire.Check {
	all, err := client.Call(ctx, api, wire.ListSubscriptions, wire.None{})
	var refusal *client.Problem
	if errors.As(err, &refusal) && refusal.Status == http.StatusNotFound || err == nil && len(all.Subscriptions) == 0 {
		return nil
	}
	if err != nil {
		return []wire.Check{failedCheck("subscriptions", "%v", err)}
	}
	var checks []wire.Check
	for _, s := range all.Subscriptions {
		if s.State != wire.SubscriptionOn || s.Problem != "" {
			checks = append(checks, wire.Check{Name: "subscription " + s.Title, Warning: true, Detail: fmt.Sprintf("%s: see agent subscriptions log %s", stateOfSubscription(s), s.ID)})
		}
	}
	if len(checks) == 0 {
		checks = append(checks, passedCheck("subscriptions", "%d, all on", len(all.Subscriptions)))
	}
	return checks
}

// earliestDate is before the program's release: an earlier clock is wrong.
var earliestDate = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// checkClock compares this machine's clock with the node's time, unless that is zero.
func checkClock(node, now time.Time) wire.Check {
	const tolerance = 5 * time.Second // the time of a header is in whole seconds, plus network delay
	switch {
	case now.Before(earliestDate):
		return failedCheck("clock", "this machine's date is %s: set its clock, or enable NTP", now.Format(time.DateOnly))
	case node.IsZero():
		return passedCheck("clock", "%s", now.UTC().Format(time.RFC3339))
	case now.Sub(node).Abs() > tolerance:
		return failedCheck("clock", "this machine's clock and the node's differ by %v: enable NTP on both", now.Sub(node).Round(time.Second))
	}
	return passedCheck("clock", "in sync with the node")
}

// checkPort checks that a node could listen on the address.
func checkPort(address string) wire.Check {
	l, err := net.Listen("tcp", address)
	switch {
	case err == nil:
		l.Close()
		return passedCheck("port", "%s is free", address)
	case errors.Is(err, syscall.EACCES):
		return failedCheck("port", "permission denied to listen on %s: choose a port above 1023 with --listen", address)
	}
	return failedCheck("port", "listen on %s: %v: stop the program that uses it, or choose another address with --listen", address, err)
}

// checkData checks that a node could write files in a folder. If the folder does not exist, its nearest
// existing parent is checked.
func checkData(dir string) []wire.Check {
	at := dir
	for {
		info, err := os.Stat(at)
		if err == nil && !info.IsDir() {
			return []wire.Check{failedCheck("data", "%s is not a folder: choose another with --data", at)}
		}
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return []wire.Check{failedCheck("data", "%v: choose another folder with --data", err)}
		}
		at = filepath.Dir(filepath.Clean(at))
	}
	file, err := os.CreateTemp(at, ".feedmesh-doctor-*")
	if err != nil {
		return []wire.Check{failedCheck("data", "%v: make the folder writable for this user, or choose another with --data", err)}
	}
	file.Close()
	os.Remove(file.Name())
	return []wire.Check{passedCheck("data", "%s is writable", dir), checkDisk(dir, at)}
}

// minFreeBytes is the free disk space below which the check fails.
const minFreeBytes = 1 << 30

func checkDisk(dir, at string) wire.Check {
	free, err := node.FreeBytes(at)
	switch {
	case err != nil:
		return failedCheck("disk", "read free disk space of %s: %v", dir, err)
	case free < minFreeBytes:
		return failedCheck("disk", "only %v free for %s: free at least 1GB, or choose another folder with --data", config.Bytes(free>>20<<20), dir)
	}
	return passedCheck("disk", "%v free for %s", config.Bytes(free>>30<<30), dir)
}

// checkServer checks a NATS server and its JetStream.
func checkServer(server config.Address, login config.NATSLogin) wire.Check {
	conn, err := node.ConnectNATS([]config.Address{server}, login, nats.Timeout(checkTimeout), nats.Name("feedmesh doctor"))
	if err != nil {
		return failedCheck("nats", "%v: %v", server, err)
	}
	defer conn.Close()
	js, err := jetstream.NewWithDomain(conn, login.NATSDomain)
	if login.NATSDomain == "" {
		js, err = jetstream.New(conn)
	}
	if err == nil {
		ctx, cancel := context.WithTimeout(context.Background(), checkTimeout)
		defer cancel()
		_, err = js.AccountInfo(ctx)
	}
	if err != nil {
		return failedCheck("nats", "JetStream is not available on %v: %v: start the server with -js, and check the account's permissions", server, err)
	}
	return passedCheck("nats", "%v responds, with JetStream", server)
}

// checkEngine connects to a store or index.
func checkEngine(ctx context.Context, name string, address config.Address, try func(context.Context, config.Address) error) wire.Check {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	if err := try(ctx, address); err != nil {
		return failedCheck(name, "%v", err)
	}
	if address == config.OwnMeilisearch {
		return passedCheck(name, "Meilisearch is installed")
	}
	return passedCheck(name, "%v responds", address)
}

// checkBriefing requests the models of an endpoint, which costs nothing. Briefings are made without it too, so it only warns.
func checkBriefing(ctx context.Context, endpoint config.Address, key config.Secret) wire.Check {
	c := checkEngine(ctx, "briefing", endpoint, func(ctx context.Context, endpoint config.Address) error {
		return briefing.Check(ctx, string(endpoint), string(key))
	})
	if c.Warning = !c.OK; c.Warning {
		c.Detail = fmt.Sprintf("%v: %s; check briefing.url and briefing.key, and start the server of the model", endpoint, c.Detail)
	}
	return c
}

// checkDNS resolves a public name. A network without public names may have feeds of its own, so it only warns.
func checkDNS(ctx context.Context, lookup func(context.Context, string) ([]string, error)) wire.Check {
	const name = "example.com"
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	if _, err := lookup(ctx, name); err != nil {
		c := failedCheck("dns", "%v: feeds of public hosts cannot be fetched; check this machine's network and resolver", err)
		c.Warning = true
		return c
	}
	return passedCheck("dns", "%s resolves", name)
}

// isLocal reports whether a URL's host is this machine.
func isLocal(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() == "localhost" || err == nil && ip.IsLoopback()
}

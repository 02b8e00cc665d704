package node

import (
	"context"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"

	"feedmesh/agent/api"
	"feedmesh/agent/role"
	"feedmesh/agent/simulate"
)

// simulated is what the feeds are like that a node serves to itself: of so many
// items that one sees them come, and a few with faults, to see how those are shown.
var simulated = simulate.Settings{
	Seed: 1, Rate: 20,
	Faults: simulate.Faults{
		simulate.NotFound: 0.01, simulate.Forbidden: 0.01, simulate.Limited: 0.01, simulate.Broken: 0.01,
		simulate.Slow: 0.01, simulate.Truncated: 0.005, simulate.Redirect: 0.01, simulate.Moved: 0.01,
	},
}

// loopback is where a farm's hosts are.
var loopback = netip.MustParsePrefix("127.0.0.0/8")

// allowed returns the private networks that feeds may be fetched from.
func (n *node) allowed() []netip.Prefix {
	if n.config.Simulate == 0 {
		return n.config.AllowNet
	}
	return append(slices.Clone(n.config.AllowNet), loopback)
}

// plantFarm serves synthetic feeds until the node ends, and gives them to a store
// that has no others.
func (n *node) plantFarm(ctx context.Context, env *role.Env) error {
	port, err := n.farmPort(ctx, env)
	if err != nil {
		return err
	}
	s := simulated
	s.Feeds, s.Hosts, s.Now = n.config.Simulate, n.config.Simulate, env.Clock.Now
	if err := simulate.SeveralHosts(); err != nil {
		n.options.Log.Warn("simulated feeds are read slowly: they are all on one host", "err", err)
		s.Hosts = 1
	}
	web, err := simulate.NewWeb(s)
	if err != nil {
		return err
	}
	n.opened(web)
	server, err := web.Serve("127.0.0.1:"+port, "")
	if err != nil {
		return err
	}
	n.opened(server)
	if _, err := api.TakeIn(ctx, env.Store, n.mesh, web.Feeds(server.Port), env.Clock.Now()); err != nil {
		return err
	}
	n.options.Log.Info("feeds are simulated; how they are read is at the ledger",
		"feeds", s.Feeds, "ledger", fmt.Sprintf("http://127.0.0.1:%d/ledger", server.Port))
	return nil
}

// farmPort returns the port of the farm that the store has feeds of, or 0, for a
// free one, if it is empty.
func (n *node) farmPort(ctx context.Context, env *role.Env) (string, error) {
	feeds, err := env.Store.ListFeeds(ctx, "", 1)
	if err != nil {
		return "", err
	}
	if len(feeds) == 0 {
		return "0", nil
	}
	u, err := url.Parse(feeds[0].URL)
	if err == nil {
		host, _ := netip.ParseAddr(u.Hostname())
		if port, err := strconv.Atoi(u.Port()); err == nil && loopback.Contains(host) {
			return strconv.Itoa(port), nil
		}
	}
	return "", fmt.Errorf("the store has feeds that are not simulated, as %s: --simulate wants a data folder of its own, as --data ./simulated", feeds[0].URL)
}

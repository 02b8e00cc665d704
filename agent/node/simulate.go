package node

import (
	"context"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"

	"feedmesh/agent/role"
	"feedmesh/agent/service"
	"feedmesh/agent/simulate"
	"feedmesh/storage"
)

// simulated are the settings of the built-in synthetic feeds: enough items to observe their arrival, and a
// few errors to show how they are displayed.
var simulated = simulate.Settings{
	Seed: 1, Rate: 20,
	Faults: simulate.Faults{
		simulate.NotFound: 0.01, simulate.Forbidden: 0.01, simulate.Limited: 0.01, simulate.Broken: 0.01,
		simulate.Slow: 0.01, simulate.Truncated: 0.005, simulate.Redirect: 0.01, simulate.Moved: 0.01,
	},
}

// startSimulation serves synthetic feeds until the node stops, and imports them into an empty store.
func startSimulation(ctx context.Context, p *process, env *role.Env) error {
	port, err := simulationPort(ctx, env)
	if err != nil {
		return err
	}
	s := simulated
	s.Feeds, s.Hosts, s.Now = p.config.Simulate, p.config.Simulate, env.Clock.Now
	if err := simulate.SeveralHosts(); err != nil {
		p.options.Log.Warn("simulated feeds share one host, polling is slow", "err", err)
		s.Hosts = 1
	}
	web, err := simulate.NewWeb(s)
	if err != nil {
		return err
	}
	p.closeLater(web)
	server, err := web.Serve("127.0.0.1:"+port, "")
	if err != nil {
		return err
	}
	p.closeLater(server)
	if _, err := service.ImportFeeds(ctx, env.Store, env.Mesh, web.Feeds(server.Port), env.Clock.Now()); err != nil {
		return err
	}
	p.options.Log.Info("simulated feeds started, see the ledger",
		"feeds", s.Feeds, "ledger", fmt.Sprintf("http://127.0.0.1:%d/ledger", server.Port))
	return nil
}

// simulationPort returns the port of the simulated feeds in the store, or 0 for a free port if the store is empty.
func simulationPort(ctx context.Context, env *role.Env) (string, error) {
	feeds, err := env.Store.FindFeeds(ctx, storage.FeedQuery{Limit: 1})
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
	return "", fmt.Errorf("the store has feeds that are not simulated, for example %s: use --simulate with an empty data folder, for example --data ./simulated", feeds[0].URL)
}

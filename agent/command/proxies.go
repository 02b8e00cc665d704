package command

import (
	"context"
	"fmt"
	"strings"
	"time"

	"feedmesh/agent/client"
	"feedmesh/agent/wire"
	"feedmesh/config"
	"feedmesh/storage"
)

// A proxiesCommand groups the commands about proxies.
type proxiesCommand struct {
	List   proxiesListCommand   `cmd:"" help:"List the proxies, without their passwords."`
	Set    proxiesSetCommand    `cmd:"" help:"Add or change a proxy."`
	Remove proxiesRemoveCommand `cmd:"" help:"Remove proxies."`
}

// A proxiesListCommand lists proxies.
type proxiesListCommand struct{ query }

// Help implements kong's HelpProvider.
func (proxiesListCommand) Help() string {
	return `List the proxies and their health:

    agent proxies list

A failed proxy is suspended for a minute, then longer each time, up to an
hour, and returns when it passes a probe. A probe connects and logs in; it
makes no request to a site. A region is suspended while it has no crawlers.`
}

// Run implements the command.
func (c *proxiesListCommand) Run(ctx context.Context, p *program) error {
	return printAnswer(ctx, p, c.query, wire.ListProxies, wire.None{}, func(pg *page, all wire.Proxies) {
		if len(all.Proxies) == 0 {
			p.notice("no proxies yet; add one with: agent proxies set ID URL")
			return
		}
		now := time.Now()
		pg.table(func(row func(...any)) {
			row("ID", "URL", "USED", "FOR", "STATE")
			for _, x := range all.Proxies {
				used, hosts := "on rejection", "any host"
				if x.Always {
					used = "always"
				}
				if len(x.Hosts) > 0 {
					hosts = strings.Join(x.Hosts, ", ")
				}
				row(x.ID, x.URL, used, hosts, proxyState(x, now))
			}
		})
	})
}

// proxyState describes a proxy's health, which an older node does not report.
func proxyState(x wire.Proxy, now time.Time) string {
	h := x.Health
	if h == nil {
		return "unknown"
	}
	reason := ""
	if h.Why != "" {
		reason = ": " + h.Why
	}
	times := fmt.Sprintf("%d failures", h.Failures)
	if h.Failures == 1 {
		times = "1 failure"
	}
	regional := strings.HasPrefix(x.URL, storage.RegionScheme)
	switch {
	case h.State == wire.ProxyRests && regional:
		return "suspended" + reason
	case h.State == wire.ProxyRests && h.Until.After(now):
		return fmt.Sprintf("suspended until %s after %s%s", h.Until.Local().Format("15:04"), times, reason)
	case h.State == wire.ProxyRests:
		return fmt.Sprintf("suspended until it passes a probe, after %s%s", times, reason)
	case h.State == wire.ProxyDoubtful:
		return fmt.Sprintf("passes probes, but failed %d times in a row in use%s", h.Failures, reason)
	case h.State == wire.ProxyWorks && h.Used.After(h.Passed):
		return "works, last used " + ago(h.Used, now)
	case h.State == wire.ProxyWorks && regional:
		return "works, with crawlers since " + ago(h.Passed, now)
	case h.State == wire.ProxyWorks:
		return "works, last probed " + ago(h.Passed, now)
	}
	if h.Why != "" {
		return "unknown" + reason
	}
	return "not used yet"
}

// A proxiesSetCommand adds or changes a proxy.
type proxiesSetCommand struct {
	query
	Host   []string      `placeholder:"NAME" help:"Only for hosts whose names have this suffix, such as example.org."`
	Always bool          `help:"Use the proxy for all requests, not only when direct requests are rejected."`
	ID     string        `arg:"" help:"ID of the proxy: lower-case letters, digits, hyphens."`
	URL    config.Secret `arg:"" name:"url" help:"URL: http://, https:// or socks5://, with USER:PASSWORD@ if needed; or region:NAME for the agents with --region NAME. @FILE reads it from a file."`
}

// Help implements kong's HelpProvider.
func (proxiesSetCommand) Help() string {
	return `A proxy for two hosts, with its password read from a file:

    agent proxies set eu @/run/secrets/eu-proxy --host example.org --host example.com

The agents of another place, started with --roles crawl --region us, for a
host that refuses the others:

    agent proxies set us region:us --host example.net

An existing proxy of this ID is replaced.`
}

// Run implements the command.
func (c *proxiesSetCommand) Run(ctx context.Context, p *program) error {
	setting := wire.SetProxyRequest{ID: c.ID, Body: wire.ProxySetting{URL: string(c.URL), Hosts: c.Host, Always: c.Always}}
	return printAnswer(ctx, p, c.query, wire.SetProxy, setting, func(pg *page, got wire.Proxy) { pg.printf("%s: %s\n", got.ID, got.URL) })
}

// A proxiesRemoveCommand removes proxies.
type proxiesRemoveCommand struct {
	query
	IDs []string `arg:"" name:"id" help:"IDs of proxies."`
}

// Help implements kong's HelpProvider.
func (proxiesRemoveCommand) Help() string {
	return `Feeds set to this proxy return to the default proxy settings:

    agent proxies remove eu`
}

// Run implements the command.
func (c *proxiesRemoveCommand) Run(ctx context.Context, p *program) error {
	return c.each(ctx, p, c.IDs, "%s: removed", func(api *client.Client, id string) error {
		return client.Do(ctx, api, wire.RemoveProxy, wire.ByID{ID: id})
	})
}

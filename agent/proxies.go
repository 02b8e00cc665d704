package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"feedmesh/agent/api"
	"feedmesh/config"
)

// A proxiesCommand is the commands about proxies.
type proxiesCommand struct {
	List   proxiesListCommand   `cmd:"" help:"List the proxies, without their passwords."`
	Set    proxiesSetCommand    `cmd:"" help:"Add a proxy, or change it."`
	Remove proxiesRemoveCommand `cmd:"" help:"Remove proxies."`
}

// A proxiesListCommand lists proxies.
type proxiesListCommand struct{ query }

// Help implements kong's HelpProvider.
func (proxiesListCommand) Help() string {
	return `Ways to hosts that do not answer directly, and whether they work:

    agent proxies list

One that did not work rests for a minute, then for longer each time, up to an
hour, and comes back when it passes a probe. A probe connects, and logs in; no
site is asked for anything.`
}

// Run implements the command.
func (c *proxiesListCommand) Run(ctx context.Context, p *program) error {
	client, err := c.client()
	if err != nil {
		return err
	}
	all, err := client.Proxies(ctx)
	if err != nil {
		return err
	}
	if len(all.Proxies) == 0 && !c.JSON {
		p.say("there are no proxies; add one with: agent proxies set ID URL")
		return nil
	}
	now := time.Now()
	return c.print(p, all, func(pg *page) {
		pg.table(func(row func(...any)) {
			row("ID", "URL", "USED", "FOR", "STATE")
			for _, x := range all.Proxies {
				used, hosts := "when refused", "any host"
				if x.Always {
					used = "at once"
				}
				if len(x.Hosts) > 0 {
					hosts = strings.Join(x.Hosts, ", ")
				}
				row(x.ID, x.URL, used, hosts, proxyState(x.Health, now))
			}
		})
	})
}

// proxyState says in words how a proxy is; nil is one of which an older node
// does not tell.
func proxyState(h *api.ProxyHealth, now time.Time) string {
	if h == nil {
		return "unknown"
	}
	why := ""
	if h.Why != "" {
		why = ": " + h.Why
	}
	times := fmt.Sprintf("%d failures", h.Failures)
	if h.Failures == 1 {
		times = "1 failure"
	}
	switch {
	case h.State == api.ProxyRests && h.Until.After(now):
		return fmt.Sprintf("rests until %s after %s%s", h.Until.Local().Format("15:04"), times, why)
	case h.State == api.ProxyRests:
		return fmt.Sprintf("rests until it passes a probe, after %s%s", times, why)
	case h.State == api.ProxyDoubtful:
		return fmt.Sprintf("passes probes, but failed in use, %d times in a row%s", h.Failures, why)
	case h.State == api.ProxyWorks && h.Used.After(h.Passed):
		return "works, last used " + ago(h.Used, now)
	case h.State == api.ProxyWorks:
		return "works, last probed " + ago(h.Passed, now)
	}
	if h.Why != "" {
		return "not known" + why
	}
	return "not tried yet"
}

// A proxiesSetCommand adds or changes a proxy.
type proxiesSetCommand struct {
	query
	Host   []string      `placeholder:"NAME" help:"Only for hosts whose names end so, as example.org."`
	Always bool          `help:"Use it at once, not only when the direct way is refused."`
	ID     string        `arg:"" help:"What to call it: lower-case letters, digits, hyphens."`
	URL    config.Secret `arg:"" name:"url" help:"Its address: http://, https:// or socks5://, with USER:PASSWORD@ if need be. @FILE reads it from a file."`
}

// Help implements kong's HelpProvider.
func (proxiesSetCommand) Help() string {
	return `A proxy for two sites that refuse us, its password out of sight:

    agent proxies set eu @/run/secrets/eu-proxy --host example.org --host example.com

What it was before is replaced.`
}

// Run implements the command.
func (c *proxiesSetCommand) Run(ctx context.Context, p *program) error {
	client, err := c.client()
	if err != nil {
		return err
	}
	got, err := client.SetProxy(ctx, c.ID, api.ProxySetting{URL: string(c.URL), Hosts: c.Host, Always: c.Always})
	if err != nil {
		return err
	}
	return c.print(p, got, func(pg *page) { pg.printf("%s: %s\n", got.ID, got.URL) })
}

// A proxiesRemoveCommand removes proxies.
type proxiesRemoveCommand struct {
	query
	IDs []string `arg:"" name:"id" help:"IDs of proxies."`
}

// Help implements kong's HelpProvider.
func (proxiesRemoveCommand) Help() string {
	return `Feeds that were told to go by it go by the rules again:

    agent proxies remove eu`
}

// Run implements the command.
func (c *proxiesRemoveCommand) Run(ctx context.Context, p *program) error {
	client, err := c.client()
	if err != nil {
		return err
	}
	d, err := p.each(ctx, c.IDs, func(id string) error { return client.RemoveProxy(ctx, id) })
	c.printDone(p, d, "%s: removed")
	return err
}

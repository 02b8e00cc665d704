// Package config has every setting of an agent, its default, and what makes a
// set of them wrong. Each can be given as a flag (--crawl-timeout), in the
// environment (FEEDMESH_CRAWL_TIMEOUT) or in a file ([crawl] timeout), and
// wins in that order.
package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/alecthomas/kong"
)

// A Config is all settings of one agent.
type Config struct {
	Roles  []string `default:"all" placeholder:"ROLE" help:"Roles this agent plays: any of those that --list-roles names, or all."`
	Data   string   `default:"./data" placeholder:"DIR" help:"Folder for the agent's files."`
	Listen string   `default:"127.0.0.1:8080" placeholder:"ADDR" help:"Address of console and REST API (role api)."`
	Token  Secret   `placeholder:"SECRET" help:"What clients of the console and REST API must show. Needed to listen beyond this machine. @FILE reads it from a file."`
	Health string   `placeholder:"ADDR" help:"Address of /livez, /readyz and /metrics, whatever the roles, as 127.0.0.1:8081; on this machine only, of /debug/pprof/ too. By default role api's address alone has the first three."`

	CORS              []string `name:"cors" placeholder:"ORIGIN" help:"Sites whose pages may search here, as https://example.org; *: all. They can read items, stories and outputs, and nothing else; give them a token that may only search. By default none may."`
	RequestsPerClient int      `default:"50" placeholder:"N" help:"Requests to the console and REST API that one client may make a second, and four times as many at once; 0: any number. On this machine, where no token is needed, nothing bounds them."`

	NATS      []Address `name:"nats" placeholder:"URL" help:"NATS servers to join, with JetStream: one cluster's, any that answers will do. Without it the agent runs one of its own."`
	NATSLogin NATSLogin `embed:""`

	Store     Address `placeholder:"URL" help:"PostgreSQL that keeps feeds and items, as postgres://USER:PASSWORD@HOST/DATABASE. Without it a file in the data folder does."`
	Search    Address `placeholder:"URL" help:"Meilisearch that finds items, as meilisearch://HOST:7700; meilisearchs:// for TLS. Without it an index in the data folder does."`
	SearchKey Secret  `placeholder:"SECRET" help:"Key for Meilisearch that may do all with index items. @FILE reads it from a file."`

	Starter  bool           `default:"true" negatable:"" help:"Begin an empty store with a list of some 40 well-known IT feeds."`
	Simulate int            `default:"0" placeholder:"N" help:"Read N synthetic feeds instead, which this agent serves to itself: a demonstration without the Internet. It wants a data folder of its own."`
	AllowNet []netip.Prefix `placeholder:"CIDR" help:"Private networks that feeds may be fetched from, as 192.168.1.0/24. By default none is."`
	ProxyNet []netip.Prefix `placeholder:"CIDR" help:"Private networks that proxies for feeds may be in, beside those that feeds may be fetched from."`
	FullText []string       `name:"fulltext" placeholder:"TAG" help:"Feeds with one of these tags get the text of their items from the pages they link to, as robots.txt allows; all: every feed. Other feeds have a setting for it. For agents with role parse."`
	Contact  string         `placeholder:"URL" help:"Page or address that tells site owners who reads their feeds; part of the User-Agent."`

	WebSubURL Address `name:"websub-url" placeholder:"URL" help:"Where WebSub hubs reach the REST API's /websub/ from outside, as https://feeds.example.org: feeds that name a hub are then pushed, and polled less. The same for all agents with role schedule or api. By default, none is."`

	RequestsPerSecond float64 `default:"0" placeholder:"N" help:"Requests for feeds that may be made a second, over the whole mesh; what policy price spends. By default, 0, nothing but the feeds' intervals bounds them, and price spends as many as tiers would."`

	Schedule Schedule `embed:"" prefix:"schedule-"`
	Crawl    Crawl    `embed:"" prefix:"crawl-"`
	Classify Classify `embed:"" prefix:"classify-"`
	Cluster  Cluster  `embed:"" prefix:"cluster-"`
	Servers  Servers  `embed:"" prefix:"cluster-"`
	Log      Log      `embed:"" prefix:"log-"`
	Trace    Trace    `embed:"" prefix:"trace-"`
}

// NATSLogin says who the agent is to the NATS servers it joins. Its names do not
// share a prefix: in a file, nats is a list already.
type NATSLogin struct {
	NATSUser     string `name:"nats-user" placeholder:"NAME" help:"User for the NATS servers."`
	NATSPassword Secret `name:"nats-password" placeholder:"SECRET" help:"Password of that user. @FILE reads it from a file."`
	NATSCreds    string `name:"nats-creds" placeholder:"FILE" help:"Credentials file (JWT and seed) for the NATS servers."`
	NATSNKey     string `name:"nats-nkey" placeholder:"FILE" help:"File with the NKey seed of a user of the NATS servers."`
	NATSCA       string `name:"nats-ca" placeholder:"FILE" help:"Certificates (PEM) by which to know the NATS servers, beside the system's."`
	NATSCert     string `name:"nats-cert" placeholder:"FILE" help:"Certificate (PEM) that this agent shows the NATS servers."`
	NATSKey      string `name:"nats-key" placeholder:"FILE" help:"Private key (PEM) of that certificate."`
	NATSDomain   string `name:"nats-domain" placeholder:"NAME" help:"JetStream domain of the mesh, if the servers joined are leaf nodes of its cluster."`
}

// Schedule has the settings of when feeds are polled.
type Schedule struct {
	Policy      string        `default:"price" enum:"price,tiers,uniform" help:"How it is decided when feeds are polled: price spends the requests where the items are that would wait longest; tiers has three intervals, by items a day; uniform has one for all."`
	Interval    time.Duration `default:"0s" placeholder:"TIME" help:"One interval at which all feeds are polled, as 10m: makes the policy uniform."`
	Floor       time.Duration `default:"2m" help:"Least interval of policy price."`
	HostSpacing time.Duration `default:"2s" help:"Time between the starts of two requests to one host, at least; one is under way at a time."`
	Tiers       Tiers         `embed:"" prefix:"tiers-"`
}

// Tiers has the numbers of the policy tiers.
type Tiers struct {
	HotRate   float64       `default:"8" help:"Items a day above which a feed is hot."`
	WarmRate  float64       `default:"3" help:"Items a day from which a feed is warm."`
	HotShare  float64       `default:"0.1" help:"Share of the feeds that may be hot, at most."`
	WarmShare float64       `default:"0.3" help:"Share of the feeds that may be warm, at most."`
	From      int           `default:"8" help:"Hour at which the working day begins, in the feed's zone where it is known, else UTC."`
	To        int           `default:"18" help:"Hour at which it ends."`
	HotDay    time.Duration `default:"225s" help:"Interval of hot feeds in the working day."`
	HotNight  time.Duration `default:"900s" help:"Interval of hot feeds otherwise."`
	Warm      time.Duration `default:"1200s" help:"Interval of warm feeds."`
	Cold      time.Duration `default:"3600s" help:"Interval of all others."`
}

// Crawl has the settings of fetching.
type Crawl struct {
	Timeout  time.Duration `default:"30s" help:"Time that one fetch may take, with redirects and body."`
	MaxBody  Bytes         `default:"10MB" help:"Largest document read, decompressed."`
	Parallel int           `default:"64" help:"Fetches under way at once, over all hosts; each host sees one at a time."`
}

// Classify has the settings of what items are labelled with, beside the rule sets.
type Classify struct {
	Sentiment bool `default:"false" help:"Say of each item in English or Russian how good or bad its words are, from -1 to 1. The same for all agents with role classify."`
}

// Cluster has the settings of the search for duplicates.
type Cluster struct {
	Window time.Duration `default:"72h" help:"How long an item is remembered to find duplicates of it."`
}

// Servers has the settings of the NATS server in this process as one of several
// agents' that form a cluster. They share a prefix with [Cluster]: the one is
// about items, this about servers.
type Servers struct {
	Listen string   `placeholder:"ADDR" help:"Address on which this agent's NATS server meets those of other agents, as 10.0.0.1:6222. Three agents make a cluster that survives the loss of any one."`
	Peers  []string `placeholder:"ADDR" help:"Those addresses of the other agents, as 10.0.0.2:6222,10.0.0.3:6222."`
	Secret Secret   `placeholder:"SECRET" help:"What these servers show each other; the same for all. Needed to listen beyond this machine. @FILE reads it from a file."`
}

// Trace has the settings of tracing.
type Trace struct {
	To    Address `placeholder:"URL" help:"OpenTelemetry collector (OTLP over HTTP) that is sent one trace of each task's way, as http://HOST:4318. By default none is."`
	Share float64 `default:"1" help:"Share of the crawl tasks that are traced, 0 to 1."`
}

// Log has the settings of the log.
type Log struct {
	Format string `default:"text" enum:"text,json" help:"Form of the log on standard error: text or json."`
	Level  string `default:"info" enum:"debug,info,warn,error" help:"Least important message logged: debug, info, warn or error."`
}

// Default returns the settings of a single node, whatever the environment.
func Default() Config {
	var c Config
	if err := kong.ApplyDefaults(&c, types()); err != nil {
		panic(err) // the defaults are constants of this file
	}
	return c
}

// Validate returns every fault of the settings at once, joined, each as
// "crawl.timeout: -1s is not positive"; or nil.
func (c Config) Validate() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }

	if len(c.Roles) == 0 {
		fault("roles: is empty; name at least one, or all")
	}
	if len(c.Roles) > 1 && slices.Contains(c.Roles, "all") {
		fault(`roles: "all" leaves nothing to name beside it`)
	}
	if c.Data == "" {
		fault("data: is empty; name a folder")
	}
	serves := func(role string) bool { return role == "api" || role == "all" }
	if len(c.Roles) == 0 || slices.ContainsFunc(c.Roles, serves) { // others don't listen there
		faults = append(faults, c.faultsOfListening("listen", c.Listen, "127.0.0.1:8080")...)
	}
	faults = append(faults, c.faultsOfClients()...)
	if c.Health != "" {
		faults = append(faults, c.faultsOfListening("health", c.Health, "127.0.0.1:8081")...)
	}
	faults = slices.Concat(faults, c.faultsOfNATS(), c.faultsOfServers(), c.faultsOfEngines())
	if c.Simulate < 0 || c.Simulate > 62_500 {
		fault("simulate: %d is not between 0 and 62500 feeds", c.Simulate)
	}
	if c.Simulate > 0 && (!slices.Equal(c.Roles, []string{"all"}) || len(c.NATS) > 0) {
		fault("simulate: is for an agent that is the whole mesh; leave roles and nats as they are")
	}
	faults = append(faults, c.faultsOfSchedule()...)
	if c.Crawl.Timeout <= 0 {
		fault("crawl.timeout: %v is not positive", c.Crawl.Timeout)
	} else if c.Crawl.Timeout > 5*time.Minute {
		fault("crawl.timeout: %v is more than the 5m that a task of many feeds can bear", c.Crawl.Timeout)
	}
	if c.Crawl.MaxBody < 64<<10 || c.Crawl.MaxBody > 64<<20 {
		fault("crawl.max-body: %v is not between 64KB and 64MB", c.Crawl.MaxBody)
	}
	if c.Crawl.Parallel < 1 || c.Crawl.Parallel > 10_000 {
		fault("crawl.parallel: %d is not between 1 and 10000", c.Crawl.Parallel)
	}
	if c.Cluster.Window < time.Hour {
		fault("cluster.window: %v is less than 1h", c.Cluster.Window)
	}
	if c.WebSubURL != "" && !isBase(c.WebSubURL) {
		fault("websub-url: %q is no web address that a path can follow; write https://HOST", c.WebSubURL.String())
	}
	if c.Trace.To != "" && !isURL(c.Trace.To, "http", "https") {
		fault("trace.to: %q is no web address; write http://HOST:4318", c.Trace.To.String())
	}
	if !(c.Trace.Share >= 0 && c.Trace.Share <= 1) {
		fault("trace.share: %v is not between 0 and 1", c.Trace.Share)
	}
	return errors.Join(faults...)
}

// faultsOfListening returns what is wrong with an address that clients come to.
func (c Config) faultsOfListening(name, address, example string) []error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return []error{fmt.Errorf("%s: %q is no address; write HOST:PORT, as %s", name, address, example)}
	}
	if !isLoopback(host) && c.Token == "" {
		return []error{fmt.Errorf("%s: %s can be reached by others; set a token for them, or listen on 127.0.0.1", name, address)}
	}
	return nil
}

// faultsOfClients returns what is wrong with what clients may do.
func (c Config) faultsOfClients() (faults []error) {
	for _, origin := range c.CORS {
		if origin != "*" && !isOrigin(origin) {
			faults = append(faults, fmt.Errorf("cors: %q is no origin; write https://HOST, without a path, or *", origin))
		}
	}
	if c.RequestsPerClient < 0 || c.RequestsPerClient > 100_000 {
		faults = append(faults, fmt.Errorf("requests-per-client: %d is not between 0 and 100000", c.RequestsPerClient))
	}
	return faults
}

func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

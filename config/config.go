// Package config defines the settings of an agent, their defaults and their validation. Each setting can be
// given as a flag (--crawl-timeout), in the environment (FEEDMESH_CRAWL_TIMEOUT) or in a file ([crawl]
// timeout); flags override the environment, and the environment overrides the file. [Config] contains all
// settings, [Default] returns the defaults, and [Config.Validate] reports every invalid setting.
package config

import (
	"net/netip"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"feedmesh/storage"
)

// A Config contains all settings of an agent.
type Config struct {
	Roles  []string `default:"all" placeholder:"ROLE" help:"Roles of this agent: any of those listed by --list-roles, or all."`
	Name   string   `placeholder:"NAME" help:"Name of this agent in the mesh, by which agent mesh drain takes it out of work. By default the name of its host."`
	Region string   `placeholder:"NAME" help:"Region of this agent's role crawl, such as eu: it fetches only feeds that are routed there, by agent proxies set ID region:NAME. By default the feeds of no region."`
	Data   string   `default:"./data" placeholder:"DIR" help:"Data folder of the agent."`
	Listen string   `default:"127.0.0.1:8080" placeholder:"ADDR" help:"Address of console and REST API (role api)."`
	Token  Secret   `placeholder:"SECRET" help:"Token required from clients of the console and REST API. Required to listen on other than loopback addresses. @FILE reads it from a file."`
	Health string   `placeholder:"ADDR" help:"Additional address for /livez, /readyz and /metrics, for all roles, such as 127.0.0.1:8081; on loopback addresses also for /debug/pprof/. By default only role api serves the first three, on its address."`

	HealthToken  Secret         `placeholder:"SECRET" help:"Token that may read /readyz and /metrics only, at --health and at --listen, for monitoring. With it --health requires a token also on loopback addresses. @FILE reads it from a file."`
	TrustedProxy []netip.Prefix `placeholder:"CIDR" help:"Networks of reverse proxies in front of the console and REST API, such as 127.0.0.1/32. The address of a client is read from their X-Forwarded-For or Forwarded. Other requests with such headers are rejected. Requires a token."`
	PersonHeader string         `placeholder:"NAME" help:"Header by which the trusted proxies name the person who is logged in, such as Remote-User. The person must exist. The proxies must remove the header from requests of clients."`

	CORS              []string `name:"cors" placeholder:"ORIGIN" help:"Origins allowed to search by cross-origin requests, such as https://example.org; *: all. They can read items, stories and outputs only; give them a token with scope search. By default none."`
	RequestsPerClient int      `default:"50" placeholder:"N" help:"Rate limit of the console and REST API, in requests per second and client, with bursts of four times as many; 0: no limit. Without a token, on this machine, the limit does not apply."`

	NATS      []Address `name:"nats" placeholder:"URL" help:"NATS servers of one cluster with JetStream; the agent connects to any that responds. By default the agent runs an embedded NATS server."`
	NATSLogin NATSLogin `embed:""`

	Store     Address `placeholder:"URL" help:"PostgreSQL database for feeds and items, such as postgres://USER:PASSWORD@HOST/DATABASE. By default a SQLite file in the data folder."`
	Search    Address `placeholder:"URL" help:"Meilisearch server for the search index, such as meilisearch://HOST:7700; meilisearchs:// for TLS; meilisearch: without a host starts the installed program meilisearch with its files in the data folder. By default an embedded index in the data folder."`
	SearchKey Secret  `placeholder:"SECRET" help:"Meilisearch API key with all permissions on index items. @FILE reads it from a file."`

	SearchEmbedder Secret `placeholder:"JSON" help:"Embedder of Meilisearch for semantic searches, in the form of its settings, such as {\"source\": \"ollama\", \"url\": \"http://HOST:11434/api/embed\", \"model\": \"nomic-embed-text\"}. @FILE reads it from a file. Meilisearch sends it the title of each item and the beginning of its text. For agents with role index. By default none."`

	SecretKeyFile string `placeholder:"FILE" help:"Key by which the passwords of feeds and proxies and the receivers of subscriptions are sealed, the same file for all agents of a mesh with role schedule, crawl, deliver or api: 32 random bytes in base64, such as by openssl rand -base64 32. The first line seals; more lines open what older keys sealed. By default secret.key in the data folder, made when it is needed; none with --nats or --cluster-listen."`

	Starter bool `default:"true" negatable:"" help:"Add some 40 well-known IT feeds to an empty store."`

	Unique int `default:"0" placeholder:"PERCENT" help:"Hide results of searches that agree with one above them in at least this percentage of word shingles; searches may set another. 0: only duplicates are hidden. For agents with role api."`

	Keep    storage.Keep `default:"all" placeholder:"LIMIT" help:"How long items are kept: 90d for the time since they arrived, 1000 for the number of items of a feed, 90d,1000 for both, or all. Starred and corrected items are kept. Single feeds and tags have settings for it. For agents with role store."`
	KeepTag []TagKeep    `name:"keep-tag" sep:";" placeholder:"TAG=LIMIT" help:"The same for the feeds with a tag, such as news=30d;photos=all. Of several tags of a feed, the first in this list counts."`

	AcceptEmptyStore bool           `help:"Start with an empty store although the index has items or the schedule has feeds, and forget these."`
	Simulate         int            `default:"0" placeholder:"N" help:"Poll N synthetic feeds served by this agent instead: a demonstration without Internet access. Use a separate data folder."`
	AllowNet         []Network      `placeholder:"CIDR" help:"Private networks from which feeds may be fetched, such as 192.168.1.0/24. Ports of other services, such as 22, 25, 5432 and 6379, stay denied unless named with an address, such as 192.168.1.5:5432. By default none."`
	ProxyNet         []netip.Prefix `placeholder:"CIDR" help:"Private networks in which proxies may be, beside those of --allow-net."`
	FullText         []string       `name:"fulltext" placeholder:"TAG" help:"Tags of feeds whose item text is fetched from the linked pages, as robots.txt allows; all: every feed. Single feeds have a setting for it. For agents with role parse."`
	Contact          string         `placeholder:"URL" help:"Page or e-mail address for site owners; part of the User-Agent."`

	PublicURL Address `name:"public-url" placeholder:"URL" help:"Public base URL of the console and the REST API, such as https://feeds.example.org. Mails link to it, also to unsubscribe. WebSub hubs reach /websub/ below it: it enables push for feeds with a hub, which are then polled less often. Must be the same for all agents with role schedule, deliver or api. By default push is off, and mails have no such links."`

	RequestsPerSecond float64 `default:"0" placeholder:"N" help:"Request budget of the whole mesh, in feed requests per second, used by policy price. 0: no limit beside the feeds' intervals; price then uses as many requests as policy tiers would."`

	OIDC     OIDC     `embed:"" prefix:"oidc-"`
	TLS      TLS      `embed:"" prefix:"tls-"`
	Schedule Schedule `embed:"" prefix:"schedule-"`
	Crawl    Crawl    `embed:"" prefix:"crawl-"`
	Classify Classify `embed:"" prefix:"classify-"`
	Cluster  Cluster  `embed:"" prefix:"cluster-"`
	Servers  Servers  `embed:"" prefix:"cluster-"`
	Backup   Backup   `embed:"" prefix:"backup-"`
	Mail     Mail     `embed:"" prefix:"mail-"`
	Briefing Briefing `embed:"" prefix:"briefing-"`
	Log      Log      `embed:"" prefix:"log-"`
	Trace    Trace    `embed:"" prefix:"trace-"`
}

// TLS contains the settings of encrypted connections to --listen, and to --health where that is no loopback address.
type TLS struct {
	Cert          string  `placeholder:"FILE" help:"Certificate chain (PEM) with which --listen, and --health beyond loopback addresses, serve HTTPS. Changed files are used without a restart. By default they serve HTTP."`
	Key           string  `placeholder:"FILE" help:"Private key (PEM) of that certificate."`
	ACMEHost      string  `name:"acme-host" placeholder:"NAME" help:"Public host name for which a certificate is obtained by ACME, instead of --tls-cert. The CA connects to port 443 of the name, which must lead to --listen. You accept the CA's terms of service."`
	ACMEDirectory Address `name:"acme-directory" default:"https://acme-v02.api.letsencrypt.org/directory" placeholder:"URL" help:"Directory of the ACME CA. By default Let's Encrypt."`
}

// OIDC contains the settings of the OpenID provider by which people log in.
type OIDC struct {
	Issuer       Address `placeholder:"URL" help:"OpenID provider by which people log in beside passwords and passkeys, such as https://id.example.org. At the provider, register the redirect URI https://HOST/login/oidc/callback. Must be the same for all agents with role api. By default none."`
	ClientID     string  `name:"client-id" placeholder:"ID" help:"ID of this client at the OpenID provider."`
	ClientSecret Secret  `name:"client-secret" placeholder:"SECRET" help:"Secret of this client at the OpenID provider; none for a public client. @FILE reads it from a file."`
	Role         string  `default:"none" enum:"none,reader,editor" help:"Role of people who are added when they log in by the OpenID provider for the first time; none: only people whom an owner allowed to log in so."`
}

// PersonRole returns the role of people who are added at their first login, empty if none are.
func (o OIDC) PersonRole() string {
	if o.Role == "none" {
		return ""
	}
	return o.Role
}

// NATSLogin contains the credentials for external NATS servers. Its flags have no common prefix: in a file,
// nats is already a list.
type NATSLogin struct {
	NATSUser     string `name:"nats-user" placeholder:"NAME" help:"User for the NATS servers."`
	NATSPassword Secret `name:"nats-password" placeholder:"SECRET" help:"Password of that user. @FILE reads it from a file."`
	NATSCreds    string `name:"nats-creds" placeholder:"FILE" help:"Credentials file (JWT and seed) for the NATS servers."`
	NATSNKey     string `name:"nats-nkey" placeholder:"FILE" help:"File with the NKey seed of a user of the NATS servers."`
	NATSCA       string `name:"nats-ca" placeholder:"FILE" help:"CA certificates (PEM) for the NATS servers, beside the system's."`
	NATSCert     string `name:"nats-cert" placeholder:"FILE" help:"Client certificate (PEM) for the NATS servers."`
	NATSKey      string `name:"nats-key" placeholder:"FILE" help:"Private key (PEM) of that certificate."`
	NATSDomain   string `name:"nats-domain" placeholder:"NAME" help:"JetStream domain of the mesh, if the servers are leaf nodes of its cluster."`
}

// Schedule contains the settings of polling.
type Schedule struct {
	Policy      string        `default:"price" enum:"price,tiers,uniform" help:"Polling policy: price spends requests where items would wait longest; tiers has three intervals, by items a day; uniform has one interval for all feeds."`
	Interval    time.Duration `default:"0s" placeholder:"TIME" help:"Interval of all feeds, such as 10m; selects policy uniform."`
	Floor       time.Duration `default:"2m" help:"Minimum interval of policy price."`
	Partitions  int           `default:"1" placeholder:"N" help:"Partitions of the schedule of a new mesh, a power of two from 1 to 64: each has the feeds of some hosts and is active on one agent. A million feeds fit into one. The number is fixed when the mesh is created; a node without others has one."`
	HostSpacing time.Duration `default:"2s" help:"Minimum time between the starts of two requests to one host; requests to a host are sequential."`
	Tiers       Tiers         `embed:"" prefix:"tiers-"`
}

// Tiers contains the settings of policy tiers.
type Tiers struct {
	HotRate   float64       `default:"8" help:"Items a day above which a feed is hot."`
	WarmRate  float64       `default:"3" help:"Items a day from which a feed is warm."`
	HotShare  float64       `default:"0.1" help:"Maximum share of hot feeds."`
	WarmShare float64       `default:"0.3" help:"Maximum share of warm feeds."`
	From      int           `default:"8" help:"Start hour of the working day, in the feed's time zone if known, else UTC."`
	To        int           `default:"18" help:"End hour of the working day."`
	HotDay    time.Duration `default:"225s" help:"Interval of hot feeds during the working day."`
	HotNight  time.Duration `default:"900s" help:"Interval of hot feeds otherwise."`
	Warm      time.Duration `default:"1200s" help:"Interval of warm feeds."`
	Cold      time.Duration `default:"3600s" help:"Interval of all other feeds."`
}

// Crawl contains the settings of fetching.
type Crawl struct {
	Timeout  time.Duration `default:"30s" help:"Timeout of one fetch, including redirects and body."`
	MaxBody  Bytes         `default:"10MB" help:"Maximum size of a document, decompressed."`
	Parallel int           `default:"64" help:"Maximum number of concurrent fetches over all hosts; each host gets one at a time."`
}

// Classify contains the settings of classification beside the rule sets.
type Classify struct {
	Sentiment bool `default:"false" help:"Score the sentiment of English and Russian items, from -1 to 1. Must be the same for all agents with role classify."`
}

// Cluster contains the settings of the detection of duplicates and stories.
type Cluster struct {
	Window time.Duration `default:"72h" help:"Window in which items are compared to find duplicates and stories."`
	Memory Bytes         `default:"200MB" help:"Maximum memory for the items and events of a language that new items are compared with. If more arrive within the window, it is shorter."`
}

// Servers contains the settings of the embedded NATS server as a member of a cluster. Its flags share a
// prefix with [Cluster], which is about items.
type Servers struct {
	Listen string   `placeholder:"ADDR" help:"Cluster address of the embedded NATS server, such as 10.0.0.1:6222. A cluster of three agents tolerates the loss of one."`
	Peers  []string `placeholder:"ADDR" help:"Cluster addresses of the other agents, such as 10.0.0.2:6222,10.0.0.3:6222."`
	Secret Secret   `placeholder:"SECRET" help:"Shared secret of the cluster; the same for all agents. @FILE reads it from a file."`

	TLSCert string `name:"tls-cert" placeholder:"FILE" help:"Certificate (PEM) of this agent for encrypted connections within the cluster; it must name the host of its cluster address. All agents of a cluster have one, or none."`
	TLSKey  string `name:"tls-key" placeholder:"FILE" help:"Private key (PEM) of that certificate."`
	TLSCA   string `name:"tls-ca" placeholder:"FILE" help:"CA certificates (PEM) by which the agents of the cluster verify each other; a CA of its own, since every certificate of it may join."`
}

// Backup contains the settings of scheduled backups.
type Backup struct {
	To         string        `placeholder:"DIR" help:"Folder for scheduled backups of store and schedule, or s3://BUCKET/PREFIX for S3-compatible storage. For agents with role api; one of them makes each backup. By default none are made."`
	Every      time.Duration `default:"24h" help:"Interval of scheduled backups."`
	Keep       int           `default:"7" placeholder:"N" help:"Number of scheduled backups to keep; older ones are deleted."`
	S3Endpoint Address       `name:"s3-endpoint" env:"FEEDMESH_BACKUP_S3_ENDPOINT" placeholder:"URL" help:"Address of the S3-compatible storage, such as https://s3.example.org. By default AWS."`
	S3Key      string        `name:"s3-key" env:"FEEDMESH_BACKUP_S3_KEY" placeholder:"ID" help:"Access key of the S3-compatible storage. By default AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, the AWS credentials file, or the machine's role."`
	S3Secret   Secret        `name:"s3-secret" env:"FEEDMESH_BACKUP_S3_SECRET" placeholder:"SECRET" help:"Secret of that key. @FILE reads it from a file."`
}

// Remote reports whether To names S3-compatible storage.
func (b Backup) Remote() bool { return strings.HasPrefix(b.To, "s3://") }

// Mail contains the settings of the SMTP server through which subscriptions send mail.
type Mail struct {
	Server   string `placeholder:"HOST:PORT" help:"SMTP server through which subscriptions send mail, such as smtp.example.org:587. By default none is sent."`
	User     string `placeholder:"NAME" help:"User at the SMTP server. By default without a login."`
	Password Secret `placeholder:"SECRET" help:"Password of that user. @FILE reads it from a file."`
	From     string `placeholder:"ADDRESS" help:"Sender of the mails, such as feeds@example.org or feedmesh <feeds@example.org>."`
	TLS      string `name:"tls" default:"starttls" enum:"starttls,implicit,none" help:"Encryption of the connection: starttls requires it, as usual on port 587; implicit encrypts from the first byte, as usual on port 465; none sends a password to loopback addresses only."`
}

// Briefing contains the settings of the language model that writes briefings.
type Briefing struct {
	URL   Address `name:"url" placeholder:"URL" help:"Base URL of an endpoint that speaks the chat protocol of OpenAI, such as https://api.openai.com/v1, or http://127.0.0.1:11434/v1 for Ollama. Its model writes briefings about items, which it receives. For agents with role api. By default none: briefings quote sentences of the items."`
	Model string  `placeholder:"NAME" help:"Name of the model at that endpoint."`
	Key   Secret  `placeholder:"SECRET" help:"API key for that endpoint. By default none is sent. @FILE reads it from a file."`
	Daily int     `default:"100" placeholder:"N" help:"Maximum number of requests of this agent to that endpoint in a day of UTC, counted since its start."`
}

// Trace contains the settings of tracing.
type Trace struct {
	To    Address `placeholder:"URL" help:"OpenTelemetry collector (OTLP over HTTP) for traces of tasks, such as http://HOST:4318. By default none."`
	Share float64 `default:"1" help:"Share of the crawl tasks that are traced, 0 to 1."`
}

// Log contains the settings of the log.
type Log struct {
	Format string `default:"text" enum:"text,json" help:"Log format on standard error: text or json."`
	Level  string `default:"info" enum:"debug,info,warn,error" help:"Minimum log level: debug, info, warn or error."`
}

// Default returns the default settings, independent of the environment.
func Default() Config {
	var c Config
	if err := kong.ApplyDefaults(&c, typeMapper()); err != nil {
		panic(err) // the defaults are constants
	}
	return c
}

// Package config has every setting of an agent, its default, and what makes a
// set of them wrong. Each can be given as a flag (--crawl-timeout), in the
// environment (FEEDMESH_CRAWL_TIMEOUT) or in a file ([crawl] timeout), and
// wins in that order.
package config

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"
)

// A Config is all settings of one agent.
type Config struct {
	Roles  []string `default:"all" placeholder:"ROLE" help:"Roles this agent plays: any of those that --list-roles names, or all."`
	Data   string   `default:"./data" placeholder:"DIR" help:"Folder for the agent's files."`
	Listen string   `default:"127.0.0.1:8080" placeholder:"ADDR" help:"Address of console and REST API (role api)."`
	Token  Secret   `placeholder:"SECRET" help:"What clients of the console and REST API must show. Needed to listen beyond this machine. @FILE reads it from a file."`
	NATS   string   `name:"nats" placeholder:"URL" help:"NATS server to join, with JetStream. Without it the agent runs one of its own, for itself alone."`

	Starter  bool           `default:"true" negatable:"" help:"Begin an empty store with a list of some 40 well-known IT feeds."`
	AllowNet []netip.Prefix `placeholder:"CIDR" help:"Private networks that feeds may be fetched from, as 192.168.1.0/24. By default none is."`
	Contact  string         `placeholder:"URL" help:"Page or address that tells site owners who reads their feeds; part of the User-Agent."`

	Crawl   Crawl   `embed:"" prefix:"crawl-"`
	Cluster Cluster `embed:"" prefix:"cluster-"`
	Log     Log     `embed:"" prefix:"log-"`
}

// Crawl has the settings of fetching.
type Crawl struct {
	Timeout  time.Duration `default:"30s" help:"Time that one fetch may take, with redirects and body."`
	MaxBody  Bytes         `default:"10MB" help:"Largest document read, decompressed."`
	Parallel int           `default:"64" help:"Fetches under way at once, over all hosts; each host sees one at a time."`
}

// Cluster has the settings of the search for duplicates.
type Cluster struct {
	Window time.Duration `default:"72h" help:"How long an item is remembered to find duplicates of it."`
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
	if host, _, err := net.SplitHostPort(c.Listen); err != nil {
		fault("listen: %q is no address; write HOST:PORT, as 127.0.0.1:8080", c.Listen)
	} else if !isLoopback(host) && c.Token == "" {
		fault("listen: %s can be reached by others; set a token for them, or listen on 127.0.0.1", c.Listen)
	}
	if c.NATS != "" {
		if u, err := url.Parse(c.NATS); err != nil || u.Host == "" || !slices.Contains([]string{"nats", "tls", "ws", "wss"}, u.Scheme) {
			fault("nats: %q is no NATS address; write nats://HOST:4222", HideUser(c.NATS))
		}
	}
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
	return errors.Join(faults...)
}

func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

// A Secret is never printed.
type Secret string

// String hides the secret.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return "(hidden)"
}

// Format hides the secret from all of fmt's verbs.
func (s Secret) Format(f fmt.State, _ rune) { io.WriteString(f, s.String()) }

// MarshalText hides the secret from JSON.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// HideUser returns a URL with the user and password in it hidden: NATS takes a
// user without a password for a token.
func HideUser(raw string) string {
	_, after, is := strings.Cut(raw, "@")
	if !is {
		return raw
	}
	scheme, _, is := strings.Cut(raw, "://")
	if !is {
		return "(hidden)@" + after
	}
	return scheme + "://(hidden)@" + after
}

// A Bytes is a size in bytes, written as "10MB".
type Bytes int64

var units = []struct {
	suffix string
	size   int64
}{{"GB", 1 << 30}, {"MB", 1 << 20}, {"KB", 1 << 10}, {"B", 1}}

// UnmarshalText reads a number with KB, MB or GB behind it, or of bytes.
func (b *Bytes) UnmarshalText(text []byte) error {
	s := strings.ToUpper(strings.TrimSpace(string(text)))
	size := int64(1)
	for _, u := range units {
		if number, is := strings.CutSuffix(s, u.suffix); is {
			s, size = strings.TrimSpace(number), u.size
			break
		}
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64/size {
		return fmt.Errorf("%q is no size; write it as 10MB", text)
	}
	*b = Bytes(n * size)
	return nil
}

// String returns the size in the largest unit that divides it.
func (b Bytes) String() string {
	for _, u := range units {
		if int64(b)%u.size == 0 && int64(b) >= u.size {
			return fmt.Sprintf("%d%s", int64(b)/u.size, u.suffix)
		}
	}
	return "0B"
}

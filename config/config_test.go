package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"net/netip"
	"strings"
	"testing"
	"time"
)

func TestDefault_IsSingleNode(t *testing.T) {
	c := Default()
	if err := c.Validate(); err != nil {
		t.Errorf("it is not valid: %v", err)
	}
	if len(c.Roles) != 1 || c.Roles[0] != "all" || c.NATS != nil || c.Token != "" || c.AllowNet != nil ||
		c.Listen != "127.0.0.1:8080" || c.Data != "./data" || !c.Starter {
		t.Errorf("got %+v, want a node that plays all roles, alone, for this machine only", c)
	}
	if want := (Crawl{Timeout: 30 * time.Second, MaxBody: 10 << 20, Parallel: 64}); c.Crawl != want {
		t.Errorf("crawl: got %+v, want %+v", c.Crawl, want)
	}
}

func TestDefault_IgnoresEnvironment(t *testing.T) {
	t.Setenv("FEEDMESH_CRAWL_TIMEOUT", "garbage")
	t.Setenv("FEEDMESH_LISTEN", "0.0.0.0:1")
	if c := Default(); c.Crawl.Timeout != 30*time.Second || c.Listen != "127.0.0.1:8080" {
		t.Errorf("got %+v, want the defaults", c)
	}
}

// errs are invalid changes of the settings, and the errors of Validate.
var errs = []struct {
	change func(*Config)
	want   string
}{
	{func(c *Config) { c.Roles = nil }, "roles: is empty; give at least one, or all"},
	{func(c *Config) { c.Name = strings.Repeat("a", 65) }, "name: has 65 characters; give at most 64"},
	{func(c *Config) { c.Data = "" }, "data: is empty; give a folder"},
	{func(c *Config) { c.Listen = "8080" }, `listen: "8080" is not an address; write HOST:PORT, such as 127.0.0.1:8080`},
	{func(c *Config) { c.NATS = []Address{"host"} }, `nats: "host" is not a NATS URL; write nats://HOST:4222`},
	{func(c *Config) { c.Crawl.Timeout = -time.Second }, "crawl.timeout: -1s is not positive"},
	{func(c *Config) { c.Crawl.MaxBody = 1 << 10 }, "crawl.max-body: 1KB is not between 64KB and 64MB"},
	{func(c *Config) { c.Crawl.Parallel = 0 }, "crawl.parallel: 0 is not between 1 and 10000"},
	{func(c *Config) { c.Cluster.Window = time.Minute }, "cluster.window: 1m0s is less than 1h"},
	{func(c *Config) { c.Cluster.Memory = 1 << 20 }, "cluster.memory: 1MB is less than 16MB"},
}

func TestValidate_ReportsEachError(t *testing.T) {
	for _, f := range append(errs[:len(errs):len(errs)], []struct {
		change func(*Config)
		want   string
	}{
		{func(c *Config) { c.Roles = []string{"all", "crawl"} }, `roles: "all" cannot be combined with other roles`},
		{func(c *Config) { c.Listen = "" }, `listen: "" is not an address; write HOST:PORT, such as 127.0.0.1:8080`},
		{func(c *Config) { c.Listen = ":8080" }, "listen: :8080 is not a loopback address; set a token, or listen on 127.0.0.1"},
		{func(c *Config) { c.Listen = "0.0.0.0:8080" }, "listen: 0.0.0.0:8080 is not a loopback address; set a token, or listen on 127.0.0.1"},
		{func(c *Config) { c.Listen = "[::]:8080" }, "listen: [::]:8080 is not a loopback address; set a token, or listen on 127.0.0.1"},
		{func(c *Config) { c.Listen = "127.0.0.1.example.org:80" }, "listen: 127.0.0.1.example.org:80 is not a loopback address; set a token, or listen on 127.0.0.1"},
		{func(c *Config) { c.Health = "8081" }, `health: "8081" is not an address; write HOST:PORT, such as 127.0.0.1:8081`},
		{func(c *Config) { c.Health = ":8081" }, "health: :8081 is not a loopback address; set a token, or listen on 127.0.0.1"},
		{func(c *Config) { c.Trace.To = "user:s3cret@host:4318" }, `trace.to: "(hidden)@host:4318" is not a URL; write http://HOST:4318`},
		{func(c *Config) { c.Trace.To = "grpc://host:4317" }, `trace.to: "grpc://host:4317" is not a URL; write http://HOST:4318`},
		{func(c *Config) { c.PublicURL = "feeds.example.org" }, `public-url: "feeds.example.org" is not a base URL; write https://HOST`},
		{func(c *Config) { c.PublicURL = "https://host/?a=b" }, `public-url: "https://host/?a=b" is not a base URL; write https://HOST`},
		{func(c *Config) { c.PublicURL = "https://host/?" }, `public-url: "https://host/?" is not a base URL; write https://HOST`},
		{func(c *Config) { c.PublicURL = "https://host/#a" }, `public-url: "https://host/#a" is not a base URL; write https://HOST`},
		{func(c *Config) { c.PublicURL = "https://user:s3cret@host" }, `public-url: "https://(hidden)@host" is not a base URL; write https://HOST`},
		{func(c *Config) { c.PublicURL = "ftp://host" }, `public-url: "ftp://host" is not a base URL; write https://HOST`},
		{func(c *Config) { c.CORS = []string{"*", "example.org"} }, `cors: "example.org" is not an origin; write https://HOST, without a path, or *`},
		{func(c *Config) { c.CORS = []string{"https://example.org/"} }, `cors: "https://example.org/" is not an origin; write https://HOST, without a path, or *`},
		{func(c *Config) { c.CORS = []string{"https://Example.org"} }, `cors: "https://Example.org" is not an origin; write https://HOST, without a path, or *`},
		{func(c *Config) { c.CORS = []string{"null"} }, `cors: "null" is not an origin; write https://HOST, without a path, or *`},
		{func(c *Config) { c.TrustedProxy = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")} }, "trusted-proxy: requires a token: clients behind a proxy are not on this machine; set token"},
		{func(c *Config) { c.Token, c.TrustedProxy = "s", []netip.Prefix{netip.MustParsePrefix("::/0")} }, "trusted-proxy: ::/0 contains every address, so that clients could choose theirs; name the network of the proxy"},
		{func(c *Config) { c.PersonHeader = "Remote-User" }, "person-header: requires trusted-proxy: only a trusted proxy may name the person; set trusted-proxy"},
		{func(c *Config) { c.OIDC.Issuer = "https://id.example.org" }, "oidc.issuer, oidc.client-id: must be set together"},
		{func(c *Config) { c.OIDC.Role = "reader" }, "oidc.client-secret, oidc.role: require oidc.issuer"},
		{func(c *Config) { c.OIDC.Issuer, c.OIDC.ClientID = "http://id.example.org", "feedmesh" }, `oidc.issuer: "http://id.example.org" is not the URL of a provider; write https://HOST, without a query`},
		{func(c *Config) { c.Listen, c.HealthToken = ":8080", "s" }, "listen: :8080 is not a loopback address; set a token, or listen on 127.0.0.1"},
		{func(c *Config) { c.TLS.Cert = "file" }, "tls.cert, tls.key: must be set together"},
		{func(c *Config) { c.TLS.Cert, c.TLS.Key, c.TLS.ACMEHost = "file", "file", "feeds.example.org" }, "tls.acme-host: cannot be combined with tls.cert and tls.key: use either"},
		{func(c *Config) { c.TLS.ACMEHost = "192.0.2.1" }, `tls.acme-host: "192.0.2.1" is not a public host name; write feeds.example.org`},
		{func(c *Config) { c.TLS.ACMEHost, c.TLS.ACMEDirectory = "feeds.example.org", "host" }, `tls.acme-directory: "host" is not a URL; write https://HOST/directory`},
		{func(c *Config) { c.Briefing.URL = "https://models.example/v1" }, "briefing.url, briefing.model: must be set together"},
		{func(c *Config) { c.Briefing.Model = "small" }, "briefing.url, briefing.model: must be set together"},
		{func(c *Config) { c.Briefing.Key = "s3cret" }, "briefing.key: requires briefing.url"},
		{func(c *Config) { c.Briefing.Daily = 0 }, "briefing.daily: 0 is not between 1 and 100000"},
		{func(c *Config) { c.Briefing = Briefing{"https://user:s3cret@models.example/v1", "small", "", 1} }, `briefing.url: "https://(hidden)@models.example/v1" is not a base URL; write https://HOST/v1, without user and query, and the key as briefing.key`},
		{func(c *Config) { c.Briefing = Briefing{"http://models.example/v1", "small", "s3cret", 1} }, "briefing.url: http would send the key to models.example without encryption; write https, or remove briefing.key"},
		{func(c *Config) { c.Mail.Server = "smtp.example.org:587" }, "mail.server, mail.from: must be set together"},
		{func(c *Config) { c.Mail.User, c.Mail.Password = "feeds", "s3cret" }, "mail.user, mail.password: require mail.server"},
		{func(c *Config) { c.Mail.Server, c.Mail.From, c.Mail.User = "a:25", "a@b.org", "feeds" }, "mail.user, mail.password: must be set together"},
		{func(c *Config) { c.Mail.Server, c.Mail.From = "smtp.example.org", "a@b.org" }, `mail.server: "smtp.example.org" is not an address; write HOST:PORT, such as smtp.example.org:587`},
		{func(c *Config) { c.Mail.Server, c.Mail.From = "a:smtp", "a@b.org" }, `mail.server: "a:smtp" is not an address; write HOST:PORT, such as smtp.example.org:587`},
		{func(c *Config) { c.Mail.Server, c.Mail.From = "a:25", "a@b.org, c@d.org" }, `mail.from: "a@b.org, c@d.org" is not one mail address; write feeds@example.org or feedmesh <feeds@example.org>`},
		{func(c *Config) { c.Mail = Mail{"a:25", "feeds", "s3cret", "a@b.org", "none"} }, "mail.tls: none would send the password to a without encryption; write starttls or implicit"},
		{func(c *Config) { c.RequestsPerClient = -1 }, "requests-per-client: -1 is not between 0 and 100000"},
		{func(c *Config) { c.Simulate = -1 }, "simulate: -1 is not between 0 and 62500 feeds"},
		{func(c *Config) { c.Region, c.NATS = "US", []Address{"nats://host"} }, `region: "US" is no name of a region; write at most 32 lower-case letters, digits and hyphens, such as eu-west`},
		{func(c *Config) { c.Region, c.NATS = "us-", []Address{"nats://host"} }, `region: "us-" is no name of a region; write at most 32 lower-case letters, digits and hyphens, such as eu-west`},
		{func(c *Config) { c.Region, c.NATS, c.Roles = "us", []Address{"nats://host"}, []string{"parse"} }, "region: is that of the role crawl, which this agent does not have; remove the setting, or add the role"},
		{func(c *Config) { c.Region = "us" }, "region: requires other agents, which fetch the feeds of no region; set nats or cluster-listen"},
		{func(c *Config) { c.Simulate, c.Roles = 1, []string{"crawl"} }, "simulate: requires a single node; remove the settings roles and nats"},
		{func(c *Config) { c.Simulate, c.NATS = 1, []Address{"nats://host"} }, "simulate: requires a single node; remove the settings roles and nats"},
		{func(c *Config) { c.Trace.Share = 1.5 }, "trace.share: 1.5 is not between 0 and 1"},
		{func(c *Config) { c.Trace.Share = math.NaN() }, "trace.share: NaN is not between 0 and 1"},
		{func(c *Config) { c.NATS = []Address{"http://host"} }, `nats: "http://host" is not a NATS URL; write nats://HOST:4222`},
		{func(c *Config) { c.NATS = []Address{"nats://"} }, `nats: "nats://" is not a NATS URL; write nats://HOST:4222`},
		{func(c *Config) { c.Crawl.Timeout = 0 }, "crawl.timeout: 0s is not positive"},
		{func(c *Config) { c.Crawl.Timeout = time.Hour }, "crawl.timeout: 1h0m0s exceeds the maximum of 5m"},
		{func(c *Config) { c.Crawl.MaxBody = 1 << 30 }, "crawl.max-body: 1GB is not between 64KB and 64MB"},
		{func(c *Config) { c.Crawl.Parallel = 10_001 }, "crawl.parallel: 10001 is not between 1 and 10000"},
	}...) {
		c := Default()
		f.change(&c)
		if err := c.Validate(); err == nil || err.Error() != f.want {
			t.Errorf("got %v, want %s", err, f.want)
		}
	}
}

func TestValidate_ReportsAllErrorsTogether(t *testing.T) {
	c := Default()
	var want []string
	for _, f := range errs {
		f.change(&c)
		want = append(want, f.want)
	}
	if err := c.Validate(); err == nil || err.Error() != strings.Join(want, "\n") {
		t.Errorf("got\n%v\nwant\n%s", err, strings.Join(want, "\n"))
	}
}

func TestValidate_AcceptsValidSettings(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"localhost":        func(c *Config) { c.Listen = "localhost:0" },
		"IPv6 loopback":    func(c *Config) { c.Listen = "[::1]:8080" },
		"with a token":     func(c *Config) { c.Listen, c.Token = ":8080", "s3cret" },
		"no api":           func(c *Config) { c.Roles, c.Listen = []string{"crawl"}, "0.0.0.0:8080" },
		"health":           func(c *Config) { c.Health = "127.0.0.1:8081" },
		"simulated feeds":  func(c *Config) { c.Simulate = 62_500 },
		"health and token": func(c *Config) { c.Health, c.Token = ":8081", "s3cret" },
		"health's token":   func(c *Config) { c.Health, c.HealthToken = ":8081", "s3cret" },
		"a proxy": func(c *Config) {
			c.Token, c.TrustedProxy = "s3cret", []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
		},
		"tracing":       func(c *Config) { c.Trace = Trace{"https://user:s3cret@host:4318", 0.01} },
		"sites":         func(c *Config) { c.CORS = []string{"https://example.org", "http://localhost:3000", "*"} },
		"no limit":      func(c *Config) { c.RequestsPerClient = 0 },
		"hubs":          func(c *Config) { c.PublicURL = "https://host:8443/behind/a/proxy/" },
		"NATS":          func(c *Config) { c.NATS = []Address{"nats://host:4222"} },
		"NATS over TLS": func(c *Config) { c.NATS = []Address{"tls://user:password@host"} },
		"NATS over web": func(c *Config) { c.NATS = []Address{"wss://host/nats"} },
		"mail":          func(c *Config) { c.Mail = Mail{"a:587", "feeds", "s3cret", "feedmesh <a@b.org>", "starttls"} },
		"local mail":    func(c *Config) { c.Mail = Mail{"[::1]:25", "feeds", "s3cret", "a@b.org", "none"} },
		"mail relay":    func(c *Config) { c.Mail.Server, c.Mail.From, c.Mail.TLS = "relay:25", "a@b.org", "none" },
		"least":         func(c *Config) { c.Crawl = Crawl{1, 64 << 10, 1} },
		"most":          func(c *Config) { c.Crawl = Crawl{5 * time.Minute, 64 << 20, 10_000} },
	} {
		c := Default()
		change(&c)
		if err := c.Validate(); err != nil {
			t.Errorf("%s: got %v, want nil", name, err)
		}
	}
}

func TestValidate_ErrorsHidePasswords(t *testing.T) {
	for _, nats := range []string{
		"http://user:s3cret@host", "user:s3cret@host:4222", "s3cret@host", "nats//user:s3cret@host", "http://s3cret@host",
		"nats://user:s3cret@host:port", "nats://user:s3%zzcret@[", "//user:s3cret@host",
	} {
		c := Default()
		c.NATS = []Address{Address(nats)}
		if err := c.Validate(); err == nil || strings.Contains(err.Error(), "s3cret") || strings.Contains(err.Error(), "s3%zz") {
			t.Errorf("%s: got %v, want an error without the password", nats, err)
		}
	}
}

func TestSecret_IsNeverPrinted(t *testing.T) {
	c := Default()
	c.Token = "s3cret"
	for _, format := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "% x", "%d", "%T"} {
		for _, v := range []any{c, &c, c.Token, &c.Token, []Secret{c.Token}, map[string]any{"token": c.Token}} {
			if got := fmt.Sprintf(format, v); leaks(got) {
				t.Errorf("%s of %T prints it: %s", format, v, got)
			}
		}
	}
	if got, err := json.Marshal(c); err != nil || leaks(string(got)) || !strings.Contains(string(got), `"Token":"(hidden)"`) {
		t.Errorf("JSON: got %s, %v; want it hidden", got, err)
	}
	var b bytes.Buffer
	for _, h := range []slog.Handler{slog.NewTextHandler(&b, nil), slog.NewJSONHandler(&b, nil)} {
		slog.New(h).Info("x", "token", c.Token, "config", c)
	}
	if leaks(b.String()) {
		t.Errorf("the log has it: %s", b.String())
	}
	if got := Secret("").String(); got != "" {
		t.Errorf("no secret: got %q, want nothing", got)
	}
}

// leaks reports whether the text contains the secret, plain or in hexadecimal.
func leaks(s string) bool {
	s = strings.ToLower(strings.ReplaceAll(s, " ", ""))
	return strings.Contains(s, "s3cret") || strings.Contains(s, "733363726574")
}

func TestBytes_UnmarshalText(t *testing.T) {
	for text, want := range map[string]Bytes{
		"0": 0, "1": 1, "10B": 10, "10KB": 10 << 10, "10MB": 10 << 20, "2GB": 2 << 30, "10mb": 10 << 20, " 10 MB ": 10 << 20, "10\tkB": 10 << 10,
		"9223372036854775807": math.MaxInt64, "8589934591GB": 8589934591 << 30,
	} {
		var b Bytes
		if err := b.UnmarshalText([]byte(text)); err != nil || b != want {
			t.Errorf("%q: got %d, %v; want %d", text, int64(b), err, int64(want))
		}
	}
	for _, text := range []string{"", "MB", "-1MB", "1.5MB", "1e3", "10 M", "10TB", "ten", "10MB!", "10MB10", "1 0", "0x10", "8589934592GB", "9223372036854775808", "99999999999999999999GB"} {
		b := Bytes(7)
		if err := b.UnmarshalText([]byte(text)); err == nil || b != 7 || !strings.Contains(err.Error(), "is not a size; write it as 10MB") {
			t.Errorf("%q: got %d, %v; want an error in words", text, int64(b), err)
		}
	}
}

func TestBytes_String(t *testing.T) {
	for b, want := range map[Bytes]string{0: "0B", 1: "1B", 1023: "1023B", 1 << 10: "1KB", 1<<10 + 1: "1025B", 10 << 20: "10MB", 3 << 29: "1536MB", 2 << 30: "2GB"} {
		if got := b.String(); got != want {
			t.Errorf("%d: got %s, want %s", int64(b), got, want)
		}
		var back Bytes
		if err := back.UnmarshalText([]byte(want)); err != nil || back != b {
			t.Errorf("%s: got %d, %v; want %d back", want, int64(back), err, int64(b))
		}
	}
}

func TestNetwork_Text(t *testing.T) {
	for text, want := range map[string]Network{
		"192.168.1.0/24": {Prefix: netip.MustParsePrefix("192.168.1.0/24")}, "fd00::/8": {Prefix: netip.MustParsePrefix("fd00::/8")},
		"192.168.1.5:5432": {netip.MustParsePrefix("192.168.1.5/32"), 5432}, "[fd00::1]:22": {netip.MustParsePrefix("fd00::1/128"), 22},
	} {
		var n Network
		if err := n.UnmarshalText([]byte(text)); err != nil || n != want || n.String() != text {
			t.Errorf("%s: got %v, %v; want %v", text, n, err, want)
		}
	}
	for _, text := range []string{"", "192.168.1.5", "host:22", "192.168.1.5:0", "192.168.1.0/24:22", "192.168.1.5:70000"} {
		if err := new(Network).UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}

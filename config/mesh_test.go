package config

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestValidate_MeshErrors(t *testing.T) {
	t.Parallel()
	for _, f := range []struct {
		change func(*Config)
		want   string
	}{
		{func(c *Config) { c.NATS = []Address{"nats://a", "b"} }, `nats: "b" is not a NATS URL; write nats://HOST:4222`},
		{func(c *Config) { c.NATSLogin.NATSCreds = "file" }, "nats: is not set, but nats- settings are; set it, or remove them"},
		{func(c *Config) {
			c.NATS, c.NATSLogin = []Address{"nats://a"}, NATSLogin{NATSCreds: "file", NATSNKey: "file"}
		}, "nats-user, nats-creds, nats-nkey: set only one of them"},
		{func(c *Config) { c.NATS, c.NATSLogin.NATSUser = []Address{"nats://a"}, "u" }, "nats-user, nats-password: must be set together"},
		{func(c *Config) { c.NATS, c.NATSLogin.NATSKey = []Address{"nats://a"}, "file" }, "nats-cert, nats-key: must be set together"},

		{func(c *Config) { c.Servers.Peers = []string{"b:6222"} }, "cluster.listen: is not set; set the cluster address of this agent's NATS server, such as 10.0.0.1:6222"},
		{func(c *Config) { c.Servers = Servers{Listen: "a", Peers: []string{"b:1"}, Secret: "s"} }, `cluster.listen: "a" is not an address; write HOST:PORT, such as 10.0.0.1:6222`},
		{func(c *Config) { c.Servers = Servers{Listen: "0.0.0.0:6222", Peers: []string{"b:1"}} }, "cluster.secret: is not set; set it, the same for all agents"},
		{func(c *Config) { c.Servers = Servers{Listen: "127.0.0.1:6222", Peers: []string{"b:1"}} }, "cluster.secret: is not set; set it, the same for all agents"},
		{func(c *Config) {
			c.Servers = Servers{Listen: "a:1", Peers: []string{"b:1"}, Secret: "s", TLSCert: "c", TLSKey: "k"}
		}, "cluster.tls-cert, cluster.tls-key, cluster.tls-ca: must be set together"},
		{func(c *Config) { c.Servers.TLSCA = "ca" }, "cluster.listen: is not set; set the cluster address of this agent's NATS server, such as 10.0.0.1:6222"},
		{func(c *Config) { c.Servers = Servers{Listen: "127.0.0.1:6222", Secret: "s"} }, "cluster.peers: is not set; set the cluster addresses of the other agents, such as 10.0.0.2:6222,10.0.0.3:6222"},
		{func(c *Config) { c.Servers = Servers{Listen: "127.0.0.1:1", Peers: []string{"b"}, Secret: "s"} }, `cluster.peers: "b" is not an address; write HOST:PORT, such as 10.0.0.2:6222`},
		{func(c *Config) {
			c.NATS, c.Servers = []Address{"nats://a"}, Servers{Listen: "127.0.0.1:1", Peers: []string{"b:1"}, Secret: "s"}
		}, "cluster.listen: cannot be combined with nats: use either embedded or external NATS servers"},

		{func(c *Config) { c.Store = "mysql://h/d" }, `store: "mysql://h/d" is not a PostgreSQL URL; write postgres://USER:PASSWORD@HOST/DATABASE`},
		{func(c *Config) { c.Search = "http://h:7700" }, `search: "http://h:7700" is not a Meilisearch URL; write meilisearch://HOST:7700, or meilisearch: for a server that the agent starts`},
		{func(c *Config) { c.SearchKey = "k" }, "search-key: requires search; set the Meilisearch URL"},
		{func(c *Config) { c.Search = "meilisearch:7700" }, `search: "meilisearch:7700" is not a Meilisearch URL; write meilisearch://HOST:7700, or meilisearch: for a server that the agent starts`},
		{func(c *Config) { c.Search, c.SearchKey = "meilisearch:", "k" }, "search-key: cannot be combined with search meilisearch: the agent makes its own key; remove search-key"},

		{func(c *Config) { c.Schedule.Interval = time.Millisecond }, "schedule.interval: 1ms is less than 1s"},
		{func(c *Config) { c.Trace.To = "host:4318" }, `trace.to: "host:4318" is not a URL; write http://HOST:4318`},
		{func(c *Config) { c.Trace.Share = 1.5 }, "trace.share: 1.5 is not between 0 and 1"},
	} {
		c := Default()
		f.change(&c)
		if err := c.Validate(); err == nil || err.Error() != f.want {
			t.Errorf("got %v, want %s", err, f.want)
		}
	}
}

func TestValidate_AcceptsMeshSettings(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Config){
		"three servers": func(c *Config) { c.NATS = []Address{"nats://a:4222", "nats://b:4222", "tls://c"} },
		"a user": func(c *Config) {
			c.NATS, c.NATSLogin = []Address{"nats://a"}, NATSLogin{NATSUser: "u", NATSPassword: "p", NATSCA: "ca", NATSDomain: "hub"}
		},
		"a cluster of our own": func(c *Config) {
			c.Servers = Servers{Listen: ":6222", Peers: []string{"10.0.0.2:6222", "[::1]:6222"}, Secret: "s", TLSCert: "c", TLSKey: "k", TLSCA: "ca"}
		},
		"engines": func(c *Config) {
			c.Store, c.Search, c.SearchKey = "postgres://u:p@a:1,b:2/d?target_session_attrs=read-write", "meilisearchs://h", "k"
		},
		"an own Meilisearch": func(c *Config) { c.Search = "meilisearch:" },
		"a trace":            func(c *Config) { c.Trace = Trace{To: "https://collector:4318", Share: 0.1} },
	} {
		c := Default()
		change(&c)
		if err := c.Validate(); err != nil {
			t.Errorf("%s: got %v, want nil", name, err)
		}
	}
}

func TestAddress_HidesPassword(t *testing.T) {
	t.Parallel()
	for _, address := range []Address{"nats://u:s3cret@h", "postgres://u:s3cret@h/d", "s3cret@h"} {
		for _, verb := range []string{"%s", "%v", "%+v", "%q", "%#v", "%x"} {
			if got := fmt.Sprintf(verb, address); strings.Contains(got, "s3cret") || strings.Contains(got, "733363726574") {
				t.Errorf("%s prints %s", verb, got)
			}
		}
	}
	if got := fmt.Sprint(Address("nats://h:4222")); got != "nats://h:4222" {
		t.Errorf("got %s for an address without a user, want it whole", got)
	}
}

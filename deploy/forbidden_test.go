package deploy_test

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"feedmesh/subjects"
)

// forbidden lists the subjects that a user must not publish to, by user.
var forbidden = map[string][]string{
	"crawl": append(inBothNames(
		"STREAM.CREATE.mine", "STREAM.UPDATE.crawl", "STREAM.DELETE.store", "STREAM.PURGE.crawl",
		"STREAM.NAMES", "STREAM.LIST", "STREAM.MSG.GET.crawl", "STREAM.MSG.GET.store", "STREAM.MSG.DELETE.crawl",
		"STREAM.SNAPSHOT.KV_schedule", "STREAM.RESTORE.mine", "STREAM.LEADER.STEPDOWN.crawl", "META.LEADER.STEPDOWN",
		"DIRECT.GET.KV_schedule.$KV.schedule.feed", "DIRECT.GET.KV_leases.$KV.leases.schedule", "DIRECT.GET.KV_agents.$KV.agents.a",
		"CONSUMER.CREATE.parse.parse.parse", "CONSUMER.CREATE.crawl", "CONSUMER.CREATE.crawl.mine.crawl.hot", "CONSUMER.CREATE.KV_agents.mine.$KV.agents.>",
		"CONSUMER.DURABLE.CREATE.crawl.mine", "CONSUMER.DELETE.crawl.crawl-hot", "CONSUMER.LIST.crawl", "CONSUMER.INFO.store.store",
		"CONSUMER.MSG.NEXT.parse.parse", "CONSUMER.MSG.NEXT.store.store", "CONSUMER.MSG.NEXT.observe.observe",
		"CONSUMER.CREATE.pages.mine.pages", "CONSUMER.DELETE.pages.pages", "DIRECT.GET.KV_leases.$KV.leases.index", "$KV.leases.cluster-en",
		"$KV.leases.schedule", "$KV.schedule.feed", "$KV.hosts.host", "$KV.polls.feed", "$KV.proxies.eu", "DIRECT.GET.KV_proxies.$KV.proxies.eu", "$KV.subscriptions.TOKEN", "$KV.answers.KEY", "STREAM.MSG.GET.KV_answers", "$KV.rules.prepare",
		"DIRECT.GET.KV_rules.$KV.rules.prepare", "CONSUMER.CREATE.KV_rules.mine.$KV.rules.prepare",
	),
		"crawl.hot", "pages", "classify", "cluster.en", "store", "index", "quarantine.store", "states",
		"$KV.leases.schedule", "$KV.schedule.feed", "$JS.ACK.store.store.1.1.1.1.0", "$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES.store.store",
	),
	"parse": {"$JS.API.STREAM.DELETE.parse", "$JS.API.STREAM.MSG.GET.store", "$JS.API.CONSUMER.MSG.NEXT.store.store", "$JS.API.CONSUMER.CREATE.crawl.crawl-hot.crawl.hot",
		"store", "index", "states", "$KV.leases.schedule", "$KV.schedule.feed", "$JS.API.DIRECT.GET.KV_schedule.$KV.schedule.feed",
		"$KV.subscriptions.TOKEN", "$JS.API.STREAM.MSG.GET.KV_subscriptions", "$KV.rules.prepare"},
	"prepare":  {"$JS.API.STREAM.PURGE.parse", "$JS.API.CONSUMER.MSG.NEXT.parse.parse", "store", "observe", "$KV.leases.schedule", "$KV.rules.prepare"},
	"classify": {"$JS.API.STREAM.PURGE.parse", "$JS.API.CONSUMER.MSG.NEXT.prepare.prepare", "store", "observe", "$KV.leases.cluster-en", "$KV.rules.classify", "events.story.new"},
	"cluster":  {"$JS.API.STREAM.PURGE.cluster", "$JS.API.CONSUMER.MSG.NEXT.store.store", "prepare", "observe", "$KV.leases.schedule", "events.item.notify"},
	"store":    {"$JS.API.STREAM.PURGE.store", "$JS.API.CONSUMER.MSG.NEXT.index.index", "prepare", "$KV.leases.cluster-en", "$KV.schedule.feed"},
	"index":    {"$JS.API.STREAM.PURGE.index", "$JS.API.CONSUMER.MSG.NEXT.store.store", "store", "observe", "$KV.leases.schedule"},
	"deliver":  {"$JS.API.STREAM.PURGE.store", "$JS.API.CONSUMER.MSG.NEXT.store.store", "store", "views", "$KV.schedule.feed", "$KV.leases.schedule", "events.item.notify"},
	"api":      {"$JS.API.STREAM.DELETE.store", "$JS.API.STREAM.MSG.DELETE.store", "$JS.API.CONSUMER.MSG.NEXT.store.store", "$KV.leases.schedule", "$KV.schedule.feed", "$KV.proxies.eu"},
	"schedule": {"$JS.API.STREAM.DELETE.store", "$JS.API.CONSUMER.MSG.NEXT.store.store", "store", "parse", "$KV.leases.cluster-en", "$KV.rules.prepare"},
	"all":      {"$JS.API.STREAM.DELETE.store", "$JS.API.STREAM.SNAPSHOT.store", "$SYS.REQ.SERVER.PING"},
}

// inBothNames returns JetStream API subjects with the default prefix and with the prefix of the crawlers'
// account.
func inBothNames(calls ...string) []string {
	var all []string
	for _, call := range calls {
		all = append(all, "$JS.API."+call, "$JS.feedmesh.API."+call)
	}
	return all
}

// allowed lists requests that are too rare for a short test to observe.
var allowed = map[string][]string{
	"schedule": {"$KV.leases.schedule.1", "$JS.API.STREAM.PURGE.parse", "$JS.API.STREAM.MSG.GET.parse", "$JS.API.STREAM.MSG.DELETE.parse", "$JS.API.CONSUMER.LIST.parse", "$JS.API.STREAM.UPDATE.parse", "$KV.proxies.eu"},
	"api":      {"$JS.API.INFO", "$JS.API.STREAM.MSG.GET.quarantine", "$JS.API.STREAM.MSG.DELETE.quarantine", "$JS.API.DIRECT.GET.KV_proxies.$KV.proxies.eu"},
	"all":      {"$JS.API.INFO", "$JS.API.STREAM.PURGE.parse", "$JS.API.CONSUMER.LIST.parse", "$JS.API.STREAM.MSG.GET.parse"},
}

func TestPermissions_UserIsLimitedToItsRole(t *testing.T) {
	c := startCluster(t)
	c.join(t, "schedule") // declares the streams
	all := c.connect(t, "all", func(error) {})
	fill(t, all)
	before := sequences(t, all)
	for user, ops := range forbidden {
		conn := c.connect(t, user, func(error) {})
		for _, subject := range ops {
			if why := ask(conn, subject); !refused(why) {
				t.Errorf("user %s: got %[3]v for %[2]s, want a permission error", user, subject, why)
			}
		}
	}
	if after := sequences(t, all); !maps.Equal(before, after) {
		t.Errorf("got sequence numbers %v, want %v unchanged", after, before)
	}
	for user, ops := range allowed {
		conn := c.connect(t, user, func(err error) { t.Errorf("user %s: %v", user, err) })
		for _, subject := range ops {
			if why := ask(conn, subject); refused(why) || errors.Is(why, nats.ErrTimeout) {
				t.Errorf("user %s: publish to %s: %v", user, subject, why)
			}
		}
	}
}

// The API publishes quarantined tasks to their queues again.
func TestPermissions_EveryQueueCanBeReplayed(t *testing.T) {
	c := startCluster(t)
	c.join(t, "schedule") // declares the streams
	fill(t, c.connect(t, "all", func(error) {}))
	for _, user := range []string{"all", "api"} {
		conn := c.connect(t, user, func(error) {})
		for _, queue := range subjects.QueueNames {
			if why := ask(conn, subjectOf(queue)); why != nil {
				t.Errorf("user %s: publish to %s: %v", user, queue, why)
			}
		}
	}
}

// subjectOf returns a subject of a queue.
func subjectOf(queue string) string {
	switch queue {
	case subjects.CrawlQueue.Name:
		return queue + "." + subjects.Hot
	case subjects.ClusterQueue.Name:
		return queue + ".en"
	}
	return queue
}

// fill puts a task on each queue, and creates the consumers.
func fill(t *testing.T, conn *nats.Conn) {
	t.Helper()
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	for _, queue := range subjects.QueueNames {
		subject := subjectOf(queue)
		name := strings.ReplaceAll(subject, ".", "-")
		_, err := js.CreateConsumer(t.Context(), queue, jetstream.ConsumerConfig{Durable: name, FilterSubject: subject, AckPolicy: jetstream.AckExplicitPolicy})
		if err == nil {
			_, err = js.Publish(t.Context(), subject, []byte("{}"))
		}
		if err != nil {
			t.Fatalf("fill queue %s: %v", queue, err)
		}
	}
}

// ask sends a request and returns the reason of its rejection, or nil.
func ask(conn *nats.Conn, subject string) error {
	reply, err := conn.Request(subject, []byte("{}"), 200*time.Millisecond)
	if err != nil {
		if last := conn.LastError(); errors.Is(last, nats.ErrPermissionViolation) && strings.Contains(last.Error(), strconv.Quote(subject)) {
			return last
		}
		return err
	}
	var answer struct{ Error *jetstream.APIError }
	if err := json.Unmarshal(reply.Data, &answer); err == nil && answer.Error != nil {
		return answer.Error
	}
	return nil
}

// refused reports whether a request failed because of a permission, or because its subject does not exist in
// the account.
func refused(why error) bool {
	var api *jetstream.APIError
	return errors.Is(why, nats.ErrPermissionViolation) || errors.Is(why, nats.ErrNoResponders) ||
		errors.As(why, &api) && api.ErrorCode == jetstream.JSErrCodeJetStreamNotEnabledForAccount
}

// sequences returns the last sequence number of each stream.
func sequences(t *testing.T, conn *nats.Conn) map[string]uint64 {
	t.Helper()
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]uint64{}
	for _, name := range append(subjects.QueueNames, subjects.QuarantineStream, "giveups", "KV_schedule", "KV_hosts", "KV_polls", "KV_proxies", "KV_subscriptions", "KV_rules", "KV_leases") {
		stream, err := js.Stream(t.Context(), name)
		if err != nil {
			t.Fatal(name, err)
		}
		all[name] = stream.CachedInfo().State.LastSeq
	}
	return all
}

// A server sends its response to the reply subject of the request. If that were a lease's key, the request
// would overwrite the lease.
func TestPermissions_CrawlerCannotRedirectResponses(t *testing.T) {
	c := startCluster(t)
	c.join(t, "schedule")
	all := c.connect(t, "all", func(error) {})
	fill(t, all)
	before := sequences(t, all)
	conn := c.connect(t, "crawl", func(error) {})
	for _, to := range []string{"$KV.leases.schedule", "$KV.schedule.feed", "store", "crawl.hot"} {
		for _, question := range []string{"parse", "$JS.feedmesh.API.STREAM.INFO.crawl", "$JS.feedmesh.API.CONSUMER.MSG.NEXT.crawl.crawl-hot"} {
			if err := conn.PublishRequest(question, to, nil); err != nil {
				t.Fatal(err)
			}
			if question == "parse" {
				before["parse"]++
			}
		}
	}
	wait(t, "its questions are answered", func() bool { return sequences(t, all)["parse"] == before["parse"] })
	time.Sleep(200 * time.Millisecond)
	if after := sequences(t, all); !maps.Equal(before, after) {
		t.Errorf("got sequence numbers %v, want %v unchanged", after, before)
	}
}

func TestPermissions_ResponsesAreNotVisibleToOtherUsers(t *testing.T) {
	c := startCluster(t)
	m := c.join(t, "schedule")
	var heard atomic.Int64
	for user := range forbidden {
		var refused atomic.Int64
		conn := c.connect(t, user, func(err error) {
			if errors.Is(err, nats.ErrPermissionViolation) {
				refused.Add(1)
			}
		})
		for _, subject := range []string{">", "_INBOX.>", "_INBOX.*.*.*", "_INBOX.schedule.>", "crawl.*", "store", "$KV.>", "$JS.>"} {
			if user == "schedule" && strings.HasPrefix(subject, "_INBOX.schedule") {
				continue // its own
			}
			if _, err := conn.Subscribe(subject, func(*nats.Msg) { heard.Add(1) }); err != nil {
				t.Fatal(err)
			}
		}
		if err := conn.Flush(); err != nil {
			t.Fatal(err)
		}
		if user != "crawl" { // alone in its account, so it receives only its own messages
			wait(t, user+" is refused to listen", func() bool { return refused.Load() >= 7 })
		}
	}
	for range 10 {
		if err := subjects.Publish(t.Context(), m, subjects.CrawlQueue, subjects.Crawl{Tier: subjects.Hot, Feeds: []subjects.Target{{FeedID: "feed"}}}); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(200 * time.Millisecond)
	if n := heard.Load(); n > 0 {
		t.Errorf("%d messages of other users received, want none", n)
	}
}

func TestReload_RevokesOldPassword(t *testing.T) {
	c := startCluster(t)
	var refused atomic.Bool
	conn := c.connect(t, "crawl", func(error) {})
	other := c.connect(t, "parse", func(error) {})
	conn.SetDisconnectErrHandler(func(*nats.Conn, error) { refused.Store(true) })
	old := c.password("crawl")
	if err := os.Remove(filepath.Join(c.dir, "secrets", "nats-crawl")); err != nil {
		t.Fatal(err)
	}
	c.makeSecrets(hostPort(c.options[0].Cluster.Port), hostPort(c.options[1].Cluster.Port), hostPort(c.options[2].Cluster.Port))
	for i, s := range c.servers {
		was := c.options[i]
		t.Setenv("NATS_NAME", was.ServerName)
		o := c.load("feedmesh.conf")
		place(o, was.StoreDir, was.Port, was.Cluster.Port, was.LeafNode.Port)
		if err := s.ReloadOptions(o); err != nil {
			t.Fatal(err)
		}
	}
	wait(t, "the user is cut off", refused.Load)
	if _, err := nats.Connect(c.urls(), nats.UserInfo("crawl", old)); !errors.Is(err, nats.ErrAuthorization) {
		t.Errorf("got %v for the old password, want an authorization error", err)
	}
	c.connect(t, "crawl", func(error) {})
	wait(t, "the other user is there", other.IsConnected) // all hashes are new, so it had to reconnect
}

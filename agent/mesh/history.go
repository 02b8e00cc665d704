package mesh

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"feedmesh/subjects"
)

// history contains the records of past requests: hosts, polls of feeds, and proxies.
type history struct{ *client }

// LoadHosts calls each for every host of a partition of the schedule, one of so many, and moves unreadable records to the
// quarantine.
func (h history) LoadHosts(ctx context.Context, partition, partitions int, each func(subjects.Host)) error {
	hosts := h.hosts(partitions)
	if partitions > 1 {
		hosts.keys = fmt.Sprintf("%d.>", partition)
	}
	err := hosts.load(ctx, func(_ jetstream.KeyValueEntry, host *subjects.Host) { each(*host) })
	if err == nil && partition == 0 && partitions > 1 { // unreadable values beside the partitions, which no other reads
		hosts.keys = "*"
		err = hosts.load(ctx, func(jetstream.KeyValueEntry, *subjects.Host) {})
	}
	return err
}

// hosts are the records of the hosts of a schedule with so many partitions.
func (h history) hosts(partitions int) values[subjects.Host] {
	return values[subjects.Host]{client: h.client, bucket: subjects.HostBucket, check: func(key string, host *subjects.Host) error {
		if subjects.HostKey(host.Name, partitions) != key {
			return fmt.Errorf("record of another host, %q", host.Name)
		}
		return nil
	}}
}

// Host returns the record of a host, or nil if none exists.
func (h history) Host(ctx context.Context, name string) (*subjects.Host, error) {
	partitions, err := h.Partitions(ctx)
	if err != nil {
		return nil, err
	}
	return h.hosts(partitions).get(ctx, subjects.HostKey(name, partitions))
}

// PutHosts overwrites the records of hosts of a schedule with so many partitions, in batches. It is not fenced: the next poll of a
// host corrects the last write of a deposed schedule.
func (h history) PutHosts(ctx context.Context, partitions int, hosts []subjects.Host) error {
	return putAll(ctx, h.client, hosts, func(host subjects.Host) (*nats.Msg, error) {
		return valueMessage(subjects.ValueKey(subjects.HostBucket, subjects.HostKey(host.Name, partitions)), host)
	})
}

// FeedPoll is a poll with the ID of its feed.
type FeedPoll struct {
	FeedID string
	subjects.Poll
}

// PutPolls adds polls to the histories of their feeds, in batches.
func (h history) PutPolls(ctx context.Context, polls []FeedPoll) error {
	return putAll(ctx, h.client, polls, func(p FeedPoll) (*nats.Msg, error) { return valueMessage(subjects.PollKey(p.FeedID), p.Poll) })
}

// Polls returns the last polls of a feed, newest first, at most [subjects.MaxPolls].
func (h history) Polls(ctx context.Context, feedID string) ([]subjects.Poll, error) {
	kv, err := h.bucket(ctx, subjects.PollBucket)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	entries, err := kv.History(ctx, feedID)
	if errors.Is(err, jetstream.ErrKeyNotFound) || errors.Is(err, jetstream.ErrInvalidKey) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the polls of feed %s: %w", feedID, err)
	}
	polls := make([]subjects.Poll, 0, len(entries))
	for _, entry := range entries {
		var p subjects.Poll
		if err := json.Unmarshal(entry.Value(), &p); err != nil {
			// Newer polls replace it. A single value can't be removed.
			h.log.Warn("unreadable poll skipped", "feed_id", feedID, "err", err)
			continue
		}
		polls = append(polls, p)
	}
	slices.SortFunc(polls, func(a, b subjects.Poll) int { return b.At.Compare(a.At) })
	return polls, nil
}

// LoadProxies calls each for every proxy in the bucket, and moves unreadable records to the quarantine.
func (h history) LoadProxies(ctx context.Context, each func(subjects.Proxy)) error {
	return h.proxies().load(ctx, func(_ jetstream.KeyValueEntry, p *subjects.Proxy) { each(*p) })
}

func (h history) proxies() values[subjects.Proxy] {
	return values[subjects.Proxy]{client: h.client, bucket: subjects.ProxyBucket, check: checkProxy}
}

func checkProxy(key string, p *subjects.Proxy) error {
	if p.ID != key {
		return fmt.Errorf("record of another proxy, %q", p.ID)
	}
	return nil
}

// Proxy returns the record of a proxy, or nil if none exists.
func (h history) Proxy(ctx context.Context, id string) (*subjects.Proxy, error) {
	return h.proxies().get(ctx, id)
}

// PutProxies overwrites the records of proxies, in batches. It is not fenced: the next use or probe of a proxy
// corrects the last write of a deposed schedule.
func (h history) PutProxies(ctx context.Context, proxies []subjects.Proxy) error {
	return putAll(ctx, h.client, proxies, func(p subjects.Proxy) (*nats.Msg, error) { return valueMessage(subjects.ProxyKey(p.ID), p) })
}

package subjects

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go/jetstream"

	"feedmesh/storage"
)

// The schedule has partitions, each with the feeds of some hosts, so that one process decides about all requests to a host.
// Their number is a property of the schedule bucket since its creation. Partition 0 exists always; it is the whole schedule of
// a process alone and of meshes that are older than partitions.

// partitionsKey is the key of their number in the metadata of the bucket's stream.
const partitionsKey = "feedmesh.partitions"

// Partitions returns the number of partitions of the schedule.
func Partitions(ctx context.Context, js jetstream.JetStream) (int, error) {
	stream, err := js.Stream(ctx, "KV_"+ScheduleBucket)
	if err != nil {
		return 0, fmt.Errorf("read the number of partitions of the schedule: %w", err)
	}
	text := stream.CachedInfo().Config.Metadata[partitionsKey]
	if text == "" {
		return 1, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("the schedule has %q partitions, want a number from 1 on: correct %s in the metadata of the stream KV_%s", text, partitionsKey, ScheduleBucket)
	}
	return n, nil
}

// PartitionOf returns the partition, of n, that has the feed with a canonical URL.
func PartitionOf(url string, n int) int {
	if n < 2 {
		return 0
	}
	return storage.HostSlot(url) % n
}

// SlotsOf yields the slots of hosts, see [storage.HostSlot], of which a partition, of n, has the feeds.
func SlotsOf(partition, n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for slot := partition; slot < storage.HostSlots && yield(slot); slot += n {
		}
	}
}

// PartitionName returns the name of a partition on [ObserveQueue]: empty for 0.
func PartitionName(partition int) string {
	if partition == 0 {
		return ""
	}
	return strconv.Itoa(partition)
}

// scheduleLease is the name of the lease of partition 0. The names of the others begin with it.
const scheduleLease = "schedule"

// ScheduleLease returns the name of the lease of a partition of the schedule.
func ScheduleLease(partition int) string {
	if partition == 0 {
		return scheduleLease
	}
	return scheduleLease + "." + strconv.Itoa(partition)
}

// IsScheduleLease reports whether a lease is that of a partition of the schedule.
func IsScheduleLease(name string) bool {
	return name == scheduleLease || strings.HasPrefix(name, scheduleLease+".")
}

// ClusterLease returns the name of the lease of a partition of [ClusterQueue].
func ClusterLease(partition string) string { return "cluster-" + partition }

// LeaseKind returns the kind of a lease. The leases of a kind are spread evenly over the agents, because their holders have about
// as much work: partitions of the schedule, the two languages of most items, the other languages, and the rest.
func LeaseKind(name string) string {
	language := slices.IndexFunc(Languages, func(l string) bool { return name == ClusterLease(l) })
	switch {
	case IsScheduleLease(name):
		return scheduleLease
	case language >= 2:
		return "language"
	case language >= 0:
		return "large language"
	}
	return ""
}

// ScheduleLeases yields the leases of the partitions of the schedule, in the order of their names.
func ScheduleLeases(all map[string]Lease) iter.Seq2[string, Lease] {
	return func(yield func(string, Lease) bool) {
		for _, name := range slices.Sorted(maps.Keys(all)) {
			if IsScheduleLease(name) && !yield(name, all[name]) {
				return
			}
		}
	}
}

// SumCounts returns the numbers of feeds that the partitions of the schedule publish in their leases, nil if one does not.
func SumCounts(leases map[string]Lease) *ScheduleCounts {
	var sum *ScheduleCounts
	for _, l := range ScheduleLeases(leases) {
		if l.Feeds == nil {
			return nil
		}
		if sum == nil {
			sum = new(ScheduleCounts)
		}
		sum.Polled += l.Feeds.Polled
		sum.Failing += l.Feeds.Failing
		sum.Gone += l.Feeds.Gone
		sum.InFlight += l.Feeds.InFlight
	}
	return sum
}

// AllNotices returns the notices that the partitions of the schedule publish in their leases, each text once, newest first.
func AllNotices(leases map[string]Lease) (all []Notice) {
	for _, l := range ScheduleLeases(leases) {
		if l.Schedule != nil {
			all = append(all, l.Schedule.Notices...)
		}
	}
	slices.SortStableFunc(all, func(a, b Notice) int { return b.At.Compare(a.At) })
	texts := map[string]bool{}
	return slices.DeleteFunc(all, func(n Notice) bool {
		repeated := texts[n.Text]
		texts[n.Text] = true
		return repeated
	})
}

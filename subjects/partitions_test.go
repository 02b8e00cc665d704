package subjects

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// Feeds of a host are in one partition, and hosts are spread evenly.
func TestPartitionOf_SpreadsHosts(t *testing.T) {
	const hosts, partitions = 10_000, 16
	feeds := make([]int, partitions)
	for i := range hosts {
		host := fmt.Sprintf("https://www.host%d.example", i)
		p := PartitionOf(host+"/feed.xml", partitions)
		feeds[p]++
		if other := PartitionOf("http://www.host"+fmt.Sprint(i)+".example:8080/other?x=1", partitions); other != p {
			t.Fatalf("%s is in partitions %d and %d", host, p, other)
		}
	}
	for p, n := range feeds {
		if n < hosts/partitions*8/10 || n > hosts/partitions*12/10 {
			t.Errorf("partition %d has %d hosts, want about %d", p, n, hosts/partitions)
		}
	}
	if p := PartitionOf("not a URL", 1); p != 0 {
		t.Errorf("got partition %d of one", p)
	}
}

// Numbers of feeds are known if all partitions publish them; notices are those of all, each text once.
func TestScheduleLeases_Sums(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	notice := func(minute int, text string) Notice {
		return Notice{At: at.Add(time.Duration(minute) * time.Minute), Text: text}
	}
	leases := map[string]Lease{
		"schedule":   {Feeds: &ScheduleCounts{Polled: 5, InFlight: 1}, Schedule: &ScheduleProgress{Notices: []Notice{notice(3, "clock"), notice(1, "store")}}},
		"schedule.1": {Feeds: &ScheduleCounts{Polled: 2, Failing: 1}, Schedule: &ScheduleProgress{Notices: []Notice{notice(4, "clock"), notice(2, "due times")}}},
		"scheduled":  {Feeds: &ScheduleCounts{Polled: 100}},
	}
	if got := SumCounts(leases); got == nil || *got != (ScheduleCounts{Polled: 7, Failing: 1, InFlight: 1}) {
		t.Errorf("got %+v", got)
	}
	if got := fmt.Sprint(AllNotices(leases)); got != fmt.Sprint([]Notice{notice(4, "clock"), notice(2, "due times"), notice(1, "store")}) {
		t.Errorf("got %s", got)
	}
	leases["schedule.2"] = Lease{}
	if got := SumCounts(leases); got != nil {
		t.Errorf("got %+v without the numbers of a partition, want none", got)
	}
}

func TestAgent_RoleNamesHaveTheRegion(t *testing.T) {
	a := Agent{Roles: []string{"parse", "crawl"}, Region: "us"}
	if got := a.RoleNames(); !slices.Equal(got, []string{"parse", "crawl in us"}) || a.Roles[1] != "crawl" {
		t.Errorf("got %v of %v, want the region beside its role", got, a.Roles)
	}
	a.Region = ""
	if got := a.RoleNames(); !slices.Equal(got, a.Roles) {
		t.Errorf("got %v without a region, want %v", got, a.Roles)
	}
}

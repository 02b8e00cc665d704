package capacity

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"feedmesh/config"
	"feedmesh/storage"
	"feedmesh/subjects"
)

func plan(t *testing.T, feeds int64, polls, items float64, days int) *Plan {
	t.Helper()
	p, err := New(Load{feeds, polls, items, storage.Keep{Age: time.Duration(days) * 24 * time.Hour}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPlan_EqualsArithmeticByHand(t *testing.T) {
	p := plan(t, 86_400, 10, 1, 10) // 10 polls and one item a second
	for name, want := range map[string]float64{
		"load: polls":                                   10,
		"load: new items":                               1,
		"load: items kept":                              864_000,
		"load: items in the window":                     3 * 86_400,
		"agents: CPU of items":                          0.00245 * 3.15,
		"agents: role crawl":                            (0.00464 + 0.0077175*0.719/3.743) / 0.6,
		"agents: role schedule":                         0.00067 / 0.6,
		"agents: agents":                                2,
		"agents: --crawl-parallel":                      64,
		"agents: memory of a partition of the schedule": 140e6 + 86_400*1830,
		"agents: --cluster-memory":                      (3*86_400*170 + 1.5*86_400*3000) / 2,
		"each of 3 NATS servers: memory of buckets":     60_480_000,
		"each of 3 NATS servers: messages":              28,
		"PostgreSQL: disk by day":                       190_080_000,
		"PostgreSQL: disk with --keep":                  1_900_800_000,
		"Meilisearch: cores":                            0.0163275,
		"Meilisearch: disk with --keep":                 33_696_000_000,
		"traffic: from feeds, at least":                 240_000,
		"traffic: written a day":                        86_400 * (3430 + 53_760),
	} {
		i := slices.IndexFunc(p.Figures, func(f Figure) bool { return f.Part+": "+f.Name == name })
		if i < 0 {
			t.Errorf("there is no figure %s", name)
		} else if got := p.Figures[i].Value; math.Abs(got-want) > 1e-9*want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
}

func TestPlan_GrowsWithFeeds(t *testing.T) {
	before := plan(t, 1, 69, 3, 90)
	for feeds := int64(10); feeds <= maxFeeds; feeds *= 10 {
		p := plan(t, feeds, 69, 3, 90)
		for i, f := range p.Figures {
			least := before.Figures[i]
			if f.Name == "memory of a partition of the schedule" { // their number is rounded up to a power of two
				least.Value /= 2
			}
			if f.Value < least.Value || f.Name != least.Name || f.Formula != least.Formula {
				t.Errorf("%d feeds: got %+v after %+v", feeds, f, least)
			}
		}
		if len(p.Warnings) < len(before.Warnings) {
			t.Errorf("%d feeds: got the warnings %q after %q", feeds, p.Warnings, before.Warnings)
		}
		before = p
	}
}

func TestPlan_WarnsBeyondLimitsOfTheProgram(t *testing.T) {
	feeds := subjects.BucketBytes(subjects.ScheduleBucket) / int64(stateDisk.Value)
	hosts := subjects.BucketBytes(subjects.HostBucket) / int64(hostDisk.Value) * int64(hostFeeds.Value)
	events := int64(maxWindow.Value)
	if most := int64(partitionFeeds.Value); feeds < most || hosts < most {
		t.Fatalf("a partition's part of the buckets has room for %d feeds and the hosts of %d feeds, want %d", feeds, hosts, most)
	}
	for _, c := range []struct {
		most  int64
		items float64
		text  string
	}{
		{config.MaxPartitions * int64(partitionFeeds.Value), 0.001, "partitions of the schedule"},
		{events, 4.0 / 3, "events of the largest language"}, // an item is half of an event, and half of the items are of one language
		{469 * daySeconds, 1, "there is one Meilisearch"},
	} {
		warns := func(feeds int64) bool {
			return slices.ContainsFunc(plan(t, feeds, 1, c.items, 7).Warnings, func(w string) bool { return strings.Contains(w, c.text) })
		}
		if warns(c.most*99/100) || !warns(c.most*101/100) {
			t.Errorf("%s: warns at 99 %% of %d feeds: %v, at 101 %%: %v", c.text, c.most, warns(c.most*99/100), warns(c.most*101/100))
		}
	}
}

func TestCosts_HaveUnitsAndSources(t *testing.T) {
	names := map[string]bool{}
	for _, c := range Costs() {
		if c.Value <= 0 || c.Unit == "" || c.Source == "" || names[c.Name] {
			t.Errorf("incomplete or twice: %+v", c)
		}
		names[c.Name] = true
	}
}

func TestNumber_HasThreeDigits(t *testing.T) {
	for v, want := range map[float64]string{
		0.0583: "0.058", 1.736: "1.74", 39.93: "39.9", 205: "205", 999.7: "1.00 k", 50_000: "50 k", 1_731_840: "1.73 M", 2.7e9: "2.70 G", 2: "2",
	} {
		if got := Number(v); got != want {
			t.Errorf("Number(%v) is %q, want %q", v, got, want)
		}
	}
}

package spam

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

var noon = time.Date(2024, 6, 1, 12, 0, 0, 0, time.UTC)

func TestHistoryCache_DetectsTemplates(t *testing.T) {
	m := NewHistoryCache(1 << 20)
	var h History
	for i := range 20 {
		city := fmt.Sprintf("Town%d", i)
		h = m.Record("f", "h.example", "Escort service in "+city+" tonight", "Call us in "+city+" at number "+fmt.Sprint(i), noon)
	}
	if h.Items != 19 || h.Similar != 19 || h.Copies != 0 {
		t.Errorf("got %+v, want 19 of 19 alike", h)
	}
}

func TestHistoryCache_DifferentItemsAreNotSimilar(t *testing.T) {
	m := NewHistoryCache(1 << 20)
	var h History
	for _, title := range []string{"Go 1.23 is out", "Why we left the cloud", "A tour of the Linux scheduler", "PostgreSQL at scale", "On naming things"} {
		h = m.Record("f", "h.example", title, strings.Repeat(title+" and what follows from it for us all. ", 5), noon)
	}
	if h.Items != 4 || h.Similar != 0 || h.Copies != 0 {
		t.Errorf("got %+v, want 4 items, none alike", h)
	}
}

func TestHistoryCache_CountsCopiesWithinADay(t *testing.T) {
	body := "We sell the best pills of the town at prices that nobody else has, with delivery to every door of the country and a gift for each new customer, number %d."
	m := NewHistoryCache(1 << 20)
	for i := range 6 {
		m.Record(fmt.Sprint("f", i), "h.example", fmt.Sprint("Offer ", i), fmt.Sprintf(body, i), noon)
	}
	if h := m.Record("g", "h.example", "Offer", fmt.Sprintf(body, 99), noon.Add(time.Hour)); h.Copies != 6 {
		t.Errorf("got %+v within the hour, want 6 copies", h)
	}
	if h := m.Record("g", "other.example", "Offer", fmt.Sprintf(body, 98), noon); h.Copies != 0 {
		t.Errorf("got %+v of another host, want none", h)
	}
	if h := m.Record("g", "h.example", "Offer", fmt.Sprintf(body, 97), noon.Add(48*time.Hour)); h.Copies != 0 {
		t.Errorf("got %+v two days later, want none", h)
	}
}

func TestHistoryCache_CountsRepeatedItemOnce(t *testing.T) {
	m := NewHistoryCache(1 << 20)
	text := strings.Repeat("A post that many planets carry and that is met again and again. ", 3)
	var h History
	for i := range 10 {
		h = m.Record(fmt.Sprint("planet", i%3), "h.example", "A post", text, noon)
	}
	if h != (History{}) {
		t.Errorf("got %+v, want no copies of a single item", h)
	}
}

func TestHistoryCache_IsBounded(t *testing.T) {
	m := NewHistoryCache(10 * sourceSize)
	for i := range 1000 {
		m.Record(fmt.Sprint("f", i), fmt.Sprint("h", i), "Title", "text", noon)
	}
	if len(m.sources) != 10 || m.order.Len() != 10 {
		t.Errorf("got %d spots, want 10", len(m.sources))
	}
	m.Record("f999", "", "Another", "text", noon)
	if h := m.Record("f999", "", "A third", "text", noon); h.Items != 2 {
		t.Errorf("got %+v of the feed met last, want 2 items", h)
	}
}

func TestHistoryCache_ConcurrentUse(t *testing.T) {
	m := NewHistoryCache(20 * sourceSize)
	var group sync.WaitGroup
	for i := range 4 {
		group.Go(func() {
			for j := range 200 {
				m.Record(fmt.Sprint("f", j%30), fmt.Sprint("h", i), fmt.Sprint("Title ", j), "text", noon)
			}
		})
	}
	group.Wait()
}

func BenchmarkHabits(b *testing.B) {
	m := NewHistoryCache(DefaultCacheBytes)
	text := strings.Repeat("The scheduler of the kernel decides which task runs next, and for how long. ", 27)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		m.Record(fmt.Sprint("f", i%1000), "h.example", fmt.Sprint("Title of item ", i), text, noon)
	}
}

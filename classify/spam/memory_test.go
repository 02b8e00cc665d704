package spam

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

var noon = time.Date(2024, 6, 1, 12, 0, 0, 0, time.UTC)

func TestTemplatesAreSeen(t *testing.T) {
	m := NewMemory(1 << 20)
	var h Habits
	for i := range 20 {
		city := fmt.Sprintf("Town%d", i)
		h = m.Habits("f", "h.example", "Escort service in "+city+" tonight", "Call us in "+city+" at number "+fmt.Sprint(i), noon)
	}
	if h.Items != 19 || h.Alike != 19 || h.Copies != 0 {
		t.Errorf("got %+v, want 19 of 19 alike", h)
	}
}

func TestDifferentItemsAreNotAlike(t *testing.T) {
	m := NewMemory(1 << 20)
	var h Habits
	for _, title := range []string{"Go 1.23 is out", "Why we left the cloud", "A tour of the Linux scheduler", "PostgreSQL at scale", "On naming things"} {
		h = m.Habits("f", "h.example", title, strings.Repeat(title+" and what follows from it for us all. ", 5), noon)
	}
	if h.Items != 4 || h.Alike != 0 || h.Copies != 0 {
		t.Errorf("got %+v, want 4 items, none alike", h)
	}
}

func TestFloodsAreSeenForADay(t *testing.T) {
	body := "We sell the best pills of the town at prices that nobody else has, with delivery to every door of the country and a gift for each new customer, number %d."
	m := NewMemory(1 << 20)
	for i := range 6 {
		m.Habits(fmt.Sprint("f", i), "h.example", fmt.Sprint("Offer ", i), fmt.Sprintf(body, i), noon)
	}
	if h := m.Habits("g", "h.example", "Offer", fmt.Sprintf(body, 99), noon.Add(time.Hour)); h.Copies != 6 {
		t.Errorf("got %+v within the hour, want 6 copies", h)
	}
	if h := m.Habits("g", "other.example", "Offer", fmt.Sprintf(body, 98), noon); h.Copies != 0 {
		t.Errorf("got %+v of another host, want none", h)
	}
	if h := m.Habits("g", "h.example", "Offer", fmt.Sprintf(body, 97), noon.Add(48*time.Hour)); h.Copies != 0 {
		t.Errorf("got %+v two days later, want none", h)
	}
}

func TestOneItemCountsOnce(t *testing.T) {
	m := NewMemory(1 << 20)
	text := strings.Repeat("A post that many planets carry and that is met again and again. ", 3)
	var h Habits
	for i := range 10 {
		h = m.Habits(fmt.Sprint("planet", i%3), "h.example", "A post", text, noon)
	}
	if h != (Habits{}) {
		t.Errorf("got %+v, want nothing: it is one item", h)
	}
}

func TestMemoryIsBounded(t *testing.T) {
	m := NewMemory(10 * spotSize)
	for i := range 1000 {
		m.Habits(fmt.Sprint("f", i), fmt.Sprint("h", i), "Title", "text", noon)
	}
	if len(m.spots) != 10 || m.order.Len() != 10 {
		t.Errorf("got %d spots, want 10", len(m.spots))
	}
	m.Habits("f999", "", "Another", "text", noon)
	if h := m.Habits("f999", "", "A third", "text", noon); h.Items != 2 {
		t.Errorf("got %+v of the feed met last, want 2 items", h)
	}
}

func TestMemoryIsSharedSafely(t *testing.T) {
	m := NewMemory(20 * spotSize)
	var group sync.WaitGroup
	for i := range 4 {
		group.Go(func() {
			for j := range 200 {
				m.Habits(fmt.Sprint("f", j%30), fmt.Sprint("h", i), fmt.Sprint("Title ", j), "text", noon)
			}
		})
	}
	group.Wait()
}

func BenchmarkHabits(b *testing.B) {
	m := NewMemory(DefaultMemory)
	text := strings.Repeat("The scheduler of the kernel decides which task runs next, and for how long. ", 27)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		m.Habits(fmt.Sprint("f", i%1000), "h.example", fmt.Sprint("Title of item ", i), text, noon)
	}
}

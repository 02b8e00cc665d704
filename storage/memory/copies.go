package memory

import (
	"maps"
	"slices"
	"time"

	"feedmesh/storage"
)

// changedAfter returns the current time, or one microsecond after old if that is later: every change of an
// item has its own time.
func changedAfter(old time.Time) time.Time {
	now, next := micro(time.Now()), old.Add(time.Microsecond)
	if now.Before(next) {
		return next
	}
	return now
}

func first[T any](s []T, limit int) []T { return s[:min(len(s), max(limit, 0))] }

func copyFeed(f storage.Feed) storage.Feed {
	f.Tags, f.Categories = copyList(f.Tags), maps.Clone(f.Categories)
	f.Added = micro(f.Added)
	if f.Request != nil {
		request := *f.Request
		if request.Header = maps.Clone(request.Header); len(request.Header) == 0 {
			request.Header = nil
		}
		f.Request = &request
	}
	return f
}

func copyProxy(p storage.Proxy) storage.Proxy {
	p.Hosts, p.Added = copyList(p.Hosts), micro(p.Added)
	return p
}

func copyImport(imp storage.Import) storage.Import {
	imp.Lines = append([]byte(nil), imp.Lines...)
	imp.Started, imp.Finished = micro(imp.Started), micro(imp.Finished)
	return imp
}

func copyRules(set storage.RuleSet) storage.RuleSet {
	set.Text, set.Changed = append([]byte(nil), set.Text...), micro(set.Changed)
	return set
}

func copyJob(j storage.Job) storage.Job {
	j.Result = append([]byte(nil), j.Result...)
	j.Started, j.Finished = micro(j.Started), micro(j.Finished)
	return j
}

func copyCorrection(c storage.Correction) storage.Correction {
	if c.Spam != nil {
		spam := *c.Spam
		c.Spam = &spam
	}
	c.Categories, c.Topics, c.At = slices.Clone(c.Categories), slices.Clone(c.Topics), micro(c.At)
	return c
}

func copyItem(item storage.Item) storage.Item {
	for _, list := range []*[]string{&item.Images, &item.Tags, &item.Flags, &item.Categories, &item.Topics, &item.Reasons} {
		*list = copyList(*list)
	}
	item.Enclosures = append([]storage.Enclosure(nil), item.Enclosures...)
	for _, t := range []*time.Time{&item.Published, &item.Updated, &item.FirstSeen} {
		*t = micro(*t)
	}
	return item
}

func copyStory(s storage.Story) storage.Story {
	s.Summary = append([]storage.Line(nil), s.Summary...)
	s.Categories, s.Topics = copyList(s.Categories), copyList(s.Topics)
	for _, t := range []*time.Time{&s.FirstSeen, &s.LastSeen, &s.Summarized} {
		*t = micro(*t)
	}
	return s
}

// copyList returns nil for an empty list, as the other engines do.
func copyList(list []string) []string { return append([]string(nil), list...) }

// micro also removes the monotonic clock, by which equal times would differ.
func micro(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

// Package classify is the role that labels items with spam, categories and topics.
package classify

import (
	"context"
	"slices"

	"feedmesh/agent/mesh"
	"feedmesh/agent/role/classify/label"
	"feedmesh/agent/role/work"
	"feedmesh/classify"
	"feedmesh/classify/spam"
	"feedmesh/classify/text"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// Run labels items until ctx ends.
func Run(ctx context.Context, env *work.Env) error {
	return mesh.Serve(ctx, env.Mesh, subjects.ClassifyQueue, "", NewActor(env, env.Mesh), env.Workers)
}

// NewActor returns the actor of the classify queue, which publishes to out.
func NewActor(env *work.Env, out subjects.Publisher) mesh.Actor[subjects.Classify] {
	return &classifier{classifier: env.Classifier, habits: spam.NewHistoryCache(spam.DefaultCacheBytes), out: out}
}

// classifier is the actor of the classify role. It loads the current classifier once a task, so that all
// items of a document get labels from the same version.
type classifier struct {
	classifier func() *classify.Classifier
	habits     *spam.HistoryCache // recent items of feeds and hosts, of this process only
	out        subjects.Publisher
}

func (l *classifier) Receive(ctx context.Context, task subjects.Classify) error {
	classifier := l.classifier()
	partition := partitionOf(task)
	feed := storage.Feed{
		ID: task.FeedID, Title: task.Title, Tags: task.FeedTags, Categories: task.FeedCategories, SpamThreshold: task.SpamThreshold,
	}
	for i := range task.Items {
		item := &task.Items[i]
		item.Partition = partition
		plain := text.PlainText(item.HTML)
		habits := l.habits.Record(item.FeedID, subjects.HostOf(item.URL), item.Title, plain, item.FirstSeen)
		decision := classifier.DecideWithHistory(label.Document(*item, feed, plain), habits)
		label.Put(item, decision)
		if err := l.notify(ctx, *item, decision.Notify); err != nil {
			return err
		}
	}
	return subjects.Publish(ctx, l.out, subjects.ClusterQueue, subjects.Cluster{Document: task.Document, Partition: partition, Items: task.Items})
}

// notify publishes the notifications that rules produced for an item.
func (l *classifier) notify(ctx context.Context, item storage.Item, texts []string) error {
	for _, text := range texts {
		err := l.out.Publish(ctx, subjects.Event{
			Kind: subjects.ItemNotify, At: item.FirstSeen, Text: text, ItemID: item.ID, FeedID: item.FeedID, Title: item.Title, URL: item.URL,
		}.Message())
		if err != nil {
			return err
		}
	}
	return nil
}

// partitionOf returns the cluster partition of most of the items. They stay together, so that one transaction
// stores a document: a few items in another language than their feed's are compared within that feed's
// language.
func partitionOf(task subjects.Classify) string {
	count := map[string]int{}
	best := subjects.OtherLanguages
	for _, item := range task.Items {
		partition := item.Language
		if partition == "" {
			partition = task.Document.Language
		}
		if !slices.Contains(subjects.Languages, partition) {
			partition = subjects.OtherLanguages
		}
		if count[partition]++; count[partition] > count[best] || count[partition] == count[best] && partition < best {
			best = partition
		}
	}
	return best
}

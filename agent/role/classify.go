package role

import (
	"context"
	"slices"

	"feedmesh/agent/label"
	"feedmesh/agent/mesh"
	"feedmesh/agent/plan"
	"feedmesh/classify"
	"feedmesh/classify/spam"
	"feedmesh/classify/text"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// Classify labels items.
var Classify = Role{
	Name: "classify",
	Does: "labels items: spam or not, categories, topics, each with its reason",
	Run: func(ctx context.Context, env *Env) error {
		c := &labeller{classifier: env.Classifier, habits: spam.NewMemory(spam.DefaultMemory), out: env.Mesh}
		return mesh.Serve(ctx, env.Mesh, subjects.Classifys, "", c, env.Workers)
	},
}

// labeller asks for its classifier once a task, so that the items of a document
// are labelled by the same one.
type labeller struct {
	classifier func() *classify.Classifier
	habits     *spam.Memory // of feeds and hosts, as far as this agent sees their items
	out        subjects.Publisher
}

func (l *labeller) Receive(ctx context.Context, task subjects.Classify) error {
	classifier := l.classifier()
	lane := laneOf(task)
	feed := storage.Feed{
		ID: task.FeedID, Title: task.Title, Tags: task.FeedTags, Categories: task.FeedCategories, SpamThreshold: task.SpamThreshold,
	}
	for i := range task.Items {
		item := &task.Items[i]
		item.Lane = lane
		plain := text.Plain(item.HTML)
		habits := l.habits.Habits(item.FeedID, plan.HostOf(item.URL), item.Title, plain, item.FirstSeen)
		decision := classifier.DecideKnowing(label.Document(*item, feed, plain), habits)
		label.Put(item, decision)
		if err := l.notify(ctx, *item, decision.Notify); err != nil {
			return err
		}
	}
	return subjects.Publish(ctx, l.out, subjects.Clusters, subjects.Cluster{Document: task.Document, Lane: lane, Items: task.Items})
}

// notify tells those who listen what rules say of an item.
func (l *labeller) notify(ctx context.Context, item storage.Item, texts []string) error {
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

// laneOf returns the cluster lane of most of the items. They stay together, so
// that one transaction stores a document: a few in another language than their
// feed's are compared with that feed's language.
func laneOf(task subjects.Classify) string {
	count := map[string]int{}
	best := subjects.OtherLanguages
	for _, item := range task.Items {
		lane := item.Language
		if lane == "" {
			lane = task.Document.Language
		}
		if !slices.Contains(subjects.Languages, lane) {
			lane = subjects.OtherLanguages
		}
		if count[lane]++; count[lane] > count[best] || count[lane] == count[best] && lane < best {
			best = lane
		}
	}
	return best
}

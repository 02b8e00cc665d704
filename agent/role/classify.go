package role

import (
	"context"
	"slices"

	"feedmesh/agent/mesh"
	"feedmesh/classify"
	"feedmesh/classify/text"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// Classify labels items.
var Classify = Role{
	Name: "classify",
	Does: "labels items: spam or not, categories, topics, each with its reason",
	Run: func(ctx context.Context, env *Env) error {
		c := &classifier{rules: env.Rules, out: env.Mesh}
		return mesh.Serve(ctx, env.Mesh, subjects.Classifys, "", c, env.Workers)
	},
}

type classifier struct {
	rules *classify.Rules
	out   subjects.Publisher
}

func (c *classifier) Receive(ctx context.Context, task subjects.Classify) error {
	items := make([]storage.Item, len(task.Drafts))
	lane := laneOf(task)
	for i, d := range task.Drafts {
		items[i] = c.label(task.Document, d)
		items[i].Lane = lane
	}
	return subjects.Publish(ctx, c.out, subjects.Clusters, subjects.Cluster{Document: task.Document, Lane: lane, Items: items})
}

func (c *classifier) label(d subjects.Document, draft subjects.Draft) storage.Item {
	item := draft.Item
	decision := c.rules.Decide(classify.Document{
		Title: item.Title, Text: text.Plain(item.HTML), URL: item.URL, Author: item.Author,
		FeedTitle: d.Title, Language: item.Language, Stems: draft.Stems, Tags: item.Tags,
	})
	item.Spam, item.Categories = decision.Spam, decision.Categories
	item.Topics, item.Why = decision.Topics, decision.Why
	return item
}

// laneOf returns the cluster lane of most of the items. They stay together, so
// that one transaction stores a document: a few in another language than their
// feed's are compared with that feed's language.
func laneOf(task subjects.Classify) string {
	count := map[string]int{}
	best := subjects.OtherLanguages
	for _, d := range task.Drafts {
		lane := d.Language
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

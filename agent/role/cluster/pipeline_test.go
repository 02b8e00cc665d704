package cluster

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"feedmesh/agent/mesh"
	label "feedmesh/agent/role/classify"
	"feedmesh/agent/role/parse"
	"feedmesh/agent/role/prepare"
	"feedmesh/agent/role/work"
	"feedmesh/agent/role/work/worktest"
	"feedmesh/classify"
	"feedmesh/classify/model"
	"feedmesh/classify/spam"
	"feedmesh/config"
	"feedmesh/storage"
	"feedmesh/storage/enginetest"
	"feedmesh/subjects"
)

// jsonFeed returns a document of n entries with this content.
func jsonFeed(n int, content string) string {
	type item struct {
		ID      string `json:"id"`
		URL     string `json:"url"`
		Content string `json:"content_html"`
	}
	doc := struct {
		Version string `json:"version"`
		Title   string `json:"title"`
		Items   []item `json:"items"`
	}{Version: "https://jsonfeed.org/version/1.1", Title: "large"}
	for i := range n {
		doc.Items = append(doc.Items, item{fmt.Sprint(i), fmt.Sprint("http://blog.example/", i), content})
	}
	data, _ := json.Marshal(doc)
	return string(data)
}

// Entries that do not fit into one message follow with the next polls, for which the document must count as
// changed until then. No document may become too large as items through cleaning, stemming and JSON.
func TestPipeline_SplitsLargeDocuments(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped by -short: takes some seconds")
	}
	t.Parallel()
	labels := &classify.Classifier{Rules: classify.ShippedRules(), Spam: spam.Default(), Model: model.Default()}
	for _, test := range []struct {
		name    string
		n       int
		content string
	}{
		{"long entries", 3, strings.Repeat("<p>"+strings.Repeat("-", 1000)+"</p>\n", 750)},
		{"quotes: five bytes each in markup", 900, strings.Repeat(`"`, 2000)},
		{"control characters: six bytes each in JSON", 2, strings.Repeat("\x01", 750_000)},
	} {
		store := worktest.StoreWith(t, worktest.Blog)
		out := &worktest.Outbox{}
		env := &work.Env{
			Store: store, Mesh: new(mesh.Mesh), Metrics: prometheus.NewRegistry(), Config: config.Config{Crawl: config.Crawl{MaxBody: 20 << 20}},
			Classifier: func() *classify.Classifier { return labels },
		}
		p := parse.NewActor(env, out)
		body := jsonFeed(test.n, test.content)
		complete := false
		for polls := 1; !complete; polls++ {
			if err := p.Receive(t.Context(), worktest.ParseTask(t, body)); err != nil {
				t.Fatalf("%s: poll %d: %v", test.name, polls, err)
			}
			task := worktest.Only(t, out, subjects.PrepareQueue)
			stored := travel(t, env, test.name, task)
			if len(stored.Items) == 0 || polls > 20 {
				t.Fatalf("%s: got %d items with poll %d, want some, and all after a few polls", test.name, len(stored.Items), polls)
			}
			if polls == 1 && stored.Items[0].Key != task.Entries[0].Key {
				t.Errorf("%s: got %s first, want the first entry of the document", test.name, stored.Items[0].Key)
			}
			if _, err := store.PutItems(t.Context(), storage.Batch{FeedID: stored.FeedID, Items: stored.Items}); err != nil {
				t.Fatal(err)
			}
			counts, _ := store.CountFeeds(t.Context(), storage.FeedQuery{})
			complete = counts.Items == int64(test.n)
			if (stored.ETag+stored.LastModified+stored.BodyHash != "") != complete {
				t.Fatalf("%s: poll %d: got validators %+v with %d of %d items, want validators with the last items only",
					test.name, polls, stored.Receipt, counts.Items, test.n)
			}
		}
	}
}

// travel passes entries through all roles up to the store.
func travel(t *testing.T, env *work.Env, name string, task subjects.Prepare) subjects.Store {
	t.Helper()
	out := &worktest.Outbox{}
	if err := prepare.NewActor(env, out).Receive(t.Context(), task); err != nil {
		t.Fatalf("%s: prepare: %v", name, err)
	}
	if err := label.NewActor(env, out).Receive(t.Context(), worktest.Only(t, out, subjects.ClassifyQueue)); err != nil {
		t.Fatalf("%s: classify: %v", name, err)
	}
	c := clustererOf(t, enginetest.Store(t), out)
	if err := c.Receive(t.Context(), worktest.Only(t, out, subjects.ClusterQueue)); err != nil {
		t.Fatalf("%s: cluster: %v", name, err)
	}
	return worktest.Only(t, out, subjects.StoreQueue)
}

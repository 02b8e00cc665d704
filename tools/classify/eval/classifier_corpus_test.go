package eval_test

import (
	"os"
	"path/filepath"
	"testing"

	"feedmesh/classify"
	"feedmesh/classify/model"
	"feedmesh/classify/spam"
	"feedmesh/tests/corpus"
	"feedmesh/tools/classify/eval"
)

// byRules returns a classifier with the shipped rules and without a model.
func byRules(t *testing.T) *classify.Classifier {
	t.Helper()
	filter, err := spam.Parse(spam.Shipped())
	if err != nil {
		t.Fatal(err)
	}
	return &classify.Classifier{Rules: classify.ShippedRules(), Spam: filter}
}

// evaluate classifies a part of a file and logs the metrics.
func evaluate(t *testing.T, c *classify.Classifier, name string, part eval.Part) eval.Report {
	t.Helper()
	file, err := os.Open(filepath.Join(corpus.Folder(t, "categories"), name))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	got, err := eval.Evaluate(c, part.Filter(eval.Records(file)))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s, model %t: %d items, precision %.3f at coverage %.3f, top-1 %.4f, micro F1 %.3f, macro F1 %.3f, named topics found %.3f of %d; %v an item",
		name, c.Model != nil, got.Items, got.Precision, got.Coverage, got.Top1, got.Micro.F1, got.Macro.F1, got.TitleTopics.Share(), got.TitleTopics.Items, got.PerItem)
	return got
}

// least reports a metric below its minimum.
func least(t *testing.T, what string, got, want float64) {
	t.Helper()
	if got < want {
		t.Errorf("%s: got %.4f, want at least %v", what, got, want)
	}
}

func TestCorpus_PostsByRules(t *testing.T) {
	got := evaluate(t, byRules(t), "lobsters.jsonl.gz", eval.Test)
	least(t, "precision", got.Precision, 0.858)
	least(t, "coverage", got.Coverage, 0.62)
}

// The shipped model was trained on the other part.
func TestCorpus_PostsWithModel(t *testing.T) {
	c := byRules(t)
	c.Model = model.Default()
	got := evaluate(t, c, "lobsters.jsonl.gz", eval.Test)
	least(t, "top-1", got.Top1, 0.75)
	least(t, "precision of predictions", got.Precision, 0.84)
}

func TestCorpus_RussianPosts(t *testing.T) {
	c := byRules(t)
	alone := evaluate(t, c, "habr-ru-labelled.jsonl.gz", eval.All)
	c.Model = model.Default()
	got := evaluate(t, c, "habr-ru-labelled.jsonl.gz", eval.All)
	least(t, "top-1", got.Top1, 0.70)
	if got.Coverage > alone.Coverage+0.05 {
		t.Errorf("got a coverage of %.3f with a model of English and %.3f without: it guesses without evidence", got.Coverage, alone.Coverage)
	}
	least(t, "top-1 with the model, compared with rules alone", got.Top1, alone.Top1)
}

// The shipped model was trained on the other part.
func TestCorpus_GeneralNews(t *testing.T) {
	c := byRules(t)
	c.Model = model.Default()
	if got := evaluate(t, c, "news-categories-ru-en.jsonl.gz", eval.Test).General; got.Items < 40 || got.Share() > 0.15 {
		t.Errorf("got %d of %d items of general news with a category, want at most 15 %%", got.Labelled, got.Items)
	}
}

func TestCorpus_QuestionTopics(t *testing.T) {
	got := evaluate(t, byRules(t), "stackoverflow-titles.jsonl.gz", eval.Test)
	least(t, "topics that titles name", got.TitleTopics.Share(), 0.97)
}

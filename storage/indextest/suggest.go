package indextest

import (
	"slices"
	"testing"

	"feedmesh/storage"
)

func wordsSuggested(t *testing.T, x storage.Index) {
	put(t, x, item("1", "Kubernetes and Kubernetes", "kubelet"), item("2", "KUBERNETES, Kubecon", ""), item("3", "Kubecon", ""), item("4", "kubernetes", ""),
		item("5", "Базы данных", ""), item("6", "База знаний", ""), item("7", "Ёлка базы", ""), item("8", "C++ and C#", ""), item("9", "数据库", ""))
	for _, c := range []struct {
		prefix string
		limit  int
		want   []storage.FacetCount
	}{
		{"kub", 10, []storage.FacetCount{{Value: "kubernetes", Count: 3}, {Value: "kubecon", Count: 2}}},
		{"KUBER", 10, []storage.FacetCount{{Value: "kubernetes", Count: 3}}},
		{"kub", 1, []storage.FacetCount{{Value: "kubernetes", Count: 3}}},
		{"баз", 10, []storage.FacetCount{{Value: "базы", Count: 2}, {Value: "база", Count: 1}}},
		{"ёл", 10, []storage.FacetCount{{Value: "елка", Count: 1}}},
		{"kubernetes", 10, []storage.FacetCount{{Value: "kubernetes", Count: 3}}},
		{"kubelet", 10, nil}, // not in a title
		{"kubernets", 10, nil},
		{"", 10, nil},
		{"kub", 0, nil},
		{`"; DROP`, 10, nil},
		{"*", 10, nil},
	} {
		got, err := x.Suggest(t.Context(), c.prefix, c.limit)
		if err != nil {
			t.Errorf("suggest %q: %v", c.prefix, err)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q may go on as %v, want %v", c.prefix, got, c.want)
		}
	}
}

func suggestionsOfLatestVersion(t *testing.T, x storage.Index) {
	put(t, x, item("1", "Kubernetes", ""), item("2", "Kubecon", ""), item("3", "Other", ""))
	put(t, x, item("1", "Nomad", ""))
	if err := x.Delete(t.Context(), "2"); err != nil {
		t.Fatal(err)
	}
	if got, err := x.Suggest(t.Context(), "kub", 10); err != nil || len(got) != 0 {
		t.Errorf("words of titles that are no more are suggested: %v, %v", got, err)
	}
}

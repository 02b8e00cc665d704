package classify_test

import (
	"fmt"

	"feedmesh/classify"
	"feedmesh/classify/rule"
	"feedmesh/classify/spam"
)

func ExampleClassifier_Decide() {
	set, err := rule.Parse([]byte(`category devops/topic:kubernetes when k8s | "helm chart"
star when title:helm
`))
	if err != nil {
		panic(err)
	}
	rules, err := classify.Compile(set)
	if err != nil {
		panic(err)
	}
	c := classify.Classifier{Rules: rules, Spam: spam.Default()}
	d := c.Decide(classify.Document{Title: "Helm charts for K8s", Language: "en"})
	fmt.Println(d.Spam, d.Categories, d.Topics, d.Flags)
	for _, reason := range d.Reasons {
		fmt.Println(reason)
	}
	// Output:
	// false [devops] [kubernetes] [starred]
	// starred: "helm" in title (rules:2)
	// category devops: "k8s" in title, "helm chart" in title (rules:1)
	// topic kubernetes: "k8s" in title, "helm chart" in title (rules:1)
}

package rule_test

import (
	"fmt"

	"feedmesh/classify/rule"
)

func ExampleParse() {
	set, err := rule.Parse([]byte(`-- devops.rules --
category devops/topic:kubernetes when
	title:(k8s | "helm chart") & fact:versioned
-- facts.rules --
fact versioned when title:/\d+\.\d+/  # as in 1.31
`))
	if err != nil {
		panic(err)
	}
	order, _ := set.EvaluationOrder()
	for _, i := range order {
		fmt.Println(set.Rules[i].Pos, set.Rules[i])
	}
	_, err = rule.Parse([]byte("category devops\nfact new when titel:new\n"))
	fmt.Println(err)
	// Output:
	// facts.rules:1:1 fact versioned when title:/\d+\.\d+/
	// devops.rules:1:1 category devops/topic:kubernetes when (title:k8s | title:"helm chart") & fact:versioned
	// rules:1:16: "when" is missing
	// rules:2:15: "titel:" is not a field: use one of title:, tag:, body:, feed:, feed-tag:, author:, url:, host:, lang:, fact:, category:, topic:; a word with a colon must be in quotes
}

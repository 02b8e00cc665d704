package classify

import "feedmesh/classify/model"

// Example returns a training example for a document of known categories. If a person corrected the
// categories, the example has a higher weight.
func (r *Rules) Example(id string, d Document, categories []string, corrected bool) model.Example {
	e := model.Example{ID: id, Document: newModelDocument(d, modelLabels(r.Evaluate(d))), Categories: categories}
	if corrected {
		e.Weight = model.Correction
	}
	return e
}

// RuleLabelledExample returns a training example for a document whose categories come from the rules
// themselves. It omits the rules' labels: with them the model would learn that rules are always right, and
// nothing about words.
func RuleLabelledExample(id string, d Document, categories []string) model.Example {
	return model.Example{ID: id, Document: newModelDocument(d, nil), Categories: categories}
}

// modelLabels returns the rules' labels as model features.
func modelLabels(outcome Outcome) []model.Label {
	list := make([]model.Label, len(outcome.Labels))
	for i, l := range outcome.Labels {
		list[i] = model.Label{Topic: l.Topic, Name: l.Name, Points: l.Points}
	}
	return list
}

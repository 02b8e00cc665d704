package classify

import "feedmesh/classify/model"

// Example returns what a model learns from a document whose categories somebody
// knows: a person, if corrected, whose word counts more.
func (r *Rules) Example(id string, d Document, categories []string, corrected bool) model.Example {
	e := model.Example{ID: id, Document: modelDocument(d, modelLabels(r.Fire(d))), Categories: categories}
	if corrected {
		e.Weight = model.Correction
	}
	return e
}

// OwnExample returns what a model learns from a document whose categories are what
// the rules said themselves. It leaves out what rules said: or the model would
// learn that they are always right, and nothing of words.
func OwnExample(id string, d Document, categories []string) model.Example {
	return model.Example{ID: id, Document: modelDocument(d, nil), Categories: categories}
}

// modelLabels returns what a model is told of what rules said.
func modelLabels(fired Outcome) []model.Label {
	list := make([]model.Label, len(fired.Labels))
	for i, l := range fired.Labels {
		list[i] = model.Label{Topic: l.Topic, Name: l.Name, Points: l.Points}
	}
	return list
}

package eval

// SpamMetrics measures spam detection. The zero value has no items.
type SpamMetrics struct {
	Items          int `json:"items"`
	Gold           int `json:"gold"` // items that are spam
	Predicted      int `json:"said"` // items classified as spam
	Correct        int `json:"right"`
	FalsePositives int `json:"falsely"` // items classified as spam that are not
}

// Add counts an item.
func (s *SpamMetrics) Add(gold, predicted bool) {
	s.Items++
	if gold {
		s.Gold++
	}
	switch {
	case predicted && gold:
		s.Predicted++
		s.Correct++
	case predicted:
		s.Predicted++
		s.FalsePositives++
	}
}

// Score returns precision, recall and F1 for spam.
func (s SpamMetrics) Score() Score { return score(s.Gold, s.Predicted, s.Correct) }

// FalsePositiveRate returns the share of other items that were classified as spam.
func (s SpamMetrics) FalsePositiveRate() float64 { return share(s.FalsePositives, s.Items-s.Gold) }

package eval

// A Spam is how well spam was told from what is not. The zero Spam has seen no item.
type Spam struct {
	Items   int `json:"items"`
	Gold    int `json:"gold"` // that are spam
	Said    int `json:"said"` // that were called spam
	Right   int `json:"right"`
	Falsely int `json:"falsely"` // that were called spam and are not
}

// Add counts an item.
func (s *Spam) Add(gold, said bool) {
	s.Items++
	if gold {
		s.Gold++
	}
	switch {
	case said && gold:
		s.Said++
		s.Right++
	case said:
		s.Said++
		s.Falsely++
	}
}

// Score returns precision, recall and F1 of spam.
func (s Spam) Score() Score { return score(s.Gold, s.Said, s.Right) }

// FalsePositives returns the share of what is not spam that was called so.
func (s Spam) FalsePositives() float64 { return share(s.Falsely, s.Items-s.Gold) }

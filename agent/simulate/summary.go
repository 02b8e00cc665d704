package simulate

// A Summary contains the totals of a [Web] since its start.
type Summary struct {
	Days      float64     `json:"days"` // simulated
	Feeds     int         `json:"feeds"`
	Polled    int         `json:"polled"`   // feeds requested at least once
	Requests  int         `json:"requests"` // for feeds
	Polls     int         `json:"polls"`    // requests without continuations of a poll: see [Visit]
	PollsADay float64     `json:"polls_a_day"`
	Status    map[int]int `json:"status"` // requests by status, 0 for none
	Bytes     int64       `json:"bytes"`  // of complete documents, as sent

	Early        int     `json:"early"`         // polls before the end of Retry-After
	Overlaps     int     `json:"overlaps"`      // requests during another to the same host
	MostAtOnce   int     `json:"most_at_once"`  // maximum of concurrent requests to one host
	LeastSpacing float64 `json:"least_spacing"` // minimum of real seconds between the starts of two polls of one host; 0 if none
	Conditional  float64 `json:"conditional"`   // conditional share of the polls that could be conditional

	Published int     `json:"published"`  // entries since the start
	Served    int     `json:"served"`     // different entries received by clients, earlier ones included
	Lost      int     `json:"lost"`       // entries that appeared and disappeared between two received documents
	MeanDelay float64 `json:"mean_delay"` // simulated seconds from publication to reception, of entries published after a feed's first document

	repeats, conditional int // polls after a document with validators, and those that sent them
}

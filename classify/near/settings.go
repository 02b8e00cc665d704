package near

import "time"

// Settings say when items are alike. Those that a sketch depends on (Bands,
// Rows, Heads, Tails) must be the same wherever sketches are made and placed.
type Settings struct {
	Window time.Duration // how long an item is remembered after the newest one
	Max    int           // and how many of them at most

	Heads []string // what wires and mirrors put before a title, in lower case: "update", "guest post"
	Tails []string // what they put behind it, in brackets or after a dash: "updated", "video"

	Bands      int     // of a title's MinHash; sharing one makes titles candidates
	Rows       int     // minima in a band
	MinGrams   int     // different 4-grams a title must have to tell items apart by itself
	MinTitle   int     // and words
	Title      float64 // Jaccard of 4-grams from which on titles are the same
	Doubt      float64 // from here to Title the word matrix decides
	Matrix     float64 // its similarity from which on they are the same
	SameFeed   float64 // Jaccard that titles of one feed need where there are no bodies to compare
	Backed     float64 // share that bodies must have in common for a shorter title, the same to the letter, to count
	Contradict float64 // resemblance of bodies below which equal titles of one feed say nothing

	MinBody     int     // words of a text to compare
	Resemblance float64 // of bodies, from which on they are the same
	Containment float64 // share of the shorter body that must be in the longer one
	Template    float64 // resemblance that bodies of one feed need if the titles have nothing in common
	Stranger    float64 // Jaccard of titles below which they have nothing in common

	Crowd      int // a band that more items share says nothing
	Candidates int // compared for an item, those that share most first
	Doubtful   int // word matrices made for an item
	Held       int // decisions by hand that are remembered
}

// Default returns the settings we ship. Where they differ from the literature's they
// were found on the train half of labelled pairs: at 0.60 for Title too many
// headlines of one story are taken for the same. 16 bands of 4 rows, for 32 of 3,
// find 0.5 % fewer of the edited titles; with 3 rows the candidates, and so the
// time, grow with the number of items. Crowd is lower for the same reason.
func Default() Settings {
	return Settings{
		Window: 72 * time.Hour,
		Max:    1_000_000,

		Heads: []string{
			"update", "updated", "upd", "rpt", "refile", "wrapup", "correction", "corrected", "breaking", "breaking news", "exclusive",
			"guest post", "repost", "video", "watch", "live", "just in", "developing",
			"срочно", "обновлено", "обновление", "молния", "эксклюзив", "видео", "фото", "дополнено",
		},
		Tails: []string{
			"update", "updated", "video", "photos", "photo", "watch", "live", "pdf", "audio", "exclusive", "report", "guest post",
			"обновлено", "обновляется", "видео", "фото", "дополнено",
		},

		Bands: 16, Rows: 4,
		MinGrams: 10, MinTitle: 3,
		Title: 0.62, Doubt: 0.45, Matrix: 0.75,
		SameFeed: 0.80, Backed: 0.30, Contradict: 0.20,

		MinBody: 40, Resemblance: 0.50, Containment: 0.80,
		Template: 0.80, Stranger: 0.20,

		Crowd: 64, Candidates: 16, Doubtful: 2,
		Held: 10_000,
	}
}

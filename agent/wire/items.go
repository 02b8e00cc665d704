package wire

import (
	"time"

	"feedmesh/agent/access"
	"feedmesh/storage"
)

// A Correction is a person's correction of an item's labels. Absent fields stay unchanged.
type Correction struct {
	Spam       *bool     `json:"spam,omitempty"`
	Categories *[]string `json:"categories,omitempty" maxItems:"3" doc:"Best first; empty: no category applies."`
	Topics     *[]string `json:"topics,omitempty" maxItems:"5" doc:"Best first."`
}

// Duplicates are an item and the items that repeat it.
type Duplicates struct {
	First   ItemBrief   `json:"first" doc:"The original."`
	Items   []ItemBrief `json:"items" doc:"Duplicates, first seen first; at most 500."`
	Pending bool        `json:"pending,omitempty" doc:"The edit is accepted and not applied yet."`
	Notes   []string    `json:"notes,omitempty" doc:"Notes on this response."`
}

// Related are the other items of an item's story, without its duplicates.
type Related struct {
	Story storage.Story `json:"story"`
	Items []ItemBrief   `json:"items" doc:"First the newest of each publisher, then the others, newest first."`
}

// An Explanation states the similarity of two items and how they were classified as duplicates and stories.
type Explanation struct {
	Item       ItemBrief  `json:"item"`
	With       ItemBrief  `json:"with"`
	Repeat     bool       `json:"repeat" doc:"One is a duplicate of the other, or both are duplicates of a third item."`
	SameEvent  bool       `json:"same_event"`
	SameStory  bool       `json:"same_story"`
	Similarity Similarity `json:"likeness" doc:"Similarity of the items as stored now."`
	Sentences  []string   `json:"words" doc:"The same in sentences."`
}

// A Similarity is how similar two items are. Numbers are from 0 to 1.
type Similarity struct {
	SamePage    bool    `json:"same_page" doc:"Their addresses lead to one page."`
	SameText    bool    `json:"same_text" doc:"Title and text have the same words."`
	Title       float64 `json:"title" doc:"Of the 4-grams of both titles, how many they share; 0 too if numbers in them differ."`
	Matrix      float64 `json:"matrix" doc:"Similarity of the words of the titles; 0 if not compared."`
	Resemblance float64 `json:"resemblance" doc:"Of the 4-word shingles of both texts, about how many they share."`
	Containment float64 `json:"containment" doc:"Of the shorter text's 4-word shingles, about how many the longer one has."`
	By          string  `json:"by,omitempty" enum:"title,body" doc:"The measure that makes them duplicates; absent if none does."`
	Score       float64 `json:"score,omitempty" doc:"Of that."`
}

// An ItemView is one item with its text.
type ItemView struct {
	storage.Item
	FeedTitle string `json:"feed_title"`
}

// Similar are items with content similar to one item.
type Similar struct {
	Items []FoundItem `json:"items" doc:"Items of its language first, then the most similar; no items of its own story, and one of each other story."`
}

// An ItemBrief is an item without its text.
type ItemBrief struct {
	ID        string    `json:"id"`
	Title     string    `json:"title"`
	URL       string    `json:"url,omitempty"`
	FeedID    string    `json:"feed_id"`
	FeedTitle string    `json:"feed_title"`
	Publisher string    `json:"publisher"`
	Language  string    `json:"language,omitempty"`
	Seen      time.Time `json:"seen" doc:"When it was first fetched."`
	Published time.Time `json:"published,omitzero" doc:"The date that its publisher states; absent without one."`
	Spam      bool      `json:"spam,omitempty"`
	StoryID   string    `json:"story_id,omitempty"`
	EventID   string    `json:"event_id,omitempty"`
	StoryWhy  string    `json:"story_why,omitempty" doc:"Why it belongs to its event, in words."`

	DuplicateOf    string  `json:"duplicate_of,omitempty" doc:"Original of the duplicate; absent for originals."`
	DuplicateBy    string  `json:"duplicate_by,omitempty" enum:"text,url,title,body,hand"`
	DuplicateScore float64 `json:"duplicate_score,omitempty" doc:"Similarity to the original, up to 1."`
	DuplicateWhy   string  `json:"duplicate_why,omitempty" doc:"The similarity in words."`
}

// A LabelItemRequest corrects the labels of an item.
type LabelItemRequest struct {
	ID   string `path:"id" maxLength:"64" doc:"ID of an item."`
	Body Correction
}

// A Repetition is the item that another one repeats.
type Repetition struct {
	Of string `json:"of" minLength:"1" maxLength:"64" doc:"ID of the item that it repeats."`
}

// A RepeatItemRequest makes an item a duplicate.
type RepeatItemRequest struct {
	ID   string `path:"id" maxLength:"64" doc:"ID of an item."`
	Body Repetition
}

// An ExplainItemsRequest compares two items.
type ExplainItemsRequest struct {
	ID   string `path:"id" maxLength:"64" doc:"ID of an item."`
	With string `query:"with" required:"true" minLength:"1" maxLength:"64" doc:"ID of the other item."`
}

// Clicks are clicks of readers on an item.
type Clicks struct {
	Count int `json:"count" minimum:"1" maximum:"100"`
}

// A ClickItemRequest counts clicks on an item.
type ClickItemRequest struct {
	ID   string `path:"id" maxLength:"64" doc:"ID of an item."`
	Body Clicks
}

func duplicatePending(d Duplicates) bool { return d.Pending }

// The operations on items.
var (
	GetItem = Operation[ByID, ItemView]{ID: "get-item", Method: "GET", Path: "/api/items/{id}", Tag: "items", Scope: access.Search,
		Summary: "One item, whole", Errors: []int{404, 503}}
	ExplainItems = Operation[ExplainItemsRequest, Explanation]{ID: "explain-items", Method: "GET", Path: "/api/items/{id}/explain", Tag: "items", Scope: access.Search,
		Summary: "Compare two items: duplicates, same story, and why", Errors: []int{404, 503}}
	ClickItem = Operation[ClickItemRequest, None]{ID: "click-item", Method: "POST", Path: "/api/items/{id}/clicks", Tag: "items", Scope: access.Write,
		Summary: "Count clicks of readers on an item", Description: "They raise the rank of its story.", Errors: []int{400, 404, 422, 503}}
	LabelItem = Operation[LabelItemRequest, ItemView]{ID: "label-item", Method: "PUT", Path: "/api/items/{id}/labels", Tag: "items", Scope: access.Write,
		Summary:     "Correct the labels of an item",
		Description: "Rules do not change corrected labels, and training uses them. An empty object confirms the current labels.", Errors: []int{400, 404, 422, 503}}
	UnlabelItem = Operation[ByID, ItemView]{ID: "unlabel-item", Method: "DELETE", Path: "/api/items/{id}/labels", Tag: "items", Scope: access.Write,
		Summary: "Delete the corrections of an item", Description: "The labels stay until rules are applied to it again.", Errors: []int{404, 503}}
	FetchText = Operation[ByID, ItemView]{ID: "fetch-text", Method: "POST", Path: "/api/items/{id}/text", Tag: "items", Scope: access.Read,
		Summary: "Fetch the full text of an item from its page",
		Description: "The article of the page that the item links to becomes the text of the item, for all clients, until the publisher changes the entry. " +
			"A client that may read may request it; it sends a request to the publisher, as robots.txt allows, so that it is limited to 10 a minute and client.",
		Errors: []int{404, 409, 429, 503}}
	ListDuplicates = Operation[ByID, Duplicates]{ID: "list-duplicates", Method: "GET", Path: "/api/items/{id}/duplicates", Tag: "items", Scope: access.Search,
		Summary: "List the original of an item and its duplicates", Errors: []int{404, 503}}
	RepeatItem = Operation[RepeatItemRequest, Duplicates]{ID: "repeat-item", Method: "PUT", Path: "/api/items/{id}/duplicate", Tag: "items", Scope: access.Write,
		Summary:     "Make an item a duplicate of another",
		Description: "Its own duplicates move with it, and all join the event of the other item. Later classification does not change this.",
		Errors:      []int{400, 404, 409, 422, 503}, Pending: duplicatePending}
	DifferItem = Operation[ByID, Duplicates]{ID: "differ-item", Method: "DELETE", Path: "/api/items/{id}/duplicate", Tag: "items", Scope: access.Write,
		Summary:     "Make a duplicate an original again",
		Description: "It stays in its event. Later classification does not change this.", Errors: []int{404, 409, 503}, Pending: duplicatePending}
)

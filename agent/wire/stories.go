package wire

import (
	"time"

	"feedmesh/agent/access"
	"feedmesh/storage"
)

// A StorySearch is a request for a page of stories.
type StorySearch struct {
	Language string    `query:"language" enum:"en,ru,de,fr,es,uk,other" doc:"All languages but these are other."`
	Category string    `query:"category" maxLength:"64" doc:"Only stories of this category."`
	Topic    string    `query:"topic" maxLength:"64" doc:"Only stories with this topic."`
	After    time.Time `query:"after" doc:"Last item at or after."`
	Before   time.Time `query:"before" doc:"Began before."`
	Sources  int       `query:"sources" minimum:"1" maximum:"1000" default:"2" doc:"Carried by at least this many publishers."`
	Sort     string    `query:"sort" enum:"rank,newest,longest" default:"rank" doc:"rank: highest rank first; newest: newest item first; longest: most items first, half as many for each day since the last, of the 500 stories of highest rank."`
	Limit    int       `query:"limit" minimum:"1" maximum:"100" default:"20" doc:"Maximum length of the page."`
	Cursor   string    `query:"cursor" maxLength:"4096" doc:"The value of next of the previous page."`
}

// A StoryPage is a page of stories.
type StoryPage struct {
	Stories []StoryBrief `json:"stories"`
	Next    string       `json:"next,omitempty" doc:"Cursor of the next page; absent on the last."`
}

// A StoryBrief is a story in a list.
type StoryBrief struct {
	storage.Story
	URL        string      `json:"url,omitempty" doc:"URL of the headline's item."`
	FeedID     string      `json:"feed_id,omitempty" doc:"Feed of the headline's item; absent if the item was removed."`
	FeedTitle  string      `json:"feed_title"`
	Publishers []string    `json:"publishers" doc:"Some of its publishers, the headline's first; at most five."`
	Activity   HourlyItems `json:"activity" doc:"When its newest items came."`
	Why        string      `json:"why,omitempty" doc:"Why the newest item that joined an event belongs to it."`
}

// An HourlyItems counts the items of each hour.
type HourlyItems struct {
	Since time.Time `json:"since,omitzero" doc:"When the first hour begins."`
	Hours []int     `json:"hours" doc:"Items first seen in each hour, to that of the newest; a week at most."`
}

// Bursts are the current bursts.
type Bursts struct {
	Bursts []Burst `json:"bursts" doc:"Most items first."`
	Total  int     `json:"total" doc:"Number of items."`
}

// A Burst is a story, category or topic with more new items than usual.
type Burst struct {
	Of    string    `json:"of"`   // "story", "category" or "topic"
	Name  string    `json:"name"` // the story's ID, or the name
	Since time.Time `json:"since"`
	Items int       `json:"items"` // since then
	Title string    `json:"title,omitempty" doc:"Of a story."`
}

// A StoryView is a story with its events and items.
type StoryView struct {
	storage.Story
	Summary    []Quote      `json:"summary" doc:"Sentences of different publishers."`
	Publishers []Publisher  `json:"publishers" doc:"Its publishers, most items first."`
	Timeline   []StoryEvent `json:"timeline" doc:"Its events, the first first."`
	Activity   HourlyItems  `json:"activity" doc:"When its items came."`
	Across     []StoryLink  `json:"across,omitempty" doc:"Stories in another language about the same happening, most similar first; at most three. Absent also while the search index does not answer."`
	Pending    bool         `json:"pending,omitempty" doc:"The edit is accepted and not applied yet."`
	Notes      []string     `json:"notes,omitempty" doc:"Notes on this response."`
}

// A StoryLink is a story in another language.
type StoryLink struct {
	ID       string    `json:"id"`
	Language string    `json:"language" doc:"ISO 639-1."`
	Title    string    `json:"title"`
	Items    int       `json:"items"`
	LastSeen time.Time `json:"last_seen"`
	Why      string    `json:"why" doc:"What both titles name."`
}

// A Quote is a sentence and the item it is taken from.
type Quote struct {
	Text string    `json:"text"`
	Item ItemBrief `json:"item"`
}

// A Publisher is a publisher of a story.
type Publisher struct {
	Name  string `json:"name" doc:"Its host, or the title of its feed."`
	Items int    `json:"items"`
}

// A StoryEvent is an event of a story with its items, oldest first.
type StoryEvent struct {
	ID        string      `json:"id"`
	Title     string      `json:"title" doc:"Title of the item that represents the event."`
	FirstSeen time.Time   `json:"first_seen"`
	LastSeen  time.Time   `json:"last_seen"`
	Items     []StoryItem `json:"items"`
}

// A StoryItem is an item of a story with its duplicates, oldest first.
type StoryItem struct {
	ItemBrief
	Duplicates []ItemBrief `json:"duplicates,omitempty"`
}

// A SplitRequest is an event or an item to take out of a story.
type SplitRequest struct {
	EventID string `json:"event_id,omitempty" maxLength:"64" doc:"Event that becomes a separate story, with all its items."`
	ItemID  string `json:"item_id,omitempty" maxLength:"64" doc:"Item that gets a separate event and story, and is no duplicate."`
}

// A SplitStoryRequest takes an event or an item out of a story.
type SplitStoryRequest struct {
	ID   string `path:"id" maxLength:"64" doc:"ID of a story."`
	Body SplitRequest
}

// A JoinRequest is the story to join another one with.
type JoinRequest struct {
	StoryID string `json:"story_id" minLength:"1" maxLength:"64"`
}

// A JoinStoriesRequest joins two stories.
type JoinStoriesRequest struct {
	ID   string `path:"id" maxLength:"64" doc:"ID of a story."`
	Body JoinRequest
}

// A ListBurstsRequest is a request for bursts.
type ListBurstsRequest struct {
	Of    string `query:"of" enum:"story,category,topic" doc:"Only these."`
	Limit int    `query:"limit" minimum:"1" maximum:"500" default:"100" doc:"Maximum number of bursts."`
}

// A ListRelatedRequest is a request for other items of an item's story.
type ListRelatedRequest struct {
	ID    string `path:"id" maxLength:"64" doc:"ID of an item."`
	Limit int    `query:"limit" minimum:"1" maximum:"100" default:"20" doc:"Maximum number of items."`
}

func storyPending(s StoryView) bool { return s.Pending }

// The operations on stories.
var (
	ListStories = Operation[StorySearch, StoryPage]{ID: "list-stories", Method: "GET", Path: "/api/stories", Tag: "stories", Scope: access.Search,
		Summary: "List stories carried by several publishers, highest rank first", Errors: []int{400, 503}}
	GetStory = Operation[ByID, StoryView]{ID: "get-story", Method: "GET", Path: "/api/stories/{id}", Tag: "stories", Scope: access.Search,
		Summary: "One story: its events in time order, each with its items", Errors: []int{404, 503}}
	ListRelated = Operation[ListRelatedRequest, Related]{ID: "list-related", Method: "GET", Path: "/api/items/{id}/related", Tag: "stories", Scope: access.Search,
		Summary: "Other items of an item's story, without duplicates", Errors: []int{404, 503}}
	ListBursts = Operation[ListBurstsRequest, Bursts]{ID: "list-bursts", Method: "GET", Path: "/api/bursts", Tag: "stories", Scope: access.Search,
		Summary: "List bursts: stories, categories and topics with more items than usual", Errors: []int{503}}
	SplitStory = Operation[SplitStoryRequest, StoryView]{ID: "split-story", Method: "POST", Path: "/api/stories/{id}/split", Tag: "stories", Scope: access.Write,
		Summary:     "Split an event or an item from a story",
		Description: "Later classification does not change this. Returns the story that it left.", Errors: []int{400, 404, 409, 422, 503}, Pending: storyPending}
	JoinStories = Operation[JoinStoriesRequest, StoryView]{ID: "join-stories", Method: "POST", Path: "/api/stories/{id}/join", Tag: "stories", Scope: access.Write,
		Summary:     "Join two stories",
		Description: "Later classification does not change this. The larger story keeps its ID.", Errors: []int{400, 404, 409, 422, 503}, Pending: storyPending}
)

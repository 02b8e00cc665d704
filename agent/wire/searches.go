package wire

import "feedmesh/storage"

// SavedSearches are the searches that are saved, ordered by name.
type SavedSearches struct {
	Searches []storage.SavedSearch `json:"searches"`
}

// A SearchSetting is a search to save.
type SearchSetting struct {
	Title string `json:"title,omitempty" maxLength:"200" doc:"Title; by default its name."`
	Query string `json:"query" maxLength:"4096" doc:"Query string of the search page, such as q=go+-rust&category=software."`
}

package wire

// A Tag is a group of operations in the OpenAPI description.
type Tag struct{ Name, Description string }

// Tags describes the tags of all operations, in the order in which documentation shows them.
var Tags = []Tag{
	{"search", "Full-text search with facets, completions of words, and similar items."},
	{"views", "Named selections of items that are evaluated as items arrive, and may read each other."},
	{"subscriptions", "Receivers to which the items that enter views are sent, with the log of each attempt."},
	{"items", "Items with the reasons for their labels, their duplicates and related items, and corrections of labels and duplicates."},
	{"reading", "Items to read by feed and folder, with the marks, labels and notes of the requesting client."},
	{"follows", "What the client follows and mutes: stories, publishers, feeds, categories, topics and words."},
	{"interests", "Suggestions of items to read, learned from what the token or person opens, once switched on."},
	{"stories", "Stories with their events and coverage, bursts, and manual edits of stories."},
	{"feeds", "Feeds with their settings and their state in the schedule: find, add, change, poll, export and remove them."},
	{"imports", "Jobs that add the feeds of a list, with a result for each line."},
	{"spam", "Items that are spam, with reasons, and corrections."},
	{"rules", "Rule sets and their versions: read, check, test, back-test, store, restore, apply."},
	{"jobs", "Jobs that apply rules to stored items, train the model, or undo an earlier job."},
	{"proxies", "Proxies for requests to feeds, and the hosts that use them."},
	{"mesh", "State, statistics and events of all agents, and the quarantine of tasks that failed all attempts."},
	{"index", "Comparison of the search index with the store, and its repair."},
	{"tokens", "Tokens of clients, with their scopes."},
	{"people", "Users who log in with a password, a passkey or an OpenID provider, with their roles."},
}

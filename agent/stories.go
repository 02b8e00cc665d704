package main

// A storiesCommand is the commands about stories: items that belong together.
type storiesCommand struct {
	List  storiesListCommand  `cmd:"" help:"List stories, the most talked of first."`
	Show  storiesShowCommand  `cmd:"" help:"Print one story: its summary, its events and their items."`
	Split storiesSplitCommand `cmd:"" help:"Take an event or an item out of a story."`
	Join  storiesJoinCommand  `cmd:"" help:"Make two stories one."`
	Eval  storiesEvalCommand  `cmd:"" help:"Say how well items are grouped whose stories are known."`
}

package main

// A storiesCommand is the commands about how items are grouped into stories.
type storiesCommand struct {
	Eval storiesEvalCommand `cmd:"" help:"Say how well items are grouped whose stories are known."`
}

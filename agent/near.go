package main

// A nearCommand is the commands about items that repeat one another.
type nearCommand struct {
	Eval nearEvalCommand `cmd:"" help:"Say how well near-duplicates are found, by our method and by those of its sources."`
}

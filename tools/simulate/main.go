// Simulate serves synthetic feeds, and compares polling policies without requests:
//
//	go run ./tools/simulate farm --feeds 1000 --opml farm.opml
//	go run ./tools/simulate schedule --log items.csv --days 20+7
package main

import "feedmesh/tools/command"

func main() {
	command.Main("simulate", "Simulate feeds and polling policies.", new(simulateCommand))
}

// A simulateCommand groups the simulations.
type simulateCommand struct {
	Farm     simulateFarmCommand     `cmd:"" help:"Serve synthetic feeds to this machine."`
	Schedule simulateScheduleCommand `cmd:"" help:"Compare polling policies on generated or recorded feeds, without requests."`
}

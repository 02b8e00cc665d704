package main

// A simulateCommand is the commands that simulate.
type simulateCommand struct {
	Farm     simulateFarmCommand     `cmd:"" help:"Serve synthetic feeds that behave like real ones, to this machine."`
	Schedule simulateScheduleCommand `cmd:"" help:"Compare polling policies on generated or recorded feeds, without a request."`
}

package service

import "feedmesh/agent/wire"

// routes returns all operations with the methods that serve them.
func (s *Server) routes() []route {
	return []route{
		handle(wire.ListProxies, s.Proxies.List),
		handle(wire.SetProxy, s.Proxies.Set),
		handle(wire.RemoveProxy, s.Proxies.Remove),

		handle(wire.ListTokens, s.Tokens.List),
		handle(wire.AddToken, s.Tokens.Add),
		handle(wire.RemoveToken, s.Tokens.Remove),

		handle(wire.ListRules, s.Rules.List),
		handle(wire.GetRules, s.Rules.Read),
		handle(wire.PutRules, s.Rules.Put),
		handle(wire.ListRuleVersions, s.Rules.Versions),
		handle(wire.CheckRules, s.Rules.Check),
		handle(wire.RestoreRules, s.Rules.Restore),
		handle(wire.DiffRules, s.Rules.Diff),
		handle(wire.TestRules, s.Trials.Test),
		handle(wire.BacktestRules, s.Trials.Backtest),
		handle(wire.ApplyRules, s.Jobs.Apply),
		handle(wire.TrainRules, s.Jobs.Train),

		handle(wire.ListJobs, s.Jobs.List),
		handle(wire.GetJob, s.Jobs.Read),
		handle(wire.CancelJob, s.Jobs.Cancel),
		handle(wire.UndoJob, s.Jobs.Undo),
	}
}

package rest

import "feedmesh/agent/wire"

// routes returns all operations with the methods that serve them.
func (s *Server) routes() []route {
	return []route{
		handle(wire.ListFeeds, s.Feeds.List),
		handle(wire.AddFeeds, s.Feeds.Add),
		handle(wire.GetFeed, s.Feeds.Get),
		handle(wire.SetFeed, s.Feeds.Set),
		handle(wire.RemoveFeed, s.Feeds.Remove),
		handle(wire.RefreshFeed, s.Feeds.Refresh),
		handle(wire.MoveFeed, s.Feeds.Move),
		handle(wire.GetHost, s.Feeds.Host),
		handle(wire.CountFeeds, s.Feeds.Facets),
		handle(wire.ListPolls, s.Feeds.Polls),
		handle(wire.ExportFeeds, s.Feeds.Export),
		handle(wire.ChangeFeeds, s.Bulk.Change),

		handle(wire.ImportFeeds, s.Imports.Start),
		handle(wire.ListImports, s.Imports.List),
		handle(wire.GetImport, s.Imports.Get),
		handle(wire.CancelImport, s.Imports.Cancel),
		handle(wire.ListImportLines, s.Imports.Lines),
		handleCSV(wire.ReportImport, "import.csv", s.Imports.Report),

		handle(wire.DiscoverFeeds, s.Discovery.Find),
		handle(wire.TestFetch, s.FetchTests.Run),

		handle(wire.GetStatus, s.Status.Get),
		handle(wire.GetStatistics, s.Statistics.Get),
		handle(wire.GetRetention, s.Retention.Get),
		handle(wire.TryRetention, s.Retention.Try),
		eventsRoute(),

		handleDownload(wire.MakeBackup, s.Backups.Make),

		handle(wire.ListReading, s.Reading.List),
		handle(wire.GetFolders, s.Reading.Folders),
		handle(wire.MarkItems, s.Reading.MarkItems),
		handle(wire.MarkAllRead, s.Reading.MarkAll),
		handle(wire.ListLabels, s.Reading.Labels),
		handle(wire.GetAnnotation, s.Reading.Annotation),
		handle(wire.AnnotateItem, s.Reading.Annotate),

		handle(wire.ListFollows, s.Follows.List),
		handle(wire.PutFollow, s.Follows.Put),
		handle(wire.RemoveFollow, s.Follows.Remove),

		handle(wire.ListSuggestions, s.Interests.Suggest),
		handle(wire.SignalInterest, s.Interests.Signal),
		handle(wire.ExportInterests, s.Interests.Export),
		handle(wire.SwitchInterests, s.Interests.Switch),
		handle(wire.ForgetInterests, s.Interests.Forget),

		handle(wire.ListProxies, s.Proxies.List),
		handle(wire.SetProxy, s.Proxies.Set),
		handle(wire.RemoveProxy, s.Proxies.Remove),

		handle(wire.ListTokens, s.Tokens.List),
		handle(wire.AddToken, s.Tokens.Add),
		handle(wire.RemoveToken, s.Tokens.Remove),
		handle(wire.GetFever, s.Tokens.Fever),
		handle(wire.SetFever, s.Tokens.SetFever),
		handle(wire.RemoveFever, s.Tokens.RemoveFever),

		handle(wire.ListPeople, s.People.List),
		handle(wire.AddPerson, s.People.Add),
		handle(wire.SetPerson, s.People.Set),
		handle(wire.RemovePerson, s.People.Remove),

		handle(wire.ListRules, s.Rules.List),
		handle(wire.GetRules, s.Rules.Get),
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
		handle(wire.GetJob, s.Jobs.Get),
		handle(wire.CancelJob, s.Jobs.Cancel),
		handle(wire.UndoJob, s.Jobs.Undo),

		handle(wire.GetItem, s.Items.Get),
		handle(wire.ExplainItems, s.Items.Explain),
		handle(wire.ClickItem, s.Items.Click),
		handle(wire.LabelItem, s.Corrections.Label),
		handle(wire.UnlabelItem, s.Corrections.Unlabel),
		handle(wire.FetchText, s.Items.FetchText),
		handle(wire.ListDuplicates, s.Duplicates.List),
		handle(wire.RepeatItem, s.Duplicates.Set),
		handle(wire.DifferItem, s.Duplicates.Clear),

		handle(wire.ListStories, s.Stories.List),
		handle(wire.GetStory, s.Stories.Get),
		handle(wire.ListRelated, s.Stories.Related),
		handle(wire.ListBursts, s.Stories.Bursts),
		handle(wire.SplitStory, s.StoryEdits.Split),
		handle(wire.JoinStories, s.StoryEdits.Join),

		handle(wire.ListQuarantine, s.Quarantine.List),
		handle(wire.GetQuarantined, s.Quarantine.Get),
		handle(wire.ReplayQuarantined, s.Quarantine.Replay),
		handle(wire.DropQuarantined, s.Quarantine.Drop),
		handle(wire.BeginReindex, s.Reindexing.Begin),
		handle(wire.GetReindex, s.Reindexing.State),

		handle(wire.SearchItems, s.Search.Find),
		handle(wire.SuggestWords, s.Search.Suggest),
		handle(wire.ListSimilar, s.Search.Similar),

		handle(wire.ListSubscriptions, s.Subscriptions.List),
		handle(wire.GetSubscription, s.Subscriptions.Get),
		handle(wire.AddSubscription, s.Subscriptions.Add),
		handle(wire.RemoveSubscription, s.Subscriptions.Remove),
		handle(wire.ChangeSubscription, s.Subscriptions.Change),
		handle(wire.RepeatDelivery, s.Subscriptions.Repeat),
		handle(wire.ListAttempts, s.Subscriptions.Attempts),
		handle(wire.ListViews, s.Views.List),
		handle(wire.GetView, s.Views.Get),
		handle(wire.ListViewItems, s.Views.Items),
		handle(wire.SaveView, s.Views.Save),
		handle(wire.RemoveView, s.Views.Remove),
		handle(wire.PreviewView, s.Views.Preview),
		handle(wire.GetViewSeries, s.Views.Series),
		handleCSV(wire.ReportViewSeries, "series.csv", s.Views.ReportSeries),
		viewEventsRoute(),

		handle(wire.ListSpam, s.Spam.List),
		handle(wire.ReportSpam, s.Spam.Report),
		handle(wire.ReleaseSpam, s.Spam.Release),
	}
}

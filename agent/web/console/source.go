package console

import (
	"context"
	"strconv"
	"time"

	"feedmesh/agent/service"
	"feedmesh/agent/wire"
	"feedmesh/storage"
)

// An adapter is a service as a [Source].
type adapter struct{ *service.Service }

func (a adapter) Proxies(ctx context.Context) (wire.Proxies, error) {
	return a.Service.Proxies.List(ctx, wire.None{})
}

func (a adapter) RuleSets(ctx context.Context) ([]wire.RuleSet, error) {
	all, err := a.Rules.List(ctx, wire.None{})
	return all.Sets, err
}

func (a adapter) RuleSetDetail(ctx context.Context, name string, version int64) (wire.RuleSetDetail, error) {
	return a.Rules.Detail(ctx, wire.RuleVersionRequest{Name: name, Version: version})
}

func (a adapter) RuleVersions(ctx context.Context, name string) ([]wire.RuleVersion, error) {
	page, err := a.Rules.Versions(ctx, wire.RuleVersionSearch{Name: name, Limit: storage.MaxRuleVersions})
	return page.Versions, err
}

func (a adapter) CheckRules(ctx context.Context, name, text string) (wire.RuleCheck, error) {
	return a.Rules.Check(ctx, wire.RuleTextRequest{Name: name, RawBody: []byte(text)})
}

func (a adapter) PutRules(ctx context.Context, name string, from int64, note, text string) (wire.SavedRules, error) {
	return a.Rules.Put(ctx, wire.PutRulesRequest{Name: name, Version: strconv.FormatInt(from, 10), Note: note, RawBody: []byte(text)})
}

func (a adapter) RestoreRules(ctx context.Context, name string, version int64) error {
	_, err := a.Rules.Restore(ctx, wire.RestoreRulesRequest{Name: name, Version: version})
	return err
}

func (a adapter) DiffRules(ctx context.Context, name string, from, to int64) (string, error) {
	diff, err := a.Rules.Diff(ctx, wire.DiffRequest{Name: name, From: from, To: to})
	return string(diff.Data), err
}

func (a adapter) ApplyRules(ctx context.Context, name string, version int64) (wire.Job, error) {
	return a.Service.Jobs.Apply(ctx, wire.RuleVersionRequest{Name: name, Version: version})
}

func (a adapter) TrainRules(ctx context.Context, name string) (wire.Job, error) {
	return a.Service.Jobs.Train(ctx, wire.TrainRequest{Name: name})
}

func (a adapter) StartBacktest(of wire.Backtest) (id string, err error) { return a.Trials.Start(of) }

func (a adapter) Backtest(id string) (wire.Backtest, error) { return a.Trials.Progress(id) }

func (a adapter) Jobs(ctx context.Context) ([]wire.Job, error) {
	all, err := a.Service.Jobs.List(ctx, wire.None{})
	return all.Jobs, err
}

func (a adapter) CancelJob(ctx context.Context, id string) error {
	_, err := a.Service.Jobs.Cancel(ctx, wire.ByID{ID: id})
	return err
}

func (a adapter) UndoJob(ctx context.Context, id string) error {
	_, err := a.Service.Jobs.Undo(ctx, wire.ByID{ID: id})
	return err
}

func (a adapter) Item(ctx context.Context, id string) (wire.ItemView, error) {
	return a.Items.Get(ctx, wire.ByID{ID: id})
}

func (a adapter) LabelItem(ctx context.Context, id string, c wire.Correction) (wire.ItemView, error) {
	return a.Corrections.Label(ctx, wire.LabelItemRequest{ID: id, Body: c})
}

func (a adapter) Duplicates(ctx context.Context, id string) (wire.Duplicates, error) {
	return a.Service.Duplicates.List(ctx, wire.ByID{ID: id})
}

func (a adapter) ClearDuplicate(ctx context.Context, id string) (wire.Duplicates, error) {
	return a.Service.Duplicates.Clear(ctx, wire.ByID{ID: id})
}

func (a adapter) Stories(ctx context.Context, q wire.StorySearch) (wire.StoryPage, error) {
	return a.Service.Stories.List(ctx, q)
}

func (a adapter) Story(ctx context.Context, id string) (wire.StoryView, error) {
	return a.Service.Stories.Get(ctx, wire.ByID{ID: id})
}

func (a adapter) Related(ctx context.Context, id string, limit int) (wire.Related, error) {
	return a.Service.Stories.Related(ctx, wire.ListRelatedRequest{ID: id, Limit: limit})
}

func (a adapter) Bursts(ctx context.Context, of string, limit int) (wire.Bursts, error) {
	return a.Service.Stories.Bursts(ctx, wire.ListBurstsRequest{Of: of, Limit: limit})
}

func (a adapter) SplitStory(ctx context.Context, id string, what wire.SplitRequest) (wire.StoryView, error) {
	return a.StoryEdits.Split(ctx, wire.SplitStoryRequest{ID: id, Body: what})
}

func (a adapter) JoinStories(ctx context.Context, id, other string) (wire.StoryView, error) {
	return a.StoryEdits.Join(ctx, wire.JoinStoriesRequest{ID: id, Body: wire.JoinRequest{StoryID: other}})
}

func (a adapter) Quarantine(ctx context.Context, after uint64, limit int) (wire.QuarantinePage, error) {
	return a.Service.Quarantine.List(ctx, wire.QuarantineSearch{After: after, Limit: limit})
}

func (a adapter) ReplayQuarantined(ctx context.Context, seq uint64) error {
	_, err := a.Service.Quarantine.Replay(ctx, wire.BySeq{Seq: seq})
	return err
}

func (a adapter) DropQuarantined(ctx context.Context, seq uint64) error {
	_, err := a.Service.Quarantine.Drop(ctx, wire.BySeq{Seq: seq})
	return err
}

func (a adapter) Search(ctx context.Context, q wire.Search) (wire.SearchResults, error) {
	return a.Service.Search.Find(ctx, q)
}

func (a adapter) Similar(ctx context.Context, id string, limit int) (wire.Similar, error) {
	return a.Service.Search.Similar(ctx, wire.ListSimilarRequest{ID: id, Limit: limit})
}

func (a adapter) Searches(ctx context.Context) ([]storage.SavedSearch, error) {
	all, err := a.SavedSearches.List(ctx, wire.None{})
	return all.Searches, err
}

func (a adapter) PutSearch(ctx context.Context, name string, what wire.SearchSetting) (storage.SavedSearch, error) {
	return a.SavedSearches.Save(ctx, wire.SaveSearchRequest{Name: name, Body: what})
}

func (a adapter) RemoveSearch(ctx context.Context, name string) error {
	_, err := a.SavedSearches.Remove(ctx, wire.SavedSearchName{Name: name})
	return err
}

func (a adapter) Spam(ctx context.Context, feedID, cursor string, limit int) (wire.SpamPage, error) {
	return a.Service.Spam.List(ctx, wire.ListSpamRequest{Feed: feedID, Cursor: cursor, Limit: limit})
}

func (a adapter) SetSpam(ctx context.Context, id string, is bool) (wire.ItemView, error) {
	if is {
		return a.Service.Spam.Report(ctx, wire.ByID{ID: id})
	}
	return a.Service.Spam.Release(ctx, wire.ByID{ID: id})
}

func (a adapter) SpamLists(ctx context.Context) (wire.SpamLists, error) {
	return a.Service.Spam.Lists(ctx)
}

func (a adapter) FindFeeds(ctx context.Context, q wire.FeedSearch) (wire.FeedPage, error) {
	return a.Feeds.List(ctx, q)
}

func (a adapter) FeedFacets(ctx context.Context) (wire.FeedFacets, error) {
	return a.Feeds.Facets(ctx, wire.None{})
}

func (a adapter) ChangeFeeds(ctx context.Context, b wire.BulkChange) (wire.BulkResult, error) {
	return a.Bulk.Change(ctx, wire.ChangeFeedsRequest{Body: b})
}

func (a adapter) Feed(ctx context.Context, id string) (wire.Feed, error) {
	return a.Feeds.Get(ctx, wire.ByID{ID: id})
}

func (a adapter) SetFeed(ctx context.Context, id string, change wire.FeedChange) (wire.Feed, error) {
	return a.Feeds.Set(ctx, wire.SetFeedRequest{ID: id, Body: change})
}

func (a adapter) RemoveFeed(ctx context.Context, id string) error {
	_, err := a.Feeds.Remove(ctx, wire.ByID{ID: id})
	return err
}

func (a adapter) AddFeeds(ctx context.Context, urls, tags []string) (wire.ImportResults, error) {
	return a.Feeds.Add(ctx, wire.AddFeedsRequest{Body: wire.FeedAddresses{URLs: urls, Tags: tags}})
}

func (a adapter) Discover(ctx context.Context, address string) (wire.Discovery, error) {
	return a.Discovery.Find(ctx, wire.DiscoverRequest{Body: wire.DiscoveredAddress{URL: address}})
}

func (a adapter) TestFetch(ctx context.Context, in wire.FetchTestRequest) (wire.FetchTest, error) {
	return a.FetchTests.Run(ctx, wire.TestFetchRequest{Body: in})
}

func (a adapter) Status(ctx context.Context) (wire.Status, error) {
	return a.Service.Status.Get(ctx, wire.None{})
}

func (a adapter) Readiness(ctx context.Context) []wire.Check {
	return a.Service.Status.Readiness(ctx)
}

func (a adapter) Statistics(ctx context.Context, days int, zone *time.Location) (wire.Statistics, error) {
	return a.Service.Statistics.Get(ctx, wire.StatisticsRequest{Days: days, Zone: zone.String()})
}

func (a adapter) Watch(ctx context.Context, client string) (<-chan wire.StreamEvent, error) {
	return a.Events.Watch(ctx, client)
}

func (a adapter) RefreshFeed(ctx context.Context, id string) error {
	_, err := a.Feeds.Refresh(ctx, wire.ByID{ID: id})
	return err
}

func (a adapter) StartImport(ctx context.Context, name string, list []byte) (wire.Import, error) {
	return a.Service.Imports.Start(ctx, wire.ImportFeedsRequest{Name: name, RawBody: list})
}

func (a adapter) Imports(ctx context.Context) (wire.Imports, error) {
	return a.Service.Imports.List(ctx, wire.None{})
}

func (a adapter) Import(ctx context.Context, id string) (wire.Import, error) {
	return a.Service.Imports.Get(ctx, wire.ByID{ID: id})
}

func (a adapter) ImportLines(ctx context.Context, q wire.ImportSearch) (wire.ImportPage, error) {
	return a.Service.Imports.Lines(ctx, q)
}

func (a adapter) CancelImport(ctx context.Context, id string) (wire.Import, error) {
	return a.Service.Imports.Cancel(ctx, wire.ByID{ID: id})
}

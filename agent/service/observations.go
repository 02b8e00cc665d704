package service

import (
	"context"

	"github.com/nats-io/nuid"

	"feedmesh/subjects"
)

// publishObservations publishes observations of a request to the schedule.
func publishObservations(ctx context.Context, out subjects.Publisher, o ...subjects.Observation) error {
	return subjects.Publish(ctx, out, subjects.ObserveQueue, subjects.Observe{Source: "api/" + nuid.Next(), Observations: o})
}

func observation(feedID, url string, outcome subjects.Outcome) subjects.Observation {
	return subjects.Observation{Receipt: subjects.Receipt{FeedID: feedID}, URL: url, Outcome: outcome}
}

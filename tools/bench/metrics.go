package main

import (
	"context"
	"fmt"
	"math"
	"slices"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// metrics are a node's metrics at one time, by name.
type metrics map[string]*dto.MetricFamily

// readMetrics reads the metrics of a node at an address like http://127.0.0.1:8080.
func readMetrics(ctx context.Context, address string) (metrics, error) {
	response, err := get(ctx, address+"/metrics")
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(response.Body)
	if err != nil {
		return nil, fmt.Errorf("read the metrics of %s: %w", address, err)
	}
	return families, nil
}

// sum returns the sum of a counter or gauge over all label sets for which keep returns true.
func (m metrics) sum(name string, keep func(labels map[string]string) bool) (sum float64) {
	for _, one := range m[name].GetMetric() {
		labels := map[string]string{}
		for _, l := range one.GetLabel() {
			labels[l.GetName()] = l.GetValue()
		}
		if keep(labels) {
			sum += one.GetCounter().GetValue() + one.GetGauge().GetValue()
		}
	}
	return sum
}

// since returns the growth of a metric, over all labels.
func (m metrics) since(before metrics, name string) float64 {
	return m.sum(name, all) - before.sum(name, all)
}

// all selects all label sets.
func all(map[string]string) bool { return true }

// notFailing selects all states of feeds but failing: feeds in it are counted in another state too.
func notFailing(labels map[string]string) bool { return labels["state"] != "failing" }

// A histogram counts values by upper bounds, ascending, without accumulation; the last bound is infinite.
type histogram struct {
	bounds []float64
	counts []float64
}

// histogram returns a histogram without labels, empty if it is missing.
func (m metrics) histogram(name string) (h histogram) {
	below := 0.0
	for _, one := range m[name].GetMetric() {
		for _, b := range one.GetHistogram().GetBucket() {
			h.bounds = append(h.bounds, b.GetUpperBound())
			h.counts = append(h.counts, float64(b.GetCumulativeCount())-below)
			below = float64(b.GetCumulativeCount())
		}
		if n := len(h.bounds); n > 0 && !math.IsInf(h.bounds[n-1], 1) {
			h.bounds = append(h.bounds, math.Inf(1))
			h.counts = append(h.counts, float64(one.GetHistogram().GetSampleCount())-below)
		}
	}
	return h
}

// since returns the values added since an earlier state.
func (h histogram) since(before histogram) histogram {
	counts := slices.Clone(h.counts)
	for i := range before.counts {
		counts[i] -= before.counts[i]
	}
	return histogram{h.bounds, counts}
}

// total returns the number of values.
func (h histogram) total() (n float64) {
	for _, c := range h.counts {
		n += c
	}
	return n
}

// quantile returns the q quantile, interpolated linearly within a bucket, or NaN without values. For the last
// bucket it returns the lower bound, which is too low.
func (h histogram) quantile(q float64) float64 {
	rank, low := q*h.total(), 0.0
	for i, n := range h.counts {
		if n > 0 && rank <= n {
			if math.IsInf(h.bounds[i], 1) {
				return low
			}
			return low + (h.bounds[i]-low)*rank/n
		}
		rank -= n
		low = h.bounds[i]
	}
	return math.NaN()
}

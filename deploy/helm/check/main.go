// Check lints a Helm chart, renders it as "helm template" does, and decodes each object strictly, so that unknown fields
// are errors. It prints the objects as a JSON list.
//
//	go run . CHART [VALUES-FILE]
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
	"helm.sh/helm/v3/pkg/releaseutil"
	autoscaling "k8s.io/api/autoscaling/v2"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"
)

// The name and the namespace of the release that is rendered.
const (
	release   = "feedmesh"
	namespace = "feedmesh"
)

func main() {
	if len(os.Args) < 2 || len(os.Args) > 3 {
		fmt.Fprintln(os.Stderr, "usage: check CHART [VALUES-FILE]")
		os.Exit(2)
	}
	objects, err := check(os.Args[1], os.Args[2:]...)
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(objects)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "check:", err)
		os.Exit(1)
	}
}

// check returns the objects of the chart with the values of the files, and all errors.
func check(chart string, files ...string) ([]json.RawMessage, error) {
	values := map[string]any{}
	for _, file := range files {
		v, err := chartutil.ReadValuesFile(file)
		if err != nil {
			return nil, err
		}
		values = v
	}
	var faults []error
	for _, m := range lint.AllWithKubeVersion(chart, values, namespace, nil).Messages {
		if m.Severity >= support.WarningSev {
			faults = append(faults, m)
		}
	}
	rendered, err := render(chart, values)
	if err != nil {
		return nil, errors.Join(append(faults, err)...)
	}
	var objects []json.RawMessage
	for _, path := range slices.Sorted(maps.Keys(rendered)) {
		if filepath.Ext(path) != ".yaml" {
			continue // the definitions of _helpers.tpl
		}
		documents := releaseutil.SplitManifests(rendered[path])
		for _, key := range slices.Sorted(maps.Keys(documents)) {
			object, err := yaml.YAMLToJSONStrict([]byte(documents[key]))
			if err == nil {
				err = decode(object)
			}
			if err != nil {
				faults = append(faults, fmt.Errorf("%s: %w", path, err))
			}
			objects = append(objects, object)
		}
	}
	return objects, errors.Join(faults...)
}

// render returns the rendered templates by path.
func render(path string, values map[string]any) (map[string]string, error) {
	chart, err := loader.Load(path)
	if err != nil {
		return nil, err
	}
	all, err := chartutil.ToRenderValues(chart, values, chartutil.ReleaseOptions{Name: release, Namespace: namespace, IsInstall: true}, nil)
	if err != nil {
		return nil, err
	}
	return engine.Engine{Strict: true}.Render(chart, all)
}

var strict = serializer.NewCodecFactory(scheme.Scheme, serializer.EnableStrict).UniversalDeserializer()

// decode decodes an object of Kubernetes or KEDA into its type.
func decode(object []byte) error {
	var kind meta.TypeMeta
	if err := json.Unmarshal(object, &kind); err != nil {
		return err
	}
	if kind.APIVersion == "keda.sh/v1alpha1" && kind.Kind == "ScaledObject" {
		return yaml.UnmarshalStrict(object, &scaledObject{})
	}
	_, _, err := strict.Decode(object, nil, nil)
	return err
}

// scaledObject has the fields of KEDA 2's ScaledObject that the chart sets. KEDA's own package would bring a hundred modules.
type scaledObject struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata"`
	Spec            struct {
		ScaleTargetRef struct {
			Kind string `json:"kind"`
			Name string `json:"name"`
		} `json:"scaleTargetRef"`
		MinReplicaCount int32 `json:"minReplicaCount"`
		MaxReplicaCount int32 `json:"maxReplicaCount"`
		Advanced        struct {
			HorizontalPodAutoscalerConfig struct {
				Behavior autoscaling.HorizontalPodAutoscalerBehavior `json:"behavior"`
			} `json:"horizontalPodAutoscalerConfig"`
		} `json:"advanced"`
		Triggers []struct {
			Type       string                       `json:"type"`
			MetricType autoscaling.MetricTargetType `json:"metricType"`
			Metadata   map[string]string            `json:"metadata"`
		} `json:"triggers"`
	} `json:"spec"`
}

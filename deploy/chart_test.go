package deploy_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"feedmesh/agent/role"
	"feedmesh/config"
)

// An object of Kubernetes or KEDA, with the fields that the tests read.
type object struct {
	Kind     string
	Metadata struct{ Name string }
	Data     map[string]string
	Spec     struct {
		Replicas       *int
		ScaleTargetRef struct{ Kind, Name string }
		Triggers       []struct{ Metadata map[string]string }
		Template       struct {
			Spec struct {
				TerminationGracePeriodSeconds int
				Containers                    []struct {
					Image string
					Env   []struct{ Name, Value string }
				}
			}
		}
	}
}

// agents reports whether the object runs agents.
func (o object) agents() bool {
	return (o.Kind == "Deployment" || o.Kind == "StatefulSet") && !strings.HasSuffix(o.Metadata.Name, "-nats")
}

// env returns the agents' environment, with the secrets of a folder.
func (o object) env(secrets string) map[string]string {
	all := map[string]string{}
	for _, v := range o.Spec.Template.Spec.Containers[0].Env {
		all[v.Name] = strings.ReplaceAll(v.Value, "/run/secrets/feedmesh", secrets)
	}
	return all
}

// runCheck runs the program helm/check, whose module has Helm and the types of Kubernetes, on the chart: it lints the chart,
// and decodes the objects strictly.
func runCheck(values ...string) (objects, faults string, err error) {
	check := exec.Command("go", append([]string{"run", ".", "../feedmesh"}, values...)...)
	check.Dir = filepath.Join("helm", "check")
	var out, problems strings.Builder
	check.Stdout, check.Stderr = &out, &problems
	err = check.Run()
	return out.String(), problems.String(), err
}

// chart returns the valid objects of the chart with the values of the file.
func chart(t *testing.T, values string) map[string]object {
	t.Helper()
	out, faults, err := runCheck(values)
	if err != nil {
		t.Fatalf("check the chart with %s: %v\n%s", values, err, faults)
	}
	var list []object
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		t.Fatal(err)
	}
	all := map[string]object{}
	for _, o := range list {
		all[o.Kind+" "+o.Metadata.Name] = o
	}
	return all
}

const (
	leastValues = "../testdata/least.yaml"
	allValues   = "../testdata/all.yaml"
)

func TestChart_RendersValidObjects(t *testing.T) {
	least, all := chart(t, leastValues), chart(t, allValues)
	if _, is := least["ScaledObject feedmesh-crawl"]; is {
		t.Error("got a ScaledObject without autoscaling")
	}
	for _, name := range []string{"Ingress feedmesh", "ScaledObject feedmesh-crawl", "NetworkPolicy feedmesh-crawl", "PodDisruptionBudget feedmesh-home", "StatefulSet feedmesh-nats", "Service feedmesh-home"} {
		if _, is := all[name]; !is {
			t.Errorf("no %s", name)
		}
	}
	if _, faults, err := runCheck(); err == nil || !strings.Contains(faults, "set image") {
		t.Errorf("got %v, %s without values, want the advice to set the image", err, faults)
	}
}

// Each group of agents starts with valid settings and with secrets that deploy/secrets creates.
func TestChart_SettingsAreValid(t *testing.T) {
	c := &cluster{t: t, dir: t.TempDir()}
	c.makeSecrets("feedmesh-nats-0.feedmesh-nats:6222", "feedmesh-nats-1.feedmesh-nats:6222", "feedmesh-nats-2.feedmesh-nats:6222")
	_, variables := knownSettings(t)
	for name, o := range chart(t, allValues) {
		if !o.agents() {
			continue
		}
		t.Run(name, func(t *testing.T) {
			for variable, value := range o.env(filepath.Join(c.dir, "secrets")) {
				if !slices.Contains(variables, variable) {
					t.Errorf("unknown setting %s", variable)
				}
				t.Setenv(variable, value)
			}
			var settings config.Config
			parser, err := kong.New(&settings, config.Types()...)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := parser.Parse(nil); err != nil {
				t.Fatal(err)
			}
			if user := settings.NATSLogin.NATSUser; string(settings.NATSLogin.NATSPassword) != c.password(user) {
				t.Errorf("got another password than that of the user %s", user)
			}
			if got := o.Spec.Template.Spec.TerminationGracePeriodSeconds; got != 40 {
				t.Errorf("got %d s to stop, want 40 as in compose.yaml", got)
			}
		})
	}
}

func TestChart_RolesAreComplete(t *testing.T) {
	var all []string
	for _, o := range chart(t, leastValues) {
		if !o.agents() {
			continue
		}
		env := o.env("")
		roles, err := role.Select(strings.Split(env["FEEDMESH_ROLES"], ","))
		if err != nil {
			t.Errorf("%s: %v", o.Metadata.Name, err)
		}
		all = append(all, role.Names(roles)...)
		for _, r := range roles {
			if _, has := env["FEEDMESH_STORE"]; has != (r.Store || r.Index) {
				t.Errorf("%s: role %s needs the store: %t, has it: %t", o.Metadata.Name, r.Name, r.Store || r.Index, has)
			}
		}
	}
	want := role.Names(role.All)
	slices.Sort(all)
	slices.Sort(want)
	if !slices.Equal(all, want) {
		t.Errorf("got roles %v, want each of %v once", all, want)
	}
}

// The NATS servers of the chart have the permissions and the version of compose.yaml, which the other tests run.
func TestChart_NATSServersAreThoseOfCompose(t *testing.T) {
	all := chart(t, leastValues)
	if got := all["ConfigMap feedmesh-nats"].Data["feedmesh.conf"]; strings.TrimSpace(got) != strings.TrimSpace(read(t, "nats/feedmesh.conf")) {
		t.Error("the configuration of the NATS servers differs from nats/feedmesh.conf")
	}
	nats := all["StatefulSet feedmesh-nats"]
	if got := nats.Spec.Template.Spec.Containers[0].Image; !strings.Contains(read(t, "compose.yaml"), "image: "+got+"\n") {
		t.Errorf("got the image %s, want that of compose.yaml", got)
	}
	for _, o := range all {
		if !o.agents() {
			continue
		}
		urls := strings.Split(o.env("")["FEEDMESH_NATS"], ",")
		if len(urls) != *nats.Spec.Replicas || urls[2] != "nats://feedmesh-nats-2.feedmesh-nats:4222" {
			t.Errorf("%s: got NATS servers %v, want %d", o.Metadata.Name, urls, *nats.Spec.Replicas)
		}
	}
}

func TestChart_ScalesByMetricsThatExist(t *testing.T) {
	need(t, "promtool")
	var queries, rules strings.Builder
	rules.WriteString("groups: [{ name: chart, rules: [")
	objects := chart(t, allValues)
	for _, o := range objects {
		if o.Kind != "ScaledObject" {
			continue
		}
		target := o.Spec.ScaleTargetRef
		if scaled, is := objects[target.Kind+" "+target.Name]; !is || scaled.Spec.Replicas != nil {
			t.Errorf("%s: want a %s %s without replicas, which an upgrade would reset", o.Metadata.Name, target.Kind, target.Name)
		}
		for _, trigger := range o.Spec.Triggers {
			query, err := json.Marshal(trigger.Metadata["query"])
			if err != nil {
				t.Fatal(err)
			}
			queries.WriteString(trigger.Metadata["query"] + "\n")
			rules.WriteString("{ record: value, labels: { scaled: \"" + o.Metadata.Name + "\" }, expr: " + string(query) + " },")
		}
	}
	checkMetrics(t, "the chart", queries.String(), 3)
	path := filepath.Join(t.TempDir(), "rules.yaml")
	if err := os.WriteFile(path, []byte(rules.String()+"] }]\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	output(t, "promtool", "check", "rules", "--lint=none", path)
}

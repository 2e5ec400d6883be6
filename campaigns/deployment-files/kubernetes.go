package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// Files beside the kustomization: an example, and one for the Prometheus Operator.
const secretExample, podMonitor = "secret.example.yaml", "pod-monitor.yaml"

// Renders the kustomization and validates each object against the schemas of each version of Kubernetes.
func kubernetesProblems(folder string, schemas []string) []string {
	rendered, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), folder)
	if err != nil {
		return []string{err.Error()}
	}
	var objects []map[string]any
	for _, resource := range rendered.Resources() {
		object, err := resource.Map()
		if err != nil {
			return []string{err.Error()}
		}
		objects = append(objects, object)
	}
	secret, problems := read(filepath.Join(folder, secretExample))
	for _, object := range append(objects, secret) {
		for _, versions := range schemas {
			if err := validate(object, versions); err != nil {
				problems = append(problems, fmt.Sprintf("%s: %v", object["kind"], err))
			}
		}
	}
	if text, err := os.ReadFile(filepath.Join(folder, podMonitor)); err != nil {
		problems = append(problems, err.Error())
	} else if err := yaml.UnmarshalStrict(text, &monitoring.PodMonitor{}); err != nil {
		problems = append(problems, err.Error())
	}
	return append(problems, graceProblems(objects)...)
}

func read(file string) (map[string]any, []string) {
	object := map[string]any{}
	text, err := os.ReadFile(file)
	if err == nil {
		err = yaml.UnmarshalStrict(text, &object)
	}
	if err != nil {
		return object, []string{err.Error()}
	}
	return object, nil
}

// The schemas refer to each other by paths below /api.
type schemaFolder string

func (folder schemaFolder) Load(url string) (any, error) {
	file, err := os.Open(filepath.Join(string(folder), filepath.Base(url)))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return jsonschema.UnmarshalJSON(file)
}

var compilers = map[string]*jsonschema.Compiler{}

func validate(object map[string]any, schemas string) error {
	compiler := compilers[schemas]
	if compiler == nil {
		compiler = jsonschema.NewCompiler()
		compiler.UseLoader(schemaFolder(schemas))
		compilers[schemas] = compiler
	}
	group, version, found := strings.Cut(fmt.Sprint(object["apiVersion"]), "/")
	suffix := "-" + group
	if found {
		suffix = "-" + strings.Split(group, ".")[0] + "-" + version
	}
	schema, err := compiler.Compile("file:///api/" + strings.ToLower(fmt.Sprint(object["kind"])) + suffix + ".json")
	if err != nil {
		return err
	}
	return schema.Validate(object)
}

// A pod needs time for the pause before SIGTERM and for the requests in progress after it.
func graceProblems(objects []map[string]any) []string {
	settings, _ := find(objects, "ConfigMap")["data"].(map[string]any)
	grace, err := strconv.ParseFloat(fmt.Sprint(settings["SHUTDOWN_GRACE_SECONDS"]), 64)
	if err != nil {
		return []string{"SHUTDOWN_GRACE_SECONDS is not set"}
	}
	pod := at(find(objects, "Deployment"), "spec", "template", "spec")
	containers, _ := pod["containers"].([]any)
	if len(containers) != 1 {
		return []string{"the pod must have one container"}
	}
	container, _ := containers[0].(map[string]any)
	pause := number(at(container, "lifecycle", "preStop", "sleep")["seconds"])
	if total := number(pod["terminationGracePeriodSeconds"]); total <= pause+grace {
		return []string{fmt.Sprintf("terminationGracePeriodSeconds is %v, not over %v", total, pause+grace)}
	}
	return nil
}

func find(objects []map[string]any, kind string) map[string]any {
	for _, object := range objects {
		if object["kind"] == kind {
			return object
		}
	}
	return nil
}

func at(object map[string]any, path ...string) map[string]any {
	for _, name := range path {
		object, _ = object[name].(map[string]any)
	}
	return object
}

func number(value any) float64 {
	parsed, _ := strconv.ParseFloat(fmt.Sprint(value), 64)
	return parsed
}

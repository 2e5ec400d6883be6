// Checks the files by which the service is deployed: docker-compose.yml, the Dockerfile and the manifests
// for Kubernetes. Prints one line for each problem; the exit code is 1 if there is one.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: deployment-check CHECKOUT SCHEMAS...")
		os.Exit(64)
	}
	problems := problemsOf(os.Args[1], os.Args[2:])
	for _, problem := range problems {
		fmt.Fprintln(os.Stderr, problem)
	}
	if len(problems) > 0 {
		os.Exit(1)
	}
}

// Checks a checkout. Each folder of schemas belongs to one version of Kubernetes.
func problemsOf(checkout string, schemas []string) []string {
	var problems []string
	add := func(file string, found []string) {
		for _, problem := range found {
			problems = append(problems, file+": "+problem)
		}
		fmt.Printf("%s: %d problems\n", file, len(found))
	}
	add("docker-compose.yml", composeProblems(checkout))
	add("Dockerfile", dockerfileProblems(filepath.Join(checkout, "Dockerfile")))
	add("deploy/kubernetes", kubernetesProblems(filepath.Join(checkout, "deploy/kubernetes"), schemas))
	return problems
}

package main

import (
	"context"
	"os"

	"github.com/moby/buildkit/client/llb"
	"github.com/moby/buildkit/client/llb/sourceresolver"
	"github.com/moby/buildkit/frontend/dockerfile/dockerfile2llb"
	"github.com/opencontainers/go-digest"
)

// An image about which nothing is known, in place of those in registries.
type unknownImage struct{}

func (unknownImage) ResolveImageConfig(_ context.Context, name string, _ sourceresolver.Opt) (string, digest.Digest, []byte, error) {
	return name, digest.FromString(name), []byte(`{"config":{}}`), nil
}

// Lints a Dockerfile with the rules of `docker build --check`.
func dockerfileProblems(file string) []string {
	text, err := os.ReadFile(file)
	if err != nil {
		return []string{err.Error()}
	}
	source := llb.NewSourceMap(nil, "Dockerfile", "dockerfile", text)
	source.Definition = &llb.Definition{}
	results, err := dockerfile2llb.DockerfileLint(context.Background(), text, dockerfile2llb.ConvertOpt{
		SourceMap:    source,
		MetaResolver: unknownImage{},
	})
	if err != nil {
		return []string{err.Error()}
	}
	var problems []string
	for _, warning := range results.Warnings {
		problems = append(problems, warning.RuleName+": "+warning.Detail)
	}
	if results.Error != nil {
		problems = append(problems, results.Error.Message)
	}
	return problems
}

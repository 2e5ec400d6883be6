package main

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
)

// For each profile, which is also the value of STORE: the service that is the store.
var stores = map[string]string{"mongodb": "mongo", "postgresql": "postgresql"}

// Validates a compose file against the Compose specification, and checks what the service needs to be safe behind its
// proxy.
func composeProblems(file string) []string {
	var problems []string
	for profile, store := range stores {
		variables := []string{"COMPOSE_PROFILES=" + profile, "POSTGRES_PASSWORD=secret", "REDIS_PASSWORD=secret"}
		for _, required := range []string{"COMPOSE_PROFILES", "REDIS_PASSWORD"} {
			isRequired := func(variable string) bool { return strings.HasPrefix(variable, required+"=") }
			if _, err := load(file, slices.DeleteFunc(slices.Clone(variables), isRequired)...); err == nil {
				problems = append(problems, "it starts without "+required)
			}
		}
		project, err := load(file, variables...)
		if err != nil {
			return append(problems, err.Error())
		}
		for _, problem := range projectProblems(project, profile, store) {
			problems = append(problems, profile+": "+problem)
		}
	}
	return problems
}

func load(file string, environment ...string) (*types.Project, error) {
	options, err := cli.NewProjectOptions([]string{file}, cli.WithEnv(environment), cli.WithInterpolation(true),
		cli.WithDefaultProfiles())
	if err != nil {
		return nil, err
	}
	return options.LoadProject(context.Background())
}

func projectProblems(project *types.Project, profile, store string) []string {
	var problems []string
	require := func(holds bool, format string, values ...any) {
		if !holds {
			problems = append(problems, fmt.Sprintf(format, values...))
		}
	}
	for name, service := range project.Services {
		published := len(service.Ports) > 0
		require(published == (name == "proxy"), "%s: the proxy, and no other service, must publish a port", name)
		require(slices.Contains(service.SecurityOpt, "no-new-privileges:true"), "%s may gain privileges", name)
		require(!service.Privileged, "%s is privileged", name)
	}
	catalogue := project.Services["catalogue"]
	require(catalogue.ContainerName == "", "catalogue has a container_name and cannot be scaled")
	require(catalogue.User == "node", "catalogue runs as %q", catalogue.User)
	require(catalogue.ReadOnly, "catalogue writes into its image")
	require(slices.Equal(catalogue.CapDrop, []string{"ALL"}), "catalogue keeps capabilities")
	require(catalogue.HealthCheck == nil, "catalogue has a health check other than that of the image")
	chosen := catalogue.Environment["STORE"]
	require(chosen != nil && *chosen == profile, "catalogue has another store")
	for _, other := range stores {
		_, runs := project.Services[other]
		require(runs == (other == store), "%s runs, or does not, against the profile", other)
	}
	for _, name := range []string{store, "redis"} {
		require(project.Services[name].HealthCheck != nil, "%s has no health check", name)
		_, waits := catalogue.DependsOn[name]
		require(waits, "catalogue does not wait for %s", name)
		_, onEdge := project.Services[name].Networks["edge"]
		require(!onEdge, "%s can be reached by the proxy", name)
	}
	trusted := catalogue.Environment["TRUSTED_PROXIES"]
	edge := project.Services["proxy"].Networks["edge"]
	require(trusted != nil && edge != nil && *trusted == edge.Ipv4Address, "TRUSTED_PROXIES is not the IP address of the proxy")
	require(isReserved(project.Networks["edge"], edge), "Docker may give the IP address of the proxy to another container")
	return problems
}

// Reports whether Docker keeps the fixed IP address of the proxy out of the range for other containers.
func isReserved(network types.NetworkConfig, proxy *types.ServiceNetworkConfig) bool {
	if proxy == nil || len(network.Ipam.Config) != 1 {
		return false
	}
	pool := network.Ipam.Config[0]
	address, err := netip.ParseAddr(proxy.Ipv4Address)
	subnet, subnetErr := netip.ParsePrefix(pool.Subnet)
	dynamic, dynamicErr := netip.ParsePrefix(pool.IPRange)
	return err == nil && subnetErr == nil && dynamicErr == nil && subnet.Contains(address) && !dynamic.Contains(address)
}

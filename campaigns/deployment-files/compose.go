package main

import (
	"context"
	"fmt"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
)

// For each set of files, which docs/how-to/containers.md names: the value of STORE, and the service that is the store.
var deployments = []struct {
	files          []string
	chosen, server string
}{
	{[]string{"docker-compose.yml"}, "mongodb", "mongo"},
	{[]string{"docker-compose.yml", "deploy/compose/postgresql.yml"}, "postgresql", "postgresql"},
}

// Validates the compose files of a checkout against the Compose specification, and checks what the service needs to be safe
// behind its proxy. No variable is set: nothing has to be chosen before the first start, and no password is known.
func composeProblems(checkout string) []string {
	var problems []string
	for _, deployment := range deployments {
		var files []string
		for _, file := range deployment.files {
			files = append(files, filepath.Join(checkout, file))
		}
		options, err := cli.NewProjectOptions(files, cli.WithInterpolation(true), cli.WithDefaultProfiles())
		if err != nil {
			return append(problems, err.Error())
		}
		project, err := options.LoadProject(context.Background())
		if err != nil {
			return append(problems, err.Error())
		}
		for _, problem := range projectProblems(project, deployment.chosen, deployment.server) {
			problems = append(problems, deployment.chosen+": "+problem)
		}
	}
	return problems
}

func projectProblems(project *types.Project, chosen, store string) []string {
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
		require(slices.Equal(service.CapDrop, []string{"ALL"}), "%s keeps capabilities", name)
		for variable, value := range service.Environment {
			isPassword := strings.Contains(variable, "PASSWORD") && !strings.HasSuffix(variable, "_FILE")
			require(!isPassword || value == nil || *value == "", "%s has a password in its environment", name)
		}
	}
	catalogue := project.Services["catalogue"]
	require(catalogue.ContainerName == "", "catalogue has a container_name and cannot be scaled")
	require(catalogue.User == "node", "catalogue runs as %q", catalogue.User)
	require(catalogue.ReadOnly, "catalogue writes into its image")
	require(catalogue.HealthCheck == nil, "catalogue has a health check other than that of the image")
	value := catalogue.Environment["STORE"]
	require(value != nil && *value == chosen, "catalogue has another store")
	for _, other := range deployments {
		_, runs := project.Services[other.server]
		require(runs == (other.server == store), "%s runs, or does not, against STORE", other.server)
	}
	for _, name := range []string{store, "redis", "proxy"} {
		condition := project.Services[name].DependsOn["setup"].Condition
		require(condition == "service_completed_successfully", "%s does not wait for what setup makes", name)
	}
	for _, name := range []string{store, "redis"} {
		require(project.Services[name].HealthCheck != nil, "%s has no health check", name)
		require(catalogue.DependsOn[name].Condition == "service_healthy", "catalogue does not wait for %s", name)
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

// Validates a compose file against the Compose specification, and holds it to what the service needs to be safe behind
// its proxy. Prints a line a fault; the exit code is 1 where there is one.
package main

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"slices"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: compose-check FILE")
		os.Exit(64)
	}
	file := os.Args[1]
	if _, err := load(file); err == nil {
		fail("it starts without REDIS_PASSWORD")
	}
	project, err := load(file, "REDIS_PASSWORD=secret")
	if err != nil {
		fail(err.Error())
	}
	faults := faultsOf(project)
	for _, fault := range faults {
		fmt.Fprintln(os.Stderr, fault)
	}
	if len(faults) > 0 {
		os.Exit(1)
	}
	fmt.Printf("%s: %d services, as the Compose specification has them\n", file, len(project.Services))
}

func load(file string, environment ...string) (*types.Project, error) {
	options, err := cli.NewProjectOptions([]string{file}, cli.WithEnv(environment), cli.WithInterpolation(true))
	if err != nil {
		return nil, err
	}
	return options.LoadProject(context.Background())
}

func faultsOf(project *types.Project) []string {
	var faults []string
	claim := func(holds bool, format string, values ...any) {
		if !holds {
			faults = append(faults, fmt.Sprintf(format, values...))
		}
	}
	for name, service := range project.Services {
		published := len(service.Ports) > 0
		claim(published == (name == "proxy"), "%s: the proxy, and it alone, publishes a port", name)
		claim(slices.Contains(service.SecurityOpt, "no-new-privileges:true"), "%s may gain privileges", name)
		claim(!service.Privileged, "%s is privileged", name)
	}
	catalogue := project.Services["catalogue"]
	claim(catalogue.ContainerName == "", "catalogue has a name of its own and cannot be scaled")
	claim(catalogue.User == "node", "catalogue runs as %q", catalogue.User)
	claim(catalogue.ReadOnly, "catalogue writes into its image")
	claim(slices.Equal(catalogue.CapDrop, []string{"ALL"}), "catalogue keeps capabilities")
	claim(catalogue.HealthCheck != nil, "catalogue has no health check")
	for _, name := range []string{"mongo", "redis"} {
		claim(project.Services[name].HealthCheck != nil, "%s has no health check", name)
		_, onEdge := project.Services[name].Networks["edge"]
		claim(!onEdge, "%s can be reached by the proxy", name)
	}
	trusted := catalogue.Environment["TRUSTED_PROXIES"]
	edge := project.Services["proxy"].Networks["edge"]
	claim(trusted != nil && edge != nil && *trusted == edge.Ipv4Address, "TRUSTED_PROXIES is not the proxy's one address")
	claim(isReserved(project.Networks["edge"], edge), "the proxy's address may be given to another container")
	return faults
}

// Whether Docker gives this fixed address to no other container by itself.
func isReserved(network types.NetworkConfig, proxy *types.ServiceNetworkConfig) bool {
	if proxy == nil || len(network.Ipam.Config) != 1 {
		return false
	}
	pool := network.Ipam.Config[0]
	address, err := netip.ParseAddr(proxy.Ipv4Address)
	subnet, subnetErr := netip.ParsePrefix(pool.Subnet)
	given, givenErr := netip.ParsePrefix(pool.IPRange)
	return err == nil && subnetErr == nil && givenErr == nil && subnet.Contains(address) && !given.Contains(address)
}

func fail(fault string) {
	fmt.Fprintln(os.Stderr, fault)
	os.Exit(1)
}

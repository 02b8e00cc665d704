// Package machines makes small machines on one: each has a network namespace with an address of its own, and may use a share
// of a core. Programs on them reach servers of this machine at their loopback addresses, such as 127.1.0.1, and those at
// 127.0.0.1 by links. It needs Linux and root.
package machines

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"feedmesh/tests/engines"
)

// A Network connects machines with this one by a bridge.
type Network struct {
	name     string // of the bridge; prefix of all names
	subnet   string // first three numbers of the addresses
	machines []*Machine
}

// A Machine is a network namespace and a limit of CPU time.
type Machine struct {
	Address string // IPv4

	namespace string
	device    string // of this machine, to the namespace
	group     group
}

// ErrUnavailable is returned where namespaces or control groups can't be made.
var ErrUnavailable = errors.New("small machines need Linux, root, iproute2, and control groups for CPU time")

// NewNetwork returns a network without machines. Its number, up to 255, is unique on this machine.
func NewNetwork(number uint8) (*Network, error) {
	if os.Getuid() != 0 {
		return nil, ErrUnavailable
	}
	n := &Network{name: "fm" + strconv.Itoa(os.Getpid()), subnet: fmt.Sprintf("10.77.%d.", number)}
	err := run(
		"ip link add "+n.name+" type bridge",
		"ip addr add "+n.subnet+"1/24 dev "+n.name,
		"ip link set "+n.name+" up",
	)
	if err == nil {
		err = routeLoopback("", n.name)
	}
	if err != nil {
		n.Close()
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return n, nil
}

// Close removes the network and its machines, whose programs must have ended.
func (n *Network) Close() error {
	var errs []error
	for _, m := range n.machines {
		// The kernel deletes the devices of a namespace some time after it, but the next network has devices of the same names.
		errs = append(errs, run("ip link del "+m.device), run("ip netns del "+m.namespace), m.group.remove())
	}
	return errors.Join(append(errs, run("ip link del "+n.name))...)
}

// Add adds a machine that may use a share of a core, such as 0.15.
func (n *Network) Add(share float64) (*Machine, error) {
	i := len(n.machines) + 2
	m := &Machine{Address: n.subnet + strconv.Itoa(i), namespace: n.name + "-" + strconv.Itoa(i), device: n.name + "v" + strconv.Itoa(i)}
	n.machines = append(n.machines, m)
	inside := "ip -n " + m.namespace + " "
	err := run(
		"ip netns add "+m.namespace,
		"ip link add "+m.device+" type veth peer name eth0 netns "+m.namespace,
		"ip link set "+m.device+" master "+n.name+" up",
		inside+"addr add "+m.Address+"/24 dev eth0",
		inside+"link set eth0 up",
		inside+"link set lo up",
		// Loopback addresses are those of this machine.
		inside+"route del local 127.0.0.0/8 dev lo table local",
		inside+"route del local 127.0.0.1 dev lo table local",
		inside+"route add 127.0.0.0/8 via "+n.subnet+"1 src "+m.Address,
	)
	if err == nil {
		err = routeLoopback(m.namespace, "eth0")
	}
	if err == nil {
		quota := strconv.Itoa(int(share * period))
		m.group, err = newGroup(m.namespace, "cpu",
			limits{{"cpu.cfs_period_us", strconv.Itoa(period)}, {"cpu.cfs_quota_us", quota}},
			limits{{"cpu.max", quota + " " + strconv.Itoa(period)}})
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return m, nil
}

// On changes a process, before its start, to run on the machine.
func (m *Machine) On(p *engines.Process) {
	p.Args = append([]string{"netns", "exec", m.namespace, p.Path}, p.Args...)
	p.Path = "ip"
	m.group.on(p)
}

// period is the time in which a group may use its share, in microseconds. It is short, so that programs pause for short times.
const period = 20_000

// routeLoopback lets packets of loopback addresses pass an interface of a namespace.
func routeLoopback(namespace, link string) error {
	var settings []string
	for _, one := range []string{link, "all"} {
		settings = append(settings, "net.ipv4.conf."+one+".route_localnet=1", "net.ipv4.conf."+one+".rp_filter=0")
	}
	command := "sysctl -q " + strings.Join(settings, " ")
	if namespace != "" {
		command = "ip netns exec " + namespace + " " + command
	}
	return run(command)
}

// run runs commands, whose words are separated by spaces, until one fails.
func run(commands ...string) error {
	for _, command := range commands {
		words := strings.Fields(command)
		if out, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", command, err, out)
		}
	}
	return nil
}

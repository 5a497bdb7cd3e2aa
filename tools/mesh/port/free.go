// Package port finds TCP ports of this machine that are free, and says who holds one that is not.
package port

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

// Private ports are taken from below the range out of which the kernel serves outgoing connections (from 32768), so
// that no connection takes the port of a program that is down for the moment it needs to start again.
const (
	lowest  = 20000
	highest = 32000
)

// Free gives n different ports of the loopback address on which nobody listens now, and which nobody else is given
// while this process lives.
func Free(n int) ([]int, error) {
	ports := make([]int, 0, n)
	listeners := make([]net.Listener, 0, n) // all are held until the last is found, so that none is found twice
	defer func() {
		for _, l := range listeners {
			_ = l.Close()
		}
	}()
	for range 1000 {
		if len(ports) == n {
			return ports, nil
		}
		candidate := lowest + rand.IntN(highest-lowest) //nolint:gosec // a port is no secret
		giveBack, ours := claim(candidate)
		if !ours {
			continue
		}
		l, err := listen(loopback(candidate))
		if err != nil {
			giveBack()
			continue
		}
		listeners = append(listeners, l)
		ports = append(ports, candidate)
	}
	return nil, errors.New("no free port found between " + strconv.Itoa(lowest) + " and " + strconv.Itoa(highest))
}

// Keep gives the port that was used before when it is still free, else another one.
func Keep(before int) (int, error) {
	if before != 0 && Check(loopback(before)) == nil {
		return before, nil
	}
	ports, err := Free(1)
	if err != nil {
		return 0, err
	}
	return ports[0], nil
}

// Check is nil when a program could listen on the address now. Its error names who does, where the system tells.
func Check(addr string) error {
	l, err := listen(addr)
	if err == nil {
		return l.Close()
	}
	if holder := holderOf(addr); holder != "" {
		return fmt.Errorf("taken by %s", holder)
	}
	return err
}

func listen(addr string) (net.Listener, error) {
	return net.Listen("tcp", addr) //nolint:noctx // closed again at once, nothing to cancel
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

package port

import (
	"strconv"
	"syscall"
)

// claim keeps others that look for free ports away from one between the moment we find it and the moment our program
// listens there. It holds as long as this process lives, or until it is given back: an abstract socket's name is gone
// with its process, and leaves no file behind (unix(7)). ok is false when somebody else has claimed the port.
func claim(port int) (giveBack func(), ok bool) {
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_DGRAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return func() {}, true // no claims here: the port itself decides
	}
	giveBack = func() { _ = syscall.Close(fd) }
	if err := syscall.Bind(fd, &syscall.SockaddrUnix{Name: "@patient-mesh/port/" + strconv.Itoa(port)}); err != nil {
		giveBack()
		return nil, false
	}
	return giveBack, true
}

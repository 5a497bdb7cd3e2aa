package mesh

import "syscall"

// room is what the databases of all tests take together, several times over.
const room = 4 << 30

// inMemory is a folder whose files are never written to a disk, where a database that nobody keeps waits for none; empty
// where there is none with room for it.
func inMemory() string {
	const folder = "/dev/shm"
	var fs syscall.Statfs_t
	if err := syscall.Statfs(folder, &fs); err != nil || fs.Bavail < room/uint64(max(fs.Bsize, 1)) || syscall.Access(folder, writable) != nil {
		return ""
	}
	return folder
}

const writable = 2 // access(2), W_OK

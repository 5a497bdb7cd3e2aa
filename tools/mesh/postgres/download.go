package postgres

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	embedded "github.com/fergusstrange/embedded-postgres"

	"github.com/patient-mesh/patient-mesh/tools/mesh/port"
)

const downloadVersion = embedded.V17

// downloadFolder is where downloaded servers are kept, for all meshes of this user. Root's is one that the user who
// then runs the server can reach.
func downloadFolder() string {
	if os.Geteuid() == 0 {
		return filepath.Join(systemFolder, "postgres")
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	return filepath.Join(cache, "patient-mesh", "postgres")
}

// download fetches the binaries that the embedded-postgres project publishes. The library unpacks only as a part of
// starting a server, so a short-lived one is started; as root that server refuses to run, after the unpacking.
func download(ctx context.Context, say func(string)) (Binaries, error) {
	folder := filepath.Join(downloadFolder(), string(downloadVersion))
	scratch, err := os.MkdirTemp("", "mesh-download-*")
	if err != nil {
		return Binaries{}, fmt.Errorf("download: %w", err)
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	ports, err := port.Free(1)
	if err != nil {
		return Binaries{}, err
	}
	say("downloading PostgreSQL " + string(downloadVersion) + " …")
	// Unpacked beside its place and renamed, so that a download that broke off is never taken for a server.
	partial := folder + ".partial"
	if err := os.RemoveAll(partial); err != nil {
		return Binaries{}, fmt.Errorf("download: %w", err)
	}
	server := embedded.NewDatabase(embedded.DefaultConfig().
		Version(downloadVersion).
		Port(uint32(ports[0])). //nolint:gosec // below 65536
		BinariesPath(partial).
		RuntimePath(filepath.Join(scratch, "run")).
		DataPath(filepath.Join(scratch, "data")).
		CachePath(filepath.Join(scratch, "cache")).
		Logger(io.Discard))
	startErr := server.Start()
	if startErr == nil {
		if err := server.Stop(); err != nil {
			return Binaries{}, fmt.Errorf("download: %w", err)
		}
	}
	bin := filepath.Join(partial, "bin")
	if versionOf(ctx, bin) < oldest {
		return Binaries{}, fmt.Errorf("download: %w", startErr)
	}
	if err := os.Rename(partial, folder); err != nil {
		return Binaries{}, fmt.Errorf("download: %w", err)
	}
	return Binaries{Folder: filepath.Join(folder, "bin"), Major: versionOf(ctx, filepath.Join(folder, "bin"))}, nil
}

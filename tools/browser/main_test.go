// Package browser holds the tests that drive the pages in a real browser, against a whole mesh of their own.
package browser

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/patient-mesh/patient-mesh/tools/mailbox"
	"github.com/patient-mesh/patient-mesh/tools/mesh"
)

var (
	world   *mesh.Mesh      // the mesh that all tests of this package visit
	mail    mailbox.Folder  // what it sends
	browser context.Context // the one browser; each person gets a context of their own, which shares nothing
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

// run keeps the deferred stops out of reach of os.Exit.
func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "browser-*")
	if err != nil {
		return say(err)
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	program, err := chromium(ctx, func(line string) { fmt.Fprintln(os.Stderr, line) })
	if err != nil {
		return say(fmt.Errorf("no browser: %w", err))
	}
	world, err = mesh.Start(ctx, mesh.Options{
		Dir: filepath.Join(dir, "mesh"), GatewayAddr: "127.0.0.1:0", BinDir: binaries(),
		DatabaseURL: os.Getenv("TEST_DATABASE_URL"), RedisURL: os.Getenv("TEST_REDIS_URL"),
		DatabasePrefix: fmt.Sprintf("browser%d_", os.Getpid()),
		Say:            func(line string) { fmt.Fprintln(os.Stderr, line) },
	})
	if err != nil {
		return say(fmt.Errorf("start the mesh: %w", err))
	}
	defer world.Stop()
	mail = mailbox.Of(filepath.Join(dir, "mesh"))

	allocator, stop := chromedp.NewExecAllocator(context.Background(), flags(program, filepath.Join(dir, "profile"))...)
	defer stop()
	var quit context.CancelFunc
	browser, quit = chromedp.NewContext(allocator)
	defer quit()
	if err := chromedp.Do(browser, chromedp.Navigate("about:blank")); err != nil {
		return say(fmt.Errorf("start the browser: %w", err))
	}
	return m.Run()
}

func say(err error) int {
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// binaries is where `make build` puts the six programs.
func binaries() string {
	if dir := os.Getenv("MESH_BIN_DIR"); dir != "" {
		return dir
	}
	return filepath.Join("..", "..", "bin")
}

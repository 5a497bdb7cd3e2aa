package browser

import (
	"context"
	"os"
	"os/exec"

	"github.com/chromedp/chromedp"

	"github.com/patient-mesh/patient-mesh/tools/mesh/debian"
)

// chromium finds a browser, or installs Debian's.
func chromium(ctx context.Context, say func(string)) (string, error) {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	const script = "set -e; export DEBIAN_FRONTEND=noninteractive; apt-get update -q; apt-get install -q -y --no-install-recommends chromium fonts-dejavu-core"
	if err := debian.Install(ctx, "Chromium", script, say); err != nil {
		return "", err
	}
	return exec.LookPath("chromium")
}

// flags start a browser that speaks to nobody but us.
func flags(program, profile string) []chromedp.ExecAllocatorOption {
	options := append([]chromedp.ExecAllocatorOption{}, chromedp.DefaultExecAllocatorOptions[:]...)
	options = append(options, chromedp.ExecPath(program), chromedp.UserDataDir(profile), chromedp.DisableGPU)
	for _, flag := range []string{"disable-quic", "no-first-run", "disable-background-networking", "disable-component-update", "disable-sync"} {
		options = append(options, chromedp.Flag(flag, true))
	}
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // Chromium's sandbox refuses root
	}
	return options
}

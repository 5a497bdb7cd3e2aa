package bench

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/patient-mesh/patient-mesh/tools/mesh"
)

const (
	budgetStart  = 3 * time.Second
	budgetMemory = 250 << 20 // bytes, of all six
	idleFor      = 5 * time.Second
)

// start stops the six programs and starts them again over their databases, and looks at what they hold when nobody
// asks them anything.
func (b *Bench) start(ctx context.Context) error {
	names := append(mesh.Services(), mesh.Gateway)
	var times []time.Duration
	for range b.options.Rounds {
		took, err := b.restart(ctx, names)
		if err != nil {
			return err
		}
		b.say("all six ready after " + duration(took))
		times = append(times, took)
	}
	middle := time.Duration(median(times, func(d time.Duration) float64 { return float64(d) }))
	b.report.headline(headline{
		what: "start of the six programs, until the gateway says that all can serve", found: duration(middle),
		budget: "≤ " + duration(budgetStart), met: verdictOf(middle <= budgetStart),
	})
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(idleFor):
	}
	full := table{title: "Memory of the six programs, idle after a start, and size of their binaries", header: []string{"Program", "Resident", "Binary"}}
	var resident, binaries int64
	for _, name := range names {
		memory, err := residentOf(b.mesh.Process(name).Pid())
		if err != nil {
			return err
		}
		info, err := os.Stat(filepath.Join(b.options.BinDir, name))
		if err != nil {
			return err
		}
		resident, binaries = resident+memory, binaries+info.Size()
		full.rows = append(full.rows, []string{name, mebibytes(memory), mebibytes(info.Size())})
	}
	full.rows = append(full.rows, []string{"all", mebibytes(resident), mebibytes(binaries)})
	b.report.table(full)
	b.report.headline(headline{
		what: "resident memory of the six programs, idle", found: mebibytes(resident), budget: "≤ " + mebibytes(budgetMemory),
		met: verdictOf(resident <= budgetMemory),
	})
	return nil
}

func (b *Bench) restart(ctx context.Context, names []string) (time.Duration, error) {
	var all sync.WaitGroup
	for _, name := range names {
		all.Go(func() { b.mesh.Process(name).Stop(ctx) })
	}
	all.Wait()
	began := time.Now()
	for _, name := range names {
		b.mesh.Process(name).Start()
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		if b.ready(ctx) {
			return time.Since(began), nil
		}
		select {
		case <-ctx.Done():
			return 0, fmt.Errorf("the mesh does not get ready again: %w", ctx.Err())
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func (b *Bench) ready(ctx context.Context) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, b.mesh.URL()+"/readyz", nil)
	if err != nil {
		return false
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	_ = response.Body.Close()
	return response.StatusCode == http.StatusOK
}

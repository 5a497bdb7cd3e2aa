package port_test

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/patient-mesh/patient-mesh/tools/mesh/port"
)

const many = 800

// TestMain lets the test be a process of its own that asks for ports and keeps them until its input ends.
func TestMain(m *testing.M) {
	if os.Getenv("PORT_TEST_ASKS") == "" {
		os.Exit(m.Run())
	}
	ports, err := port.Free(many)
	if err != nil {
		os.Exit(1)
	}
	var out strings.Builder
	for _, p := range ports {
		out.WriteString(strconv.Itoa(p) + " ")
	}
	_, _ = os.Stdout.WriteString(out.String() + "\n")
	_, _ = os.Stdin.Read(make([]byte, 1))
	os.Exit(0)
}

// A port that was given and is not listened at yet is given to nobody else, here or in another process.
func TestNoPortIsGivenTwice(t *testing.T) {
	other := exec.CommandContext(t.Context(), os.Args[0])
	other.Env = append(os.Environ(), "PORT_TEST_ASKS=1")
	in, err := other.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := other.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = in.Close()
		_ = other.Wait()
	}()
	var line strings.Builder
	for buffer := make([]byte, 4096); !strings.HasSuffix(line.String(), "\n"); {
		n, err := out.Read(buffer)
		if err != nil {
			t.Fatal(err)
		}
		line.Write(buffer[:n])
	}
	seen := map[int]bool{}
	for word := range strings.FieldsSeq(line.String()) {
		p, err := strconv.Atoi(word)
		if err != nil {
			t.Fatal(err)
		}
		seen[p] = true
	}
	var mu sync.Mutex
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			ports, err := port.Free(50)
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			for _, p := range ports {
				if seen[p] {
					t.Errorf("port %d was given twice", p)
				}
				seen[p] = true
			}
		})
	}
	all.Wait()
	if len(seen) != many+200 {
		t.Errorf("%d ports were given", len(seen))
	}
}

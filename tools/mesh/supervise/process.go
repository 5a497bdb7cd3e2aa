package supervise

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"
)

const (
	firstWait   = 50 * time.Millisecond // before a program is started again; doubles up to its LongestWait
	longestWait = 5 * time.Second       // where the program says nothing
	settled     = 10 * time.Second      // a program that ran so long begins again with firstWait
	triesAtOnce = 3                     // deaths of a program that never settled, before it counts as unable to start
	lastLines   = 12                    // of its log, shown when a program cannot start
)

// Process keeps one program running from Start to Stop. Its methods are safe for concurrent use.
type Process struct {
	program   Program
	pidFile   string
	journal   *journal
	failed    chan error // holds one error at most
	mu        sync.Mutex
	run       *run // nil while stopped
	pid       int  // 0 while no process is there
	forgiving bool
}

// run is the time between one Start and its Stop.
type run struct {
	cancel context.CancelFunc
	done   chan struct{}
}

// New prepares a process that logs to logFolder/<name>.log and leaves its number in pidFolder/<name>.pid. Lines worth
// seeing go to show, which must be safe for concurrent use.
func New(program Program, logFolder, pidFolder string, show func(line string)) (*Process, error) {
	if program.LongestWait == 0 {
		program.LongestWait = longestWait
	}
	j, err := openJournal(program.Name, filepath.Join(logFolder, program.Name+".log"), show, time.Now)
	if err != nil {
		return nil, err
	}
	return &Process{
		program: program,
		pidFile: filepath.Join(pidFolder, filepath.Base(program.Path)+".pid"),
		journal: j,
		failed:  make(chan error, 1),
	}, nil
}

// Name is the program's.
func (p *Process) Name() string { return p.program.Name }

// Failed gives an error, with the program's last words, when the program cannot be started.
func (p *Process) Failed() <-chan error { return p.failed }

// Forgive says that the program has shown that it can start: from now on it is started again for as long as it takes.
func (p *Process) Forgive() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.forgiving = true
}

// Start begins to keep the program running. It does nothing when it does so already.
func (p *Process) Start() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.run != nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	p.run = &run{cancel: cancel, done: make(chan struct{})}
	go p.keep(ctx, p.run.done)
}

// Stop ends the program in good order, or kills it when that takes longer than its StopTimeout or than ctx allows. It
// returns when the process is gone, and does nothing when there is none.
func (p *Process) Stop(ctx context.Context) {
	p.mu.Lock()
	current := p.run
	p.run = nil
	if current != nil {
		current.cancel()
		p.signal(p.program.StopSignal)
	}
	p.mu.Unlock()
	if current == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, p.program.StopTimeout)
	defer cancel()
	select {
	case <-current.done:
	case <-ctx.Done():
		p.journal.say("did not stop in time and is killed")
		p.Kill()
		<-current.done
	}
}

// Kill sends SIGKILL, as a crash would look. A program that is being kept running is then started again.
func (p *Process) Kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.signal(syscall.SIGKILL)
}

// Signal sends any signal to the process, if there is one.
func (p *Process) Signal(s syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.signal(s)
}

func (p *Process) signal(s syscall.Signal) {
	if p.pid != 0 {
		_ = syscall.Kill(p.pid, s)
	}
}

// Pid is the number of the process; 0 while there is none.
func (p *Process) Pid() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.pid
}

// Tail is the end of the program's log.
func (p *Process) Tail() string { return p.journal.tail(lastLines) }

// Close lets go of the log. The process must have been stopped.
func (p *Process) Close() error { return p.journal.file.Close() }

func (p *Process) keep(ctx context.Context, done chan struct{}) {
	defer close(done)
	deaths, wait := 0, firstWait
	for {
		began := time.Now()
		err := p.once(ctx)
		if ctx.Err() != nil {
			return
		}
		if time.Since(began) > settled {
			deaths, wait = 0, firstWait
		}
		deaths++
		if deaths >= triesAtOnce && !p.isForgiving() {
			p.failed <- fmt.Errorf("%s cannot start: %w; its last lines:\n%s", p.program.Name, err, p.Tail())
			<-ctx.Done()
			return
		}
		p.journal.say(fmt.Sprintf("ended (%v) and is started again", err))
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		wait = min(2*wait, p.program.LongestWait)
	}
}

func (p *Process) isForgiving() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.forgiving
}

// once runs the program until it ends.
func (p *Process) once(ctx context.Context) error {
	if p.program.Before != nil {
		if err := p.program.Before(ctx); err != nil {
			return err
		}
	}
	cmd := exec.Command(p.program.Path, p.program.Args...) //nolint:noctx // running programs is what we are for; Stop ends them
	cmd.Env, cmd.Dir, cmd.SysProcAttr = p.program.Env, p.program.Dir, attributes(p.program)
	said, err := p.attach(cmd)
	if err != nil {
		return err
	}
	if err := p.launch(ctx, cmd); err != nil {
		said.release()
		return err
	}
	said.release()
	err = cmd.Wait()
	p.mu.Lock()
	p.pid = 0
	p.mu.Unlock()
	_ = os.Remove(p.pidFile)
	said.wait()
	if err == nil {
		err = errors.New("exit status 0")
	}
	return err
}

// launch starts the command unless Stop came first: both hold the lock, so no process slips between them.
func (p *Process) launch(ctx context.Context, cmd *exec.Cmd) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	p.pid = cmd.Process.Pid
	return os.WriteFile(p.pidFile, []byte(strconv.Itoa(p.pid)+"\n"), 0o600)
}

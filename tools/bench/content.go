package bench

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/patient-mesh/patient-mesh/tools/mesh"
	"github.com/patient-mesh/patient-mesh/tools/mesh/port"
)

const (
	contentSize   = 100 << 20 // bytes: the longest content that is taken by default
	budgetGrowth  = 32 << 20  // bytes of memory that a program may take beyond its idle figure
	transferLimit = 5 * time.Minute
)

// fileConfig is nginx giving out and taking in files, as one does who wants speed.
const fileConfig = `
daemon off;
worker_processes 1;
pid %[1]s/nginx.pid;
error_log %[1]s/nginx-error.log;
events { worker_connections 64; }
http {
	access_log off;
	sendfile on;
	client_max_body_size 0;
	client_body_temp_path %[1]s/body; proxy_temp_path %[1]s/proxy; fastcgi_temp_path %[1]s/fastcgi;
	uwsgi_temp_path %[1]s/uwsgi; scgi_temp_path %[1]s/scgi;
	server {
		listen %[2]s;
		root %[1]s/files;
		location / { %[3]s }
	}
}
`

// content compares the bytes of a document, up and down through the whole mesh, with nginx serving the same file, and
// looks at how much memory the programs take for it.
func (b *Bench) content(ctx context.Context) error {
	id, err := b.newPatient(ctx)
	if err != nil {
		return err
	}
	document := "/v2/patient/" + strconv.FormatInt(id, 10) + "/document"
	bytes := make([]byte, contentSize)
	_, _ = rand.Read(bytes) // never fails (crypto/rand)
	file := filepath.Join(b.scratch, "content")
	if err := os.WriteFile(file, bytes, 0o600); err != nil {
		return err
	}
	if err := b.growth(ctx, document, file); err != nil {
		return err
	}
	down, err := b.upload(ctx, document, file)
	if err != nil {
		return err
	}
	ours := map[string]subject{
		"download": b.moving("through the mesh", func(ctx context.Context) error { return b.download(ctx, b.mesh.URL()+down, b.key()) }),
		"upload": b.moving("through the mesh", func(ctx context.Context) error {
			_, err := b.upload(ctx, document, file)
			return err
		}),
	}
	full := table{
		title:  fmt.Sprintf("Content of %s, one transfer at a time", mebibytes(contentSize)),
		header: []string{"What", "Who", "Ratio to nginx", "Rate"},
	}
	nginx, err := b.fileServer(ctx, file)
	if err != nil {
		b.report.note("content: without nginx, since " + err.Error() + ".")
	} else {
		defer nginx.stop()
	}
	for _, what := range []string{"download", "upload"} {
		subjects := []subject{ours[what]}
		if theirs, ok := nginx.subject(b, what, file); ok {
			subjects = append(subjects, theirs)
		}
		found, err := b.interleave(ctx, what, subjects)
		if err != nil {
			return err
		}
		for _, s := range subjects {
			ratio := "–"
			if base := found["nginx"].Rate; base > 0 {
				ratio = fmt.Sprintf("%.2f×", found[s.name].Rate/base)
			}
			full.rows = append(full.rows, []string{what, s.name, ratio, fmt.Sprintf("%.0f MB/s", found[s.name].Rate)})
		}
		if base := found["nginx"].Rate; base > 0 {
			b.report.atLeast(what+" of content through gateway, patient and attachment, to nginx with the same file", found["through the mesh"].Rate/base, 0)
		}
	}
	b.report.table(full)
	return nil
}

// growth restarts the three programs that content passes, and looks at the most memory that each takes for an upload
// and a download.
func (b *Bench) growth(ctx context.Context, document, file string) error {
	names := []string{mesh.Gateway, "patient", "attachment"}
	if _, err := b.restart(ctx, names); err != nil {
		return err
	}
	if _, err := b.upload(ctx, document, os.DevNull); err != nil { // connections and code are there then
		return err
	}
	idle := map[string]int64{}
	for _, name := range names {
		pid := b.mesh.Process(name).Pid()
		memory, err := residentOf(pid)
		if err != nil {
			return err
		}
		idle[name] = memory
		if err := forgetPeak(pid); err != nil {
			return err
		}
	}
	at, err := b.upload(ctx, document, file)
	if err != nil {
		return err
	}
	if err := b.download(ctx, b.mesh.URL()+at, b.key()); err != nil {
		return err
	}
	full := table{
		title:  fmt.Sprintf("Memory while %s go up and down", mebibytes(contentSize)),
		header: []string{"Program", "Before", "At most", "More"},
	}
	most := int64(0)
	for _, name := range names {
		peak, err := peakOf(b.mesh.Process(name).Pid())
		if err != nil {
			return err
		}
		most = max(most, peak-idle[name])
		full.rows = append(full.rows, []string{name, mebibytes(idle[name]), mebibytes(peak), mebibytes(peak - idle[name])})
	}
	b.report.table(full)
	b.report.headline(headline{
		what:  fmt.Sprintf("memory that a program takes for %s up and down, at most", mebibytes(contentSize)),
		found: mebibytes(most), budget: "≤ " + mebibytes(budgetGrowth), met: verdictOf(most <= budgetGrowth),
	})
	return nil
}

func (b *Bench) key() string { return b.mesh.Demo().Tenants[0].APIKey }

// moving is the subject of transfers one after the other; its rate is megabytes a second.
func (b *Bench) moving(name string, transfer func(ctx context.Context) error) subject {
	return subject{name: name, run: func(ctx context.Context) (sample, error) {
		began, moved := time.Now(), 0
		for time.Since(began) < b.options.Duration {
			if err := transfer(ctx); err != nil {
				return sample{}, err
			}
			moved += contentSize
		}
		return sample{Rate: float64(moved) / 1e6 / time.Since(began).Seconds()}, nil
	}}
}

// upload makes a document, gives it a file's bytes, and tells the path of its content.
func (b *Bench) upload(ctx context.Context, document, file string) (string, error) {
	var made struct {
		ContentURL string `json:"contentUrl"`
	}
	if err := b.call(ctx, http.MethodPost, document, `{"type":"document","filename":"scan.bin"}`, &made); err != nil {
		return "", err
	}
	return made.ContentURL, b.put(ctx, b.mesh.URL()+made.ContentURL, b.key(), file)
}

func (b *Bench) put(ctx context.Context, url, key, file string) error {
	in, err := os.Open(file)
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // it was only read
	info, err := in.Stat()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, transferLimit)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPut, url, in)
	if err != nil {
		return err
	}
	request.ContentLength = info.Size()
	if info.Size() == 0 || !info.Mode().IsRegular() {
		request.ContentLength, request.Body = 0, http.NoBody
	}
	return b.move(request, key)
}

func (b *Bench) download(ctx context.Context, url, key string) error {
	ctx, cancel := context.WithTimeout(ctx, transferLimit)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	return b.move(request, key)
}

func (b *Bench) move(request *http.Request, key string) error {
	if key != "" {
		request.Header.Set("Authorization", "Bearer "+key)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close() //nolint:errcheck // it was only read
	n, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, response.Body, make([]byte, 256<<10))
	switch {
	case err != nil:
		return err
	case response.StatusCode < 200 || response.StatusCode > 299:
		return fmt.Errorf("%s: %s", request.Method, response.Status)
	case request.Method == http.MethodGet && n != contentSize:
		return errors.New("a download came short")
	}
	return nil
}

// files is an nginx that gives out a file and takes one in.
type files struct {
	*running
	url  string
	puts bool
}

func (f *files) stop() {
	if f != nil {
		f.running.stop()
	}
}

// subject is nginx doing the same; false where it cannot.
func (f *files) subject(b *Bench, what, file string) (subject, bool) {
	switch {
	case f == nil || what == "upload" && !f.puts:
		return subject{}, false
	case what == "upload":
		n := 0
		return b.moving("nginx", func(ctx context.Context) error {
			n++
			return b.put(ctx, f.url+"/up-"+strconv.Itoa(n%4), "", file)
		}), true
	default:
		return b.moving("nginx", func(ctx context.Context) error { return b.download(ctx, f.url+"/content", "") }), true
	}
}

// fileServer starts nginx over a folder with the file. Where it was built without WebDAV it takes nothing in.
func (b *Bench) fileServer(ctx context.Context, file string) (*files, error) {
	path, err := find("nginx")
	if err != nil {
		return nil, err
	}
	folder := filepath.Join(b.scratch, "nginx-files")
	if err := os.MkdirAll(filepath.Join(folder, "files"), 0o700); err != nil {
		return nil, err
	}
	if err := os.Link(file, filepath.Join(folder, "files", "content")); err != nil {
		return nil, err
	}
	var lastErr error
	for _, take := range []string{"dav_methods PUT;", ""} {
		ports, err := port.Free(1)
		if err != nil {
			return nil, err
		}
		address := net.JoinHostPort("127.0.0.1", strconv.Itoa(ports[0]))
		text := fmt.Sprintf(fileConfig, folder, address, take)
		if os.Geteuid() == 0 {
			text = "user root;\n" + text
		}
		config := filepath.Join(folder, "nginx.conf")
		if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
			return nil, err
		}
		r, err := b.launch("nginx-files", b.pin.command(ctx, "", path, "-p", folder, "-c", config))
		if err != nil {
			return nil, err
		}
		if lastErr = r.listening(ctx, address); lastErr == nil {
			return &files{running: r, url: "http://" + address, puts: take != ""}, nil
		}
		r.stop()
	}
	return nil, lastErr
}

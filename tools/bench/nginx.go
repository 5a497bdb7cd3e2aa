package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// nginxConfig is a plain proxy, set up as one does who wants speed: one worker, connections to the backend kept, and
// never closed for their age.
const nginxConfig = `
daemon off;
worker_processes 1;
pid %[1]s/nginx.pid;
error_log %[1]s/nginx-error.log;
events { worker_connections 1024; }
http {
	access_log %[4]s;
	client_body_temp_path %[1]s/body; proxy_temp_path %[1]s/proxy; fastcgi_temp_path %[1]s/fastcgi;
	uwsgi_temp_path %[1]s/uwsgi; scgi_temp_path %[1]s/scgi;
	upstream backend {
		server %[3]s;
		keepalive 128;
		keepalive_requests 100000000;
	}
	server {
		listen %[2]s;
		keepalive_requests 100000000;
		location / {
			proxy_pass http://backend;
			proxy_http_version 1.1;
			proxy_set_header Connection "";
		}
	}
}
`

// nginx starts one in front of the backend. It writes a line a request where it is told to.
func (b *Bench) nginx(ctx context.Context, name, address, backend string, logs bool) (*running, error) {
	path, err := find("nginx")
	if err != nil {
		return nil, err
	}
	folder := filepath.Join(b.scratch, name)
	if err := os.Mkdir(folder, 0o755); err != nil { //nolint:gosec // its worker is another user
		return nil, err
	}
	log := "off"
	if logs {
		log = filepath.Join(folder, "access.log")
	}
	file := filepath.Join(folder, "nginx.conf")
	text := fmt.Sprintf(nginxConfig, folder, address, backend, log)
	if os.Geteuid() == 0 {
		text = "user root;\n" + text
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return nil, err
	}
	r, err := b.launch(name, b.pin.command(ctx, proxyCore, path, "-p", folder, "-c", file))
	if err != nil {
		return nil, err
	}
	if err := r.listening(ctx, address); err != nil {
		r.stop()
		return nil, err
	}
	return r, nil
}

package cache

import (
	"errors"
	"net"
	"net/url"
	"strings"

	"github.com/redis/go-redis/v9"
)

// errURL never shows the URL, which may hold a password.
var errURL = errors.New("REDIS_URL is redis://host:port, redis://host:port,host:port (cluster), redis+cluster://… or redis+sentinel://host,host/master")

var errReplicas = errors.New("REDIS_URL asks for reads from replicas, which may not know yet of a session that has ended")

// address is a REDIS_URL taken apart.
type address struct {
	scheme string
	user   string // with its closing @, escaped as it came
	hosts  []string
	path   string
	query  url.Values
}

// split takes a URL apart by hand: net/url takes no list of hosts.
func split(text string) (address, error) {
	scheme, rest, ok := strings.Cut(text, "://")
	rest, query, _ := strings.Cut(rest, "?")
	authority, path, _ := strings.Cut(rest, "/")
	at := strings.LastIndexByte(authority, '@') + 1
	values, err := url.ParseQuery(query)
	hosts := strings.Split(authority[at:], ",")
	if !ok || err != nil || authority[at:] == "" {
		return address{}, errURL
	}
	return address{scheme: scheme, user: authority[:at], hosts: hosts, path: path, query: values}, nil
}

// first is a URL of the first host in go-redis' own form, with the other hosts as its addr parameters.
func (a address) first(scheme, path, port string) string {
	for _, host := range a.hosts[1:] {
		if _, _, err := net.SplitHostPort(host); err != nil {
			host = net.JoinHostPort(host, port)
		}
		a.query.Add("addr", host)
	}
	host := a.hosts[0]
	if _, _, err := net.SplitHostPort(host); err != nil {
		host = net.JoinHostPort(strings.Trim(host, "[]"), port)
	}
	return scheme + "://" + a.user + host + "/" + path + "?" + a.query.Encode()
}

func open(text string) (redis.UniversalClient, error) {
	a, err := split(text)
	if err != nil {
		return nil, err
	}
	if a.readsReplicas() {
		return nil, errReplicas
	}
	a.defaults()
	switch kind, plain := a.kind(); kind {
	case "single":
		o, err := redis.ParseURL(a.first(plain, a.path, "6379"))
		if err != nil {
			return nil, errURL
		}
		o.ContextTimeoutEnabled, o.DialerRetries = true, 1
		return redis.NewClient(o), nil
	case "cluster":
		o, err := redis.ParseClusterURL(a.first(plain, "", "6379"))
		if err != nil {
			return nil, errURL
		}
		o.ContextTimeoutEnabled, o.DialerRetries = true, 1
		o.ClusterStateReloadInterval = stateAge
		return redis.NewClusterClient(o), nil
	case "sentinel":
		a.query.Set("master_name", a.path)
		o, err := redis.ParseFailoverURL(a.first(plain, "", "26379"))
		if err != nil || a.path == "" {
			return nil, errURL
		}
		o.ContextTimeoutEnabled, o.DialerRetries = true, 1
		return redis.NewFailoverClient(o), nil
	default:
		return nil, errURL
	}
}

// kind tells the way Redis is run, and the plain scheme: redis, or rediss over TLS.
func (a address) kind() (kind, plain string) {
	plain, way, _ := strings.Cut(a.scheme, "+")
	switch {
	case plain != "redis" && plain != "rediss":
		return "", ""
	case way == "" && len(a.hosts) > 1:
		return "cluster", plain
	case way == "":
		return "single", plain
	default:
		return way, plain
	}
}

// readsReplicas reports parameters under which a session is read elsewhere than where it is ended.
func (a address) readsReplicas() bool {
	return a.query.Has("read_only") || a.query.Has("replica_only") || a.query.Has("route_by_latency") || a.query.Has("route_randomly")
}

// defaults puts our bounds where the URL says nothing.
func (a address) defaults() {
	for name, value := range map[string]string{
		"dial_timeout": dialTimeout.String(), "read_timeout": callTimeout.String(), "write_timeout": callTimeout.String(),
		"pool_timeout": poolTimeout.String(), "pool_size": poolSize, "max_active_conns": poolSize, "max_retries": "1",
		"pipeline_pool_size": "-1",
	} {
		if !a.query.Has(name) {
			a.query.Set(name, value)
		}
	}
}

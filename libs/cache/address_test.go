package cache

import (
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

func TestOpenSingle(t *testing.T) {
	client, err := open("redis://user:p%40ss@cache.example:7000/3?read_timeout=1s")
	if err != nil {
		t.Fatal(err)
	}
	o := client.(*redis.Client).Options() //nolint:forcetypeassert // a failure here fails the test
	if o.Addr != "cache.example:7000" || o.DB != 3 || o.Username != "user" || o.Password != "p@ss" {
		t.Errorf("address %s, db %d, user %q", o.Addr, o.DB, o.Username)
	}
	if o.ReadTimeout != time.Second || o.WriteTimeout != callTimeout || o.PoolSize != 32 || o.MaxActiveConns != 32 {
		t.Errorf("bounds: read %v, write %v, pool %d, most %d", o.ReadTimeout, o.WriteTimeout, o.PoolSize, o.MaxActiveConns)
	}
}

func TestOpenCluster(t *testing.T) {
	for _, url := range []string{"rediss://u:p@a:1,b:2,c", "rediss+cluster://u:p@a:1,b:2,c"} {
		client, err := open(url)
		if err != nil {
			t.Fatal(err)
		}
		o := client.(*redis.ClusterClient).Options() //nolint:forcetypeassert // as above
		if got := strings.Join(o.Addrs, " "); got != "a:1 b:2 c:6379" || o.Password != "p" || o.TLSConfig == nil {
			t.Errorf("%s: addresses %q", url, got)
		}
		if o.ClusterStateReloadInterval != stateAge {
			t.Errorf("%s: a picture of the cluster holds for %v", url, o.ClusterStateReloadInterval)
		}
	}
}

func TestOpenSentinel(t *testing.T) {
	client, err := open("redis+sentinel://guard:pw@s1,s2:26380/main?db=2&password=inner")
	if err != nil {
		t.Fatal(err)
	}
	o := client.(*redis.Client).Options() //nolint:forcetypeassert // as above
	if o.Addr != "FailoverClient" || o.DB != 2 || o.Password != "inner" {
		t.Errorf("address %s, db %d", o.Addr, o.DB)
	}
}

func TestOpenRefusesAndHidesPasswords(t *testing.T) {
	for _, url := range []string{
		"", "cache:6379", "http://cache", "redis://", "redis://:secret@", "redis+sentinel://secret@a",
		"redis://u:secret@a:6379/x", "redis://u:secret@a?nonsense=1", "redis+other://secret@a",
		"redis://secret@a,b?read_only=true", "redis+cluster://secret@a?route_by_latency=true", "redis+cluster://secret@a?route_randomly=true",
		"redis+sentinel://secret@a/main?replica_only=true", "redis+sentinel://secret@a/main?route_by_latency=true",
	} {
		_, err := open(url)
		if err == nil {
			t.Errorf("%q was taken", url)
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("the error shows the password: %v", err)
		}
	}
}

package testkit

import (
	"context"
	"strconv"
	"testing"

	"github.com/redis/go-redis/v9"
)

// databases is how many numbered databases the test server has; number 0 holds the count of those given out.
const databases = 10000

// Redis gives the test an empty numbered database of its own, emptied again when the test ends. Channels are not
// numbered: a test that publishes shares them with all others and must choose names that are its own.
func Redis(t testing.TB) string {
	t.Helper()
	u := server(t, "TEST_REDIS_URL")
	options, err := redis.ParseURL(u.String())
	if err != nil {
		t.Fatal("TEST_REDIS_URL cannot be read")
	}
	ctx := context.Background()
	counter := redis.NewClient(options)
	defer counter.Close() //nolint:errcheck // nothing is left to lose
	given, err := counter.Incr(ctx, "testkit:given").Result()
	if err != nil {
		t.Fatalf("TEST_REDIS_URL: %v", err)
	}
	number := int(1 + given%(databases-1))
	empty(t, *options, number)
	t.Cleanup(func() { empty(t, *options, number) })
	u.Path = "/" + strconv.Itoa(number)
	return u.String()
}

func empty(t testing.TB, options redis.Options, number int) {
	t.Helper()
	options.DB = number
	client := redis.NewClient(&options)
	defer client.Close() //nolint:errcheck // nothing is left to lose
	if err := client.FlushDB(context.Background()).Err(); err != nil {
		t.Errorf("empty the test's Redis database: %v", err)
	}
}

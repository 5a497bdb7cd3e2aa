package cache

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/redis/go-redis/v9"
)

// LogTo has the library's own lines go to a program's log, as details: by itself it writes them to stderr as they are, one
// for each connection that fails. What fails is told to whoever asked, too. A program calls it once, before Open.
func LogTo(log *slog.Logger) { redis.SetLogger(lines{log}) }

type lines struct{ log *slog.Logger }

// Printf is what the library calls.
func (l lines) Printf(ctx context.Context, format string, v ...any) {
	if l.log.Enabled(ctx, slog.LevelDebug) {
		l.log.DebugContext(ctx, "redis client", "says", fmt.Sprintf(format, v...))
	}
}

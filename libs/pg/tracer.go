package pg

import (
	"context"

	"github.com/exaring/otelpgx"
	"github.com/jackc/pgx/v5"
)

// tracer is otelpgx without the texts of errors, in which PostgreSQL may repeat a value it was given.
type tracer struct{ *otelpgx.Tracer }

func (t tracer) TraceQueryEnd(ctx context.Context, conn *pgx.Conn, data pgx.TraceQueryEndData) {
	data.Err = decided(data.Err)
	t.Tracer.TraceQueryEnd(ctx, conn, data)
}

func (t tracer) TraceBatchQuery(ctx context.Context, conn *pgx.Conn, data pgx.TraceBatchQueryData) {
	data.Err, data.Args = decided(data.Err), nil
	t.Tracer.TraceBatchQuery(ctx, conn, data)
}

func (t tracer) TraceBatchEnd(ctx context.Context, conn *pgx.Conn, data pgx.TraceBatchEndData) {
	data.Err = decided(data.Err)
	t.Tracer.TraceBatchEnd(ctx, conn, data)
}

func (t tracer) TraceConnectEnd(ctx context.Context, data pgx.TraceConnectEndData) {
	data.Err = decided(data.Err)
	t.Tracer.TraceConnectEnd(ctx, data)
}

func (t tracer) TracePrepareEnd(ctx context.Context, conn *pgx.Conn, data pgx.TracePrepareEndData) {
	data.Err = decided(data.Err)
	t.Tracer.TracePrepareEnd(ctx, conn, data)
}

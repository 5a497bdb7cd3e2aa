package pg

import (
	"context"

	"github.com/exaring/otelpgx"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"go.opentelemetry.io/otel/trace"
)

// tracer is otelpgx without the texts of errors, in which PostgreSQL may repeat a value it was given, and without its
// cost where nothing is recorded.
type tracer struct{ *otelpgx.Tracer }

func recording(ctx context.Context) bool { return trace.SpanFromContext(ctx).IsRecording() }

func (t tracer) TraceQueryStart(ctx context.Context, conn *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	if !recording(ctx) {
		return ctx
	}
	return t.Tracer.TraceQueryStart(ctx, conn, data)
}

func (t tracer) TraceBatchStart(ctx context.Context, conn *pgx.Conn, data pgx.TraceBatchStartData) context.Context {
	if !recording(ctx) {
		return ctx
	}
	return t.Tracer.TraceBatchStart(ctx, conn, data)
}

func (t tracer) TraceAcquireStart(ctx context.Context, pool *pgxpool.Pool, data pgxpool.TraceAcquireStartData) context.Context {
	if !recording(ctx) {
		return ctx
	}
	return t.Tracer.TraceAcquireStart(ctx, pool, data)
}

func (t tracer) TraceAcquireEnd(ctx context.Context, pool *pgxpool.Pool, data pgxpool.TraceAcquireEndData) {
	if recording(ctx) {
		data.Err = decided(data.Err)
		t.Tracer.TraceAcquireEnd(ctx, pool, data)
	}
}

func (t tracer) TraceQueryEnd(ctx context.Context, conn *pgx.Conn, data pgx.TraceQueryEndData) {
	if recording(ctx) {
		data.Err = decided(data.Err)
		t.Tracer.TraceQueryEnd(ctx, conn, data)
	}
}

func (t tracer) TraceBatchQuery(ctx context.Context, conn *pgx.Conn, data pgx.TraceBatchQueryData) {
	if recording(ctx) {
		data.Err, data.Args = decided(data.Err), nil
		t.Tracer.TraceBatchQuery(ctx, conn, data)
	}
}

func (t tracer) TraceBatchEnd(ctx context.Context, conn *pgx.Conn, data pgx.TraceBatchEndData) {
	if recording(ctx) {
		data.Err = decided(data.Err)
		t.Tracer.TraceBatchEnd(ctx, conn, data)
	}
}

func (t tracer) TraceConnectEnd(ctx context.Context, data pgx.TraceConnectEndData) {
	data.Err = decided(data.Err)
	t.Tracer.TraceConnectEnd(ctx, data)
}

func (t tracer) TracePrepareEnd(ctx context.Context, conn *pgx.Conn, data pgx.TracePrepareEndData) {
	data.Err = decided(data.Err)
	t.Tracer.TracePrepareEnd(ctx, conn, data)
}

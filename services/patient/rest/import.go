package rest

import (
	"context"
	"io"
	"log/slog"
	"mime"
	"strings"

	"go.opentelemetry.io/otel/trace"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/idempotency"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/libs/run"
	"github.com/patient-mesh/patient-mesh/services/patient"
)

// LinesType is the media type of an import and of its answer: a JSON object a line.
const LinesType = "application/x-ndjson"

// Imports answers imports.
type Imports struct {
	Server *Server
	Verbs  *patient.Imports
	Logger *slog.Logger
	// Leaving is closed when the program is about to end: imports end then with what has come.
	Leaving <-chan struct{}
}

const (
	// batchesUnderWay is how many batches of an import are read or stored at a time, batchesHeld those with batches that wait for
	// the answer before theirs to be read.
	batchesUnderWay = 2
	batchesHeld     = 4
)

// Answer begins an import and gives its answer, line by line. Closing it ends the import: what has been begun to be stored
// is stored, and no more. The caller closes it, and ends the body's reading then.
func (i *Imports) Answer(ctx context.Context, contentType string, header *string, body io.Reader) (io.ReadCloser, error) {
	by, err := principal.Require(ctx, principal.PatientWrite)
	if err != nil {
		return nil, err
	}
	if !isLines(contentType) {
		return nil, fault.New(fault.UnsupportedMedia, "unsupported_media_type", "The body must be "+LinesType+".")
	}
	key, faults := idempotency.Parse(by, header, []byte("import"))
	if len(faults) > 0 {
		return nil, fault.InvalidFields(faults)
	}
	begun, err := i.Verbs.Begin(ctx, key)
	if err != nil {
		return nil, err
	}
	f := &flow{
		Imports: i, ctx: context.WithoutCancel(ctx), run: begun, lines: i.Server.lineReader(key.Given()), in: newIntake(key.Given()),
		trace: trace.SpanContextFromContext(ctx).TraceID().String(), turns: make(chan chan batch, batchesHeld), places: make(chan struct{}, batchesHeld),
		done: make(chan struct{}),
	}
	f.out = newAnswers(f.in.stop)
	go func() {
		if err := run.Safely(func() error { f.in.read(body); return nil }); err != nil {
			f.tell(err)
			f.in.end(err)
		}
	}()
	go f.answer()
	go func() {
		select {
		case <-i.Leaving:
			f.in.end(fault.Away(nil, "The service is being restarted; import the rest again."))
		case <-f.done:
		}
	}()
	return f.out, nil
}

func isLines(contentType string) bool {
	media, params, err := mime.ParseMediaType(contentType)
	return err == nil && media == LinesType && (params["charset"] == "" || strings.EqualFold(params["charset"], "utf-8"))
}

package rest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/idempotency"
	"github.com/patient-mesh/patient-mesh/libs/page"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/libs/web"
	"github.com/patient-mesh/patient-mesh/libs/web/body"
	"github.com/patient-mesh/patient-mesh/services/patient"
	"github.com/patient-mesh/patient-mesh/services/patient/api"
)

// children are those of one kind as one of the two interfaces takes and shows them: S is what a child looks like there.
// An operation of either is a line of its own that names its answer, and nothing else.
type children[N any, P patient.Noun[N], I patient.ChildInput[N], S any] struct {
	verbs *patient.Children[N, P, I]
	face
	kind  string // as paths spell it
	input func(o *body.Object, spelling spelling) I
	show  func(child N, now time.Time) S
	// needs names, for a member that some rule looks at, the members that the rule looks at besides.
	needs map[string][]string
}

// made is the headers of what a POST created.
type made struct {
	ETag               *string
	IdempotentReplayed *string
	Location           *string
}

// listed is a page of children.
type listed[S any] struct {
	Content       []S
	Page          int
	Size          int
	TotalElements int64
}

// create answers a repeat with the first answer.
func (c children[N, P, I, S]) create(ctx context.Context, patientID string, o *body.Object, header *string) (shown S, headers made, err error) {
	by, err := principal.Require(ctx, principal.PatientWrite)
	if err != nil {
		return shown, headers, err // before the body's faults
	}
	id, in, now := parseID(patientID), c.input(o, c.spelling), c.verbs.Service.Now()
	operation := []byte("create " + c.version + " " + c.kind)
	key, faults := idempotency.Parse(by, header, operation, strconv.AppendInt(nil, id, 10), o.Raw())
	if o.Err(faults...) != nil {
		_, rules := in.New(now)
		return shown, headers, o.Err(append(c.broken(o, rules), faults...)...)
	}
	answer := func(child N) ([]byte, error) { return json.Marshal(c.show(child, now)) }
	child, repeat, err := c.verbs.Create(ctx, id, in, key, c.status(), answer)
	if err != nil {
		return shown, headers, c.spelling.err(err)
	}
	shown, childID := c.show(child, now), P(&child).Base().ID
	if repeat != nil {
		var first S
		if err := json.Unmarshal(repeat.Body, &first); err != nil {
			return shown, headers, fmt.Errorf("read the recorded answer: %w", err)
		}
		replayed := "true"
		shown, childID, headers.IdempotentReplayed = first, repeat.ResourceID, &replayed
	}
	// v2 reads no child by itself: the address of what it made is that of v3.
	etag, location := web.ETag(1), v3().root+strconv.FormatInt(id, 10)+"/"+c.kind+"/"+childID
	headers.ETag, headers.Location = &etag, &location
	return shown, headers, nil
}

func (c children[N, P, I, S]) status() int {
	if c.version == "v2" {
		return http.StatusCreated
	}
	return http.StatusOK
}

// broken is the rules that a body breaks, spelt as it does, without those that cannot be judged since a member that they
// look at could not be read.
func (c children[N, P, I, S]) broken(o *body.Object, rules []fault.Field) []fault.Field {
	unread := map[string]bool{}
	for _, f := range fault.Of(o.Err()).Fields {
		unread[f.Field] = true
	}
	return slices.DeleteFunc(c.spelling.fields(rules), func(rule fault.Field) bool {
		return slices.ContainsFunc(c.needs[rule.Field], func(member string) bool { return unread[member] })
	})
}

// listing is the parameters of a list, in the order of the contract.
type listing struct {
	Active, Page, Size, After *string
}

// parseChildPage reads which part is asked for of a list whose cursors are ids of children.
func parseChildPage(number, size, after *string) (page.Request, []fault.Field) {
	part, faults := page.Parse(number, size, after)
	if id, err := uuid.Parse(part.After); part.After != "" && (err != nil || id.String() != part.After) {
		faults = append(faults, fault.Field{Field: "after", Code: "invalid_cursor", Message: "is no cursor of this list"})
	}
	return part, faults
}

func (c children[N, P, I, S]) list(ctx context.Context, patientID string, asked listing) (listed[S], *string, error) {
	if _, err := principal.Require(ctx, principal.PatientRead); err != nil {
		return listed[S]{}, nil, err // before the parameters' faults
	}
	part, faults := parseChildPage(asked.Page, asked.Size, asked.After)
	which, further := patient.ParseWhich(asked.Active)
	if faults = append(faults, further...); len(faults) > 0 {
		return listed[S]{}, nil, fault.InvalidFields(faults)
	}
	id, now := parseID(patientID), c.verbs.Service.Now()
	list, total, err := c.verbs.List(ctx, id, which, part)
	if err != nil {
		return listed[S]{}, nil, err
	}
	target := c.root + strconv.FormatInt(id, 10) + "/" + c.kind + "?"
	if asked.Active != nil {
		target += "active=" + url.QueryEscape(*asked.Active) + "&"
	}
	list, next := page.Cut(list, part, target, func(child N) string { return P(&child).Base().ID })
	content := make([]S, len(list))
	for i, child := range list {
		content[i] = c.show(child, now)
	}
	return listed[S]{Content: content, Page: part.Page, Size: part.Size, TotalElements: total}, next, nil
}

func (c children[N, P, I, S]) read(ctx context.Context, patientID, childID string) (shown S, etag *string, err error) {
	child, err := c.verbs.Read(ctx, parseID(patientID), childID)
	if err != nil {
		return shown, nil, err
	}
	shown, etag = c.answer(child)
	return shown, etag, nil
}

// update applies the members that are present and not null.
func (c children[N, P, I, S]) update(ctx context.Context, patientID, childID string, o *body.Object, ifMatch *string) (shown S, etag *string, err error) {
	if _, err := principal.Require(ctx, principal.PatientWrite); err != nil {
		return shown, nil, err // before the body's faults
	}
	in := c.input(o, c.spelling)
	if o.Err() != nil {
		return shown, nil, o.Err(c.broken(o, in.Validate(c.verbs.Service.Now()))...)
	}
	child, err := c.verbs.Update(ctx, parseID(patientID), childID, in, precondition(ifMatch))
	if err != nil {
		return shown, nil, c.spelling.err(err)
	}
	shown, etag = c.answer(child)
	return shown, etag, nil
}

// answer shows a child with its tag.
func (c children[N, P, I, S]) answer(child N) (S, *string) {
	tag := web.ETag(P(&child).Base().Version)
	return c.show(child, c.verbs.Service.Now()), &tag
}

func (c children[N, P, I, S]) deactivate(ctx context.Context, patientID, childID string, ifMatch *string) (api.DeactivatedJSONResponse, error) {
	if err := c.verbs.Deactivate(ctx, parseID(patientID), childID, precondition(ifMatch)); err != nil {
		return api.DeactivatedJSONResponse{}, err
	}
	return api.DeactivatedJSONResponse{Message: "The " + c.kind + " is deactivated."}, nil
}

// useShown spells in v3 a use that was never given.
func useShown(use string) string {
	if use == "" {
		return patient.Unknown
	}
	return use
}

package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/patient-mesh/patient-mesh/tools/bench/traffic"
)

// cost is processor time: of programs of ours, and of the database server.
type cost struct{ ours, database time.Duration }

func (c cost) minus(o cost) cost { return cost{c.ours - o.ours, c.database - o.database} }

// each is the cost of one of so many requests.
func (c cost) each(requests float64) cost {
	if requests <= 0 {
		return cost{}
	}
	return cost{time.Duration(float64(c.ours) / requests), time.Duration(float64(c.database) / requests)}
}

// asking is the subject of a plan. What the programs of the mesh that are named cost is measured, and PostgreSQL with
// them, until the trail of what was asked is carried away.
func (b *Bench) asking(name string, p traffic.Plan, programs ...string) subject {
	return b.measured(name, planned(p), "", b.clock(programs...))
}

// clock reads what programs have cost once nothing is left to do.
func (b *Bench) clock(programs ...string) func(ctx context.Context) (cost, error) {
	return func(ctx context.Context) (cost, error) {
		b.settle(ctx)
		return b.spent(programs...)
	}
}

// planning makes a plan, anew for each run.
type planning func(ctx context.Context) (traffic.Plan, error)

func planned(p traffic.Plan) planning {
	return func(context.Context) (traffic.Plan, error) { return p, nil }
}

// measured asks from a core, first a little for warming up, and reads a clock of processor time before and after.
func (b *Bench) measured(name string, plan planning, core string, clock func(ctx context.Context) (cost, error)) subject {
	return subject{name: name, run: func(ctx context.Context) (sample, error) {
		p, err := plan(ctx)
		if err != nil {
			return sample{}, err
		}
		p.Warmup, p.Duration = b.options.Duration/8, b.options.Duration
		before, err := clock(ctx)
		if err != nil {
			return sample{}, err
		}
		r, err := b.traffic(ctx, p, core)
		if err != nil {
			return sample{}, err
		}
		after, err := clock(ctx)
		s, each := of(r), after.minus(before).each(float64(r.Asked))
		s.CPU, s.Database = each.ours, each.database
		return s, err
	}}
}

// spent is what programs of the mesh have cost so far, and the database server where it is the mesh's own.
func (b *Bench) spent(programs ...string) (cost, error) {
	var c cost
	for _, program := range programs {
		used, err := cpuOf(b.mesh.Process(program).Pid())
		if err != nil {
			return cost{}, err
		}
		c.ours += used
	}
	server := b.mesh.Process("postgres")
	if server == nil {
		return c, nil
	}
	var err error
	c.database, err = cpuOf(server.Pid())
	return c, err
}

// settleLimit is how long the trail may take to be carried away.
const settleLimit = time.Minute

// settle waits until no entry of the trail waits in a queue, so that nobody is measured while the machine still works on
// what somebody else asked.
func (b *Bench) settle(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, settleLimit)
	defer cancel()
	for _, service := range []string{"patient", "attachment", "identity", "matching"} {
		if err := b.empty(ctx, service); err != nil {
			b.report.note(fmt.Sprintf("The audit queue of %s is not seen to empty: %s.", service, err))
		}
	}
}

func (b *Bench) empty(ctx context.Context, service string) error {
	conn, err := pgx.Connect(ctx, b.mesh.Database(service).MigrateURL)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing is left to lose
	for {
		var some bool
		if err := conn.QueryRow(ctx, `SELECT EXISTS (SELECT FROM audit_entry)`).Scan(&some); err != nil || !some {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

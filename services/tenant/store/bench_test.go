package store_test

import (
	"strconv"
	"testing"

	"github.com/google/uuid"

	"github.com/patient-mesh/patient-mesh/libs/audit"
)

// BenchmarkAppend chains entries as a relay delivers them: those of one tenant, and those of many.
func BenchmarkAppend(b *testing.B) {
	const batch = 500
	for _, tenants := range []int{1, 50, 500} {
		b.Run(strconv.Itoa(tenants)+" tenants", func(b *testing.B) {
			s, _ := open(b)
			ids := make([]string, tenants)
			for i := range ids {
				ids[i] = uuid.NewString()
			}
			entries := make([]audit.Entry, batch)
			for b.Loop() {
				b.StopTimer()
				for i := range entries {
					entries[i] = entry(ids[i%tenants], "patient.read").About(int64(i))
					entries[i].TraceID = "0af7651916cd43dd8448eb211c80319c"
				}
				b.StartTimer()
				if err := s.Append(b.Context(), entries); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/batch, "µs/entry")
		})
	}
}

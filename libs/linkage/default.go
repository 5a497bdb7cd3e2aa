package linkage

// Default is the model of tenants that chose none. README.md has its table with the sources, and tells what was looked at when
// values were chosen.
func Default() *Model {
	return &Model{
		Description: "Default",
		Prior:       Prior{Matches: 1.5},
		Careless:    Careless{Share: 0.3, Times: 16},
		Frequency:   Frequency{Names: 300, Dates: 3000, Days: 30000, Floor: 1e-6},
		Fields:      defaultFields(),
		Relatives: []Relative{
			{"housemate", 0.5, map[string]float64{"area": 1, "street given area": 1, "street elsewhere": 1, "street": 1, "phone": 0.3, "email": 0.05}},
			{"family", 2.5, map[string]float64{
				"lastName": 0.75, "area": 0.8, "street given area": 0.98, "street elsewhere": 0.98, "street": 0.8,
				"phone": 0.6, "email": 0.4, "memberNumber": 0.7,
			}},
			{"twin", 0.01, map[string]float64{
				"lastName": 0.97, "dob": 1, "area": 0.95, "street given area": 0.99, "street elsewhere": 0.99, "street": 0.95,
				"phone": 0.9, "email": 0.8, "memberNumber": 0.9,
			}},
			{"namesake", 0.02, map[string]float64{
				"firstName": 1, "lastName": 1, "middleName": 0.6, "sexAtBirth": 1, "sexAtBirth given firstName": 1,
				"area": 0.7, "street given area": 0.98, "street elsewhere": 0.98, "street": 0.7, "phone": 0.6, "email": 0.5, "memberNumber": 0.7,
			}},
		},
		Calibration: Calibration{Scale: 1},
		Thresholds:  Thresholds{Certain: 0.999, Probable: 0.9, Margin: 7},
	}
}

func defaultFields() []Field {
	levels := [fieldCount][]Level{
		inFirst: {
			{M: 0.788, U: 0.0019},
			{M: 0.025, U: 0.00015},
			{M: 0.035, U: 0.0007, Spread: 40, Veto: VetoUnlessIdentified},
			{M: 0.04, U: 0.0016, Spread: 4, Veto: VetoUnlessIdentified},
			{M: 0.02, U: 0.001, Spread: 200, Veto: VetoUnlessIdentified},
			{M: 0.008, U: 0.0004},
			{M: 0.016, U: 0.0019},
			{M: 0.008, U: 0.0018},
			{M: 0.008, U: 0.0023, Spread: 100, Veto: VetoUnlessIdentified},
			{M: 0.012, U: 0.0035, Veto: VetoUnlessIdentified},
			{M: 0.04, U: 0.98475, Veto: VetoAlways},
		},
		inLast: {
			{M: 0.858, U: 0.0005},
			{M: 0.02, U: 0.0001},
			{M: 0.03, U: 0.00018, Spread: 40},
			{M: 0.012, U: 0.00032, Spread: 200},
			{M: 0.008, U: 0.00037},
			{M: 0.02, U: 0.0015},
			{M: 0.008, U: 0.0009, Spread: 100},
			{M: 0.004, U: 0.0005},
			{M: 0.04, U: 0.99513},
		},
		inMiddle: {{M: 0.51, U: 0.0011}, {M: 0.37, U: 0.0285}, {M: 0.03, U: 0.0031}, {M: 0.09, U: 0.9673, Veto: VetoAlways}},
		inSuffix: {{M: 0.98, U: 0.40}, {M: 0.02, U: 0.60, Veto: VetoAlways}},
		inDOB: {
			{M: 0.932, U: 0.00003},
			{M: 0.006, U: 0.000012},
			{M: 0.004, U: 0.000063},
			{M: 0.02, U: 0.0012},
			{M: 0.0015, U: 0.00013},
			{M: 0.003, U: 0.00057},
			{M: 0.0035, U: 0.0024},
			{M: 0.006, U: 0.0103},
			{M: 0.005, U: 0.0099},
			{M: 0.004, U: 0.0150},
			{M: 0.015, U: 0.960395, Veto: VetoAlways},
		},
		inSex:        {{M: 0.99, U: 0.5}, {M: 0.01, U: 0.5, Veto: VetoAlways}},
		inSexNamed:   {{M: 0.99, U: 0.92}, {M: 0.01, U: 0.08, Veto: VetoAlways}},
		inArea:       {{M: 0.74, U: 0.002}, {M: 0.05, U: 0.001}, {M: 0.03, U: 0.002}, {M: 0.04, U: 0.005}, {M: 0.10, U: 0.25}, {M: 0.04, U: 0.74}},
		inStreet:     {{M: 0.60, U: 0.00002}, {M: 0.05, U: 0.0001}, {M: 0.06, U: 0.0033}, {M: 0.29, U: 0.99658}},
		inStreetNear: {{M: 0.80, U: 0.002}, {M: 0.06, U: 0.001}, {M: 0.07, U: 0.004}, {M: 0.07, U: 0.993}},
		inStreetFar:  {{M: 0.05, U: 0.00002}, {M: 0.01, U: 0.0001}, {M: 0.02, U: 0.0033}, {M: 0.92, U: 0.99658}},
		inPhone:      {{M: 0.70, U: 0.000005}, {M: 0.01, U: 0.00001}, {M: 0.02, U: 0.00005}, {M: 0.27, U: 0.999935}},
		inEmail:      {{M: 0.65, U: 0.000002}, {M: 0.02, U: 0.00001}, {M: 0.04, U: 0.003}, {M: 0.29, U: 0.996988}},
		inSSN:        {{M: 0.90, U: 0.0001}, {M: 0.03, U: 0.004}, {M: 0.07, U: 0.9959, Veto: VetoAlways}},
		inIdentifier: {{M: 0.45, U: 0.000001}, {M: 0.10, U: 0.00001}, {M: 0.02, U: 0.0005}, {M: 0.005, U: 0.005}, {M: 0.425, U: 0.994489}},
		inMember:     {{M: 0.55, U: 0.000001}, {M: 0.01, U: 0.00005}, {M: 0.44, U: 0.999949}},
	}
	fields := make([]Field, fieldCount)
	for f, v := range vocabularies() {
		for l := range levels[f] {
			levels[f][l].Name = v.levels[l]
		}
		fields[f] = Field{Name: v.name, Levels: levels[f]}
	}
	return fields
}

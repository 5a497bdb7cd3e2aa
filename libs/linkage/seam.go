package linkage

type Model struct {
	Description string  `json:"description,omitempty"`
	Prior       Prior   `json:"prior"`
	Fields      []Field `json:"fields"`
}

type Prior struct {
	Matches float64 `json:"matches"`
}

type Field struct {
	Name   string  `json:"name"`
	Levels []Level `json:"levels"`
}

type Level struct {
	Name string  `json:"name"`
	M    float64 `json:"m"`
	U    float64 `json:"u"`
	Veto bool    `json:"veto,omitempty"`
}

type Problem struct{ Field, Code, Message string }

func (m *Model) Validate() []Problem {
	var list []Problem
	if m.Prior.Matches <= 0 {
		list = append(list, Problem{"prior.matches", "out_of_range", "must be more than 0"})
	}
	if len(m.Fields) == 0 {
		list = append(list, Problem{"fields", "required", "must be given"})
	}
	return list
}

func (*Model) Grade(bits, second float64, veto string, truncated bool) string { return "possible" }

type Evidence struct {
	Field, Level string
	Weight       float64
}

func Default() *Model {
	return &Model{Prior: Prior{0.5}, Fields: []Field{{"firstName", []Level{{"exact", 0.9, 0.1, false}, {"differ", 0.1, 0.9, true}}}}}
}

package body

// Raw is JSON that is answered as it stands: libs/web sends it byte for byte.
type Raw []byte

// MarshalJSON gives it to other encoders, which may set its spaces otherwise.
func (r Raw) MarshalJSON() ([]byte, error) { return r, nil }

package linkage

func street(t *Text, ws []word)             { t.setParts(ws) }
func city(t *Text, ws []word)               { t.setParts(ws) }
func region(t *Text, ws []word)             { t.setParts(ws) }
func postal(t *Text, raw string, ws []word) { t.setParts(ws) }

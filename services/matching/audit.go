package matching

// auditFind is the action that the audit trail tells of: that somebody was sought, never who.
const auditFind = "patient.find"

package patient

// The actions that the audit trail tells of.
const (
	auditCreate         = "patient.create"
	auditRead           = "patient.read"
	auditList           = "patient.list"
	auditUpdate         = "patient.update"
	auditDelete         = "patient.delete"
	auditRestore        = "patient.restore"
	auditHistory        = "history.read"
	auditDeceasedRead   = "deceased.read"
	auditDeceasedMark   = "deceased.mark"
	auditDeceasedUnmark = "deceased.unmark"
	auditRecordRead     = "record.read"
)

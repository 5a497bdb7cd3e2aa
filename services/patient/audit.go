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

// The actions on children, behind the name of their kind: address.create and so on.
const (
	auditChildCreate = ".create"
	auditChildList   = ".list"
	auditChildRead   = ".read"
	auditChildUpdate = ".update"
	auditChildDelete = ".delete"
)

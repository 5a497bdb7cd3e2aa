package attachment

// The actions that the audit trail tells of.
const (
	auditCreate   = "document.create"
	auditList     = "document.list"
	auditRead     = "document.read"
	auditUpdate   = "document.update"
	auditDelete   = "document.delete"
	auditUpload   = "document.upload"
	auditDownload = "document.download"
)

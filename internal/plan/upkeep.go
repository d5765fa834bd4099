package plan

// AnalyzeTable finds out how large tables are: one, or all of a database.
type AnalyzeTable struct {
	Name       []string // of a table, or of a database with All; nil for the current one
	All        bool
	Partition  []PartitionValue
	NoScan     bool // look at files, not at rows
	Columns    []string
	AllColumns bool
}

// RepairTable compares the partitions that the catalog knows of a table with its directories: those that are only there are added, those
// that are gone dropped.
type RepairTable struct {
	Name      []string
	Add, Drop bool
}

func (*AnalyzeTable) statement() {}
func (*RepairTable) statement()  {}

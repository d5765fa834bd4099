package errclass

// Kind says which family of exceptions a condition belongs to. Clients of Spark Connect choose
// their own exception type by Java class names, so each kind stands for a list of those.
type Kind uint8

// The kinds. The comment names the exception type that PySpark raises.
const (
	Analysis        Kind = iota // AnalysisException
	Parse                       // ParseException
	Arithmetic                  // ArithmeticException
	IllegalArgument             // IllegalArgumentException
	NumberFormat                // NumberFormatException
	DateTime                    // DateTimeException
	ArrayIndex                  // ArrayIndexOutOfBoundsException
	Unsupported                 // UnsupportedOperationException
	Runtime                     // SparkRuntimeException
	SparkFailure                // SparkException
	Execution                   // QueryExecutionException
	StreamFailed                // StreamingQueryException
	NoSuchElement               // SparkNoSuchElementException
	InvalidPlan                 // InvalidPlanInput
	Upgrade                     // SparkUpgradeException
	PythonFunction              // PythonException
	Handle                      // UnknownException: bad or cancelled handles
	ClassNotFound               // UnknownException: sources and sinks that do not exist
	IllegalState                // UnknownException
	FileMissing                 // UnknownException
	Concurrent                  // UnknownException: lost a race with another writer
	Other                       // UnknownException: no class that any client knows
	kindCount
)

// object ends every list: clients treat the list as a class hierarchy.
var object = []string{"java.lang.Exception", "java.lang.Throwable", "java.lang.Object"}

func chain(names ...string) []string { return append(names, object...) }

var classes = [kindCount][]string{
	Analysis:        chain("org.apache.spark.sql.catalyst.ExtendedAnalysisException", "org.apache.spark.sql.AnalysisException"),
	Parse:           chain("org.apache.spark.sql.catalyst.parser.ParseException", "org.apache.spark.sql.AnalysisException"),
	Arithmetic:      chain("org.apache.spark.SparkArithmeticException", "java.lang.ArithmeticException", "java.lang.RuntimeException"),
	IllegalArgument: chain("org.apache.spark.SparkIllegalArgumentException", "java.lang.IllegalArgumentException", "java.lang.RuntimeException"),
	NumberFormat:    chain("org.apache.spark.SparkNumberFormatException", "java.lang.NumberFormatException", "java.lang.IllegalArgumentException", "java.lang.RuntimeException"),
	DateTime:        chain("org.apache.spark.SparkDateTimeException", "java.time.DateTimeException", "java.lang.RuntimeException"),
	ArrayIndex:      chain("org.apache.spark.SparkArrayIndexOutOfBoundsException", "java.lang.ArrayIndexOutOfBoundsException", "java.lang.IndexOutOfBoundsException", "java.lang.RuntimeException"),
	Unsupported:     chain("org.apache.spark.SparkUnsupportedOperationException", "java.lang.UnsupportedOperationException", "java.lang.RuntimeException"),
	Runtime:         chain("org.apache.spark.SparkRuntimeException", "java.lang.RuntimeException"),
	SparkFailure:    chain("org.apache.spark.SparkException"),
	Execution:       chain("org.apache.spark.sql.execution.QueryExecutionException"),
	StreamFailed:    chain("org.apache.spark.sql.streaming.StreamingQueryException"),
	NoSuchElement:   chain("org.apache.spark.SparkNoSuchElementException", "java.util.NoSuchElementException", "java.lang.RuntimeException"),
	InvalidPlan:     chain("org.apache.spark.sql.connect.common.InvalidPlanInput"),
	Upgrade:         chain("org.apache.spark.SparkUpgradeException", "java.lang.RuntimeException"),
	PythonFunction:  chain("org.apache.spark.api.python.PythonException", "java.lang.RuntimeException"),
	Handle:          chain("org.apache.spark.SparkSQLException", "java.sql.SQLException"),
	ClassNotFound:   chain("org.apache.spark.SparkClassNotFoundException", "java.lang.ClassNotFoundException", "java.lang.ReflectiveOperationException"),
	IllegalState:    chain("org.apache.spark.SparkIllegalStateException", "java.lang.IllegalStateException", "java.lang.RuntimeException"),
	FileMissing:     chain("org.apache.spark.SparkFileNotFoundException", "java.io.FileNotFoundException", "java.io.IOException"),
	Concurrent:      chain("org.apache.spark.SparkConcurrentModificationException", "java.util.ConcurrentModificationException", "java.lang.RuntimeException"),
	Other:           chain("java.lang.RuntimeException"),
}

// Classes gives the Java class names of the error, the most special first. The slice is shared:
// do not change it.
func (e *Error) Classes() []string {
	if len(e.JavaClasses) > 0 {
		return e.JavaClasses
	}
	if e.Kind < kindCount {
		return classes[e.Kind]
	}
	return classes[Other]
}

// Package connectpb holds the Go code of the Spark Connect protocol (proto package
// spark.connect), as PySpark 4.2 speaks it: messages, enums and the gRPC service.
//
// Everything but this file and the tests is generated from proto/spark/connect by
// tools/protogen and checked in; change the .proto files and run make gen. The package knows
// nothing of the engine, and only the root package, backend, connect and analyze import it.
//
// The tests compare the compiled descriptors, field by field, with testdata/schema.txt, a
// listing taken from the pyspark-client wheel, so that a wrong number or type can't reach a
// client. With MILLRACE_PYTHON naming a Python that has the wheel installed, they take the
// listing anew and compare that too.
package connectpb

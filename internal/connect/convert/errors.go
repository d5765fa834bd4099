package convert

import (
	"fmt"
	"strconv"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/millrace/millrace/internal/errclass"
)

// notSet is the error for a oneof that the client left out.
func notSet(message, oneof string) error {
	return errclass.New("CONNECT_INVALID_PLAN.INVALID_ONE_OF_FIELD_NOT_SET", "fullName", message+"."+oneof, "name", oneof)
}

// notSupported is the error for a choice of a oneof that the engine does not know.
func notSupported(message string, choice any) error {
	return errclass.New("CONNECT_INVALID_PLAN.INVALID_ONE_OF_FIELD_NOT_SUPPORTED", "fullName", message, "name", choiceName(choice))
}

// choiceName names the message inside a oneof's wrapper: "MapPartitions" of *connectpb.Relation_MapPartitions.
func choiceName(choice any) string {
	s := fmt.Sprintf("%T", choice)
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] == '_' && i < len(s)-1 {
			return s[i+1:]
		}
	}
	return s
}

// fieldNotSet is the error for a field that must be there.
func fieldNotSet(message, field string) error {
	return errclass.New("CONNECT_INVALID_PLAN.FIELD_NOT_SET", "fullName", message, "name", field)
}

func invalidEnum(e protoreflect.Enum) error {
	d := e.Descriptor()
	name := strconv.Itoa(int(e.Number()))
	if v := d.Values().ByNumber(e.Number()); v != nil {
		name = string(v.Name())
	}
	return errclass.New("CONNECT_INVALID_PLAN.INVALID_ENUM", "fullName", string(d.FullName()), "name", name)
}

func malformed(reason string) error {
	return errclass.New("CONNECT_INVALID_PLAN.MALFORMED", "reason", reason)
}

// badArgument is the error for a value that the user gave and that makes no sense.
func badArgument(reason string) error {
	return errclass.New("CONNECT_INVALID_PLAN.MALFORMED", "reason", reason).WithKind(errclass.IllegalArgument)
}

func tooDeep(limit int) error {
	return errclass.New("CONNECT_INVALID_PLAN.TOO_DEEP", "limit", strconv.Itoa(limit))
}

// unsupported is the error for an operation of the protocol that the engine has not got.
func unsupported(what string) error {
	return errclass.New("UNSUPPORTED_FEATURE.RELATION", "relation", what)
}

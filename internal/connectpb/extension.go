package connectpb

import (
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
)

// drainQuery is the type of the command by which a query is drained: Spark's protocol has none. It is ours, and its bytes are those of
// the instance of the query. A server that does not know it answers that it has no handler for the extension.
const drainQuery = "type.googleapis.com/millrace.DrainStreamingQuery"

// NewDrainQuery makes the extension command that lets a query finish its batch and end.
func NewDrainQuery(q *StreamingQueryInstanceId) (*Command, error) {
	value, err := proto.Marshal(q)
	if err != nil {
		return nil, err
	}
	return &Command{CommandType: &Command_Extension{Extension: &anypb.Any{TypeUrl: drainQuery, Value: value}}}, nil
}

// DrainQuery tells whether an extension command drains a query, and which.
func DrainQuery(extension *anypb.Any) (q *StreamingQueryInstanceId, ok bool, err error) {
	if extension.GetTypeUrl() != drainQuery {
		return nil, false, nil
	}
	q = &StreamingQueryInstanceId{}
	return q, true, proto.Unmarshal(extension.GetValue(), q)
}

// NewExtension makes a command of a message that only millrace knows.
func NewExtension(m proto.Message) (*Command, error) {
	ext, err := anypb.New(m)
	if err != nil {
		return nil, err
	}
	return &Command{CommandType: &Command_Extension{Extension: ext}}, nil
}

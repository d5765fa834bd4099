package connect

import (
	"fmt"
	"strings"

	"github.com/google/uuid"

	"github.com/millrace/millrace/internal/connect/convert"
	"github.com/millrace/millrace/internal/connectpb"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
)

// command runs a command and sends its result, if it has one.
func (op *operation) command(m *connectpb.Command) error {
	switch k := m.GetCommandType().(type) {
	case *connectpb.Command_SqlCommand:
		return op.sqlCommand(k.SqlCommand)
	case *connectpb.Command_CreateDataframeView:
		return op.createView(k.CreateDataframeView)
	case *connectpb.Command_WriteOperation:
		return op.writeOperation(k.WriteOperation)
	case *connectpb.Command_WriteOperationV2:
		return op.writeOperationV2(k.WriteOperationV2)
	case *connectpb.Command_WriteStreamOperationStart:
		return op.startStream(k.WriteStreamOperationStart)
	case *connectpb.Command_StreamingQueryCommand:
		return op.streamCommand(k.StreamingQueryCommand)
	case *connectpb.Command_StreamingQueryManagerCommand:
		return op.managerCommand(k.StreamingQueryManagerCommand)
	case *connectpb.Command_StreamingQueryListenerBusCommand:
		return op.busCommand(k.StreamingQueryListenerBusCommand)
	case *connectpb.Command_CheckpointCommand:
		return op.checkpoint(k.CheckpointCommand)
	case *connectpb.Command_RemoveCachedRemoteRelationCommand:
		op.h.DropRemote(k.RemoveCachedRemoteRelationCommand.GetRelation().GetRelationId())
		return nil
	case *connectpb.Command_GetResourcesCommand:
		return op.send(&connectpb.ExecutePlanResponse{ResponseType: &connectpb.ExecutePlanResponse_GetResourcesCommandResult{
			GetResourcesCommandResult: &connectpb.GetResourcesCommandResult{},
		}})
	case *connectpb.Command_MlCommand:
		return op.mlCommand(k.MlCommand)
	case *connectpb.Command_RegisterFunction:
		f := k.RegisterFunction
		if f.GetPythonUdf() != nil {
			return errclass.New("UNSUPPORTED_FEATURE.PYTHON_FUNCTION", "functionName", errclass.Ident(f.GetFunctionName()))
		}
		return errclass.New("UNSUPPORTED_FEATURE.SCALA_FUNCTION", "functionName", errclass.Ident(f.GetFunctionName()))
	case *connectpb.Command_RegisterTableFunction:
		return errclass.New("UNSUPPORTED_FEATURE.PYTHON_FUNCTION", "functionName", errclass.Ident(k.RegisterTableFunction.GetFunctionName()))
	case *connectpb.Command_RegisterDataSource:
		return errclass.New("UNSUPPORTED_FEATURE.PYTHON_FUNCTION", "functionName", errclass.Ident(k.RegisterDataSource.GetName()))
	case *connectpb.Command_Extension:
		return op.extension(k.Extension)
	case nil:
		return errclass.New("CONNECT_INVALID_PLAN.INVALID_ONE_OF_FIELD_NOT_SET",
			"fullName", "spark.connect.Command.command_type", "name", "command_type")
	}
	return errclass.New("CONNECT.UNSUPPORTED_COMMAND", "command", commandName(m))
}

func commandName(m *connectpb.Command) string {
	return strings.TrimPrefix(fmt.Sprintf("%T", m.GetCommandType()), "*connectpb.Command_")
}

// send adds a response that is not large.
func (op *operation) send(m *connectpb.ExecutePlanResponse) error { return op.emit(op.ctx, m, nil, 0) }

// sqlCommand gives a query back as it came, and the rows of any other statement, which it runs.
func (op *operation) sqlCommand(m *connectpb.SqlCommand) error {
	input := convert.SQLInput(m)
	c := convert.New(op.ctx, op.h.Session)
	r, err := c.Statement(input)
	if err != nil {
		return err
	}
	out := input
	if r.Ran {
		data, err := op.collectIPC(op.ctx, r.Plan)
		if err != nil {
			return err
		}
		out = &connectpb.Relation{RelType: &connectpb.Relation_LocalRelation{LocalRelation: &connectpb.LocalRelation{Data: data}}}
	} else if _, err := op.h.Analyze(op.ctx, r.Plan); err != nil {
		return err
	}
	return op.send(&connectpb.ExecutePlanResponse{ResponseType: &connectpb.ExecutePlanResponse_SqlCommandResult_{
		SqlCommandResult: &connectpb.ExecutePlanResponse_SqlCommandResult{Relation: out},
	}})
}

func (op *operation) relation(m *connectpb.Relation) (plan.Node, error) {
	return convert.New(op.ctx, op.h.Session).Relation(m)
}

func (op *operation) createView(m *connectpb.CreateDataFrameViewCommand) error {
	n, err := op.relation(m.GetInput())
	if err != nil {
		return err
	}
	return op.h.CreateView(op.ctx, m.GetName(), n, m.GetIsGlobal(), m.GetReplace())
}

// checkpoint computes a relation and parks the rows, so that its plan becomes a leaf.
func (op *operation) checkpoint(m *connectpb.CheckpointCommand) error {
	n, err := op.relation(m.GetRelation())
	if err != nil {
		return err
	}
	n, err = op.h.Analyze(op.ctx, n)
	if err != nil {
		return err
	}
	if m.GetEager() {
		q, err := op.h.PrepareResolved(n, "checkpoint")
		if err != nil {
			return err
		}
		l := &plan.Local{Out: n.Output()}
		if l.Rows, err = q.Collect(op.ctx); err != nil {
			return err
		}
		n = l
	}
	id := uuid.NewString()
	op.h.PutRemote(id, n)
	return op.send(&connectpb.ExecutePlanResponse{ResponseType: &connectpb.ExecutePlanResponse_CheckpointCommandResult{
		CheckpointCommandResult: &connectpb.CheckpointCommandResult{Relation: &connectpb.CachedRemoteRelation{RelationId: id}},
	}})
}

// mlCommand knows the one command that clients send without the user having asked for anything.
func (op *operation) mlCommand(m *connectpb.MlCommand) error {
	if m.GetCleanCache() == nil {
		return errclass.New("CONNECT.UNSUPPORTED_COMMAND", "command", "machine learning")
	}
	return op.send(&connectpb.ExecutePlanResponse{ResponseType: &connectpb.ExecutePlanResponse_MlCommandResult{
		MlCommandResult: &connectpb.MlCommandResult{ResultType: &connectpb.MlCommandResult_Param{
			Param: convert.LiteralMessage(int32(0), nil),
		}},
	}})
}

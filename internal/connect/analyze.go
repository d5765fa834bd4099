package connect

import (
	"context"

	"github.com/millrace/millrace/internal/connect/convert"
	"github.com/millrace/millrace/internal/connectpb"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/session"
	"github.com/millrace/millrace/internal/typepb"
	"github.com/millrace/millrace/types"
)

// AnalyzePlan answers a question about a plan, a type or the server.
func (s *Service) AnalyzePlan(ctx context.Context, req *connectpb.AnalyzePlanRequest) (_ *connectpb.AnalyzePlanResponse, err error) {
	defer s.guard(&err)
	h, err := s.session(req)
	if err != nil {
		return nil, err
	}
	defer h.noted(&err)
	defer s.guard(&err)
	a := analysis{ctx: ctx, h: h, resp: &connectpb.AnalyzePlanResponse{SessionId: h.ID, ServerSideSessionId: h.ServerID}}
	if err := a.answer(req); err != nil {
		return nil, err
	}
	return a.resp, nil
}

// analysis is one AnalyzePlan request.
type analysis struct {
	ctx  context.Context
	h    *holder
	resp *connectpb.AnalyzePlanResponse
}

func (a *analysis) answer(req *connectpb.AnalyzePlanRequest) error {
	switch k := req.GetAnalyze().(type) {
	case *connectpb.AnalyzePlanRequest_Schema_:
		n, err := a.resolved(k.Schema.GetPlan())
		if err != nil {
			return err
		}
		a.resp.Result = &connectpb.AnalyzePlanResponse_Schema_{Schema: &connectpb.AnalyzePlanResponse_Schema{
			Schema: typepb.Message(plan.Schema(n)),
		}}
	case *connectpb.AnalyzePlanRequest_Explain_:
		return a.explain(k.Explain)
	case *connectpb.AnalyzePlanRequest_TreeString_:
		n, err := a.resolved(k.TreeString.GetPlan())
		if err != nil {
			return err
		}
		level := 0
		if k.TreeString.Level != nil {
			level = int(k.TreeString.GetLevel())
		}
		a.resp.Result = &connectpb.AnalyzePlanResponse_TreeString_{TreeString: &connectpb.AnalyzePlanResponse_TreeString{
			TreeString: plan.Schema(n).TreeString(level),
		}}
	case *connectpb.AnalyzePlanRequest_IsLocal_:
		n, err := a.resolved(k.IsLocal.GetPlan())
		if err != nil {
			return err
		}
		for done := false; !done; {
			switch x := n.(type) {
			case *plan.Aliased:
				n = x.Child
			case *plan.View:
				n = x.Child
			default:
				done = true
			}
		}
		_, local := n.(*plan.Local)
		a.resp.Result = &connectpb.AnalyzePlanResponse_IsLocal_{IsLocal: &connectpb.AnalyzePlanResponse_IsLocal{IsLocal: local}}
	case *connectpb.AnalyzePlanRequest_IsStreaming_:
		n, err := a.resolved(k.IsStreaming.GetPlan())
		if err != nil {
			return err
		}
		a.resp.Result = &connectpb.AnalyzePlanResponse_IsStreaming_{
			IsStreaming: &connectpb.AnalyzePlanResponse_IsStreaming{IsStreaming: n.Streaming()},
		}
	case *connectpb.AnalyzePlanRequest_InputFiles_:
		n, err := a.resolved(k.InputFiles.GetPlan())
		if err != nil {
			return err
		}
		files, err := session.InputFiles(a.ctx, n)
		if err != nil {
			return err
		}
		a.resp.Result = &connectpb.AnalyzePlanResponse_InputFiles_{InputFiles: &connectpb.AnalyzePlanResponse_InputFiles{Files: files}}
	case *connectpb.AnalyzePlanRequest_SparkVersion_:
		a.resp.Result = &connectpb.AnalyzePlanResponse_SparkVersion_{
			SparkVersion: &connectpb.AnalyzePlanResponse_SparkVersion{Version: session.Version},
		}
	case *connectpb.AnalyzePlanRequest_DdlParse:
		t, err := types.ParseDDLType(k.DdlParse.GetDdlString())
		if err != nil {
			return err
		}
		a.resp.Result = &connectpb.AnalyzePlanResponse_DdlParse{DdlParse: &connectpb.AnalyzePlanResponse_DDLParse{Parsed: typepb.Message(t)}}
	case *connectpb.AnalyzePlanRequest_JsonToDdl:
		t, err := types.ParseJSON([]byte(k.JsonToDdl.GetJsonString()))
		if err != nil {
			return err
		}
		st, ok := t.(types.StructType)
		if !ok {
			return errclass.New("INVALID_SCHEMA.NON_STRUCT_TYPE", "inputSchema", errclass.Text(k.JsonToDdl.GetJsonString()), "dataType", errclass.Expr(t.SQL()))
		}
		a.resp.Result = &connectpb.AnalyzePlanResponse_JsonToDdl{JsonToDdl: &connectpb.AnalyzePlanResponse_JsonToDDL{DdlString: st.DDL()}}
	case *connectpb.AnalyzePlanRequest_SameSemantics_:
		x, err := a.resolved(k.SameSemantics.GetTargetPlan())
		if err != nil {
			return err
		}
		y, err := a.resolved(k.SameSemantics.GetOtherPlan())
		if err != nil {
			return err
		}
		a.resp.Result = &connectpb.AnalyzePlanResponse_SameSemantics_{SameSemantics: &connectpb.AnalyzePlanResponse_SameSemantics{
			Result: session.Semantics(x) == session.Semantics(y),
		}}
	case *connectpb.AnalyzePlanRequest_SemanticHash_:
		n, err := a.resolved(k.SemanticHash.GetPlan())
		if err != nil {
			return err
		}
		a.resp.Result = &connectpb.AnalyzePlanResponse_SemanticHash_{
			SemanticHash: &connectpb.AnalyzePlanResponse_SemanticHash{Result: session.SemanticHash(n)},
		}
	default:
		return a.storage(req)
	}
	return nil
}

// storage answers the questions about kept relations.
func (a *analysis) storage(req *connectpb.AnalyzePlanRequest) error {
	switch k := req.GetAnalyze().(type) {
	case *connectpb.AnalyzePlanRequest_Persist_:
		n, err := a.relation(k.Persist.GetRelation())
		if err != nil {
			return err
		}
		a.resp.Result = &connectpb.AnalyzePlanResponse_Persist_{Persist: &connectpb.AnalyzePlanResponse_Persist{}}
		level := convert.StorageLevel(k.Persist.GetStorageLevel())
		if common := k.Persist.GetRelation().GetCommon(); common != nil && common.PlanId != nil {
			return a.h.Pin(a.ctx, common.GetPlanId(), k.Persist.GetRelation(), n, level)
		}
		return a.h.Persist(a.ctx, n, level)
	case *connectpb.AnalyzePlanRequest_Unpersist_:
		n, err := a.relation(k.Unpersist.GetRelation())
		if err != nil {
			return err
		}
		a.resp.Result = &connectpb.AnalyzePlanResponse_Unpersist_{Unpersist: &connectpb.AnalyzePlanResponse_Unpersist{}}
		return a.h.Unpersist(a.ctx, n)
	case *connectpb.AnalyzePlanRequest_GetStorageLevel_:
		n, err := a.relation(k.GetStorageLevel.GetRelation())
		if err != nil {
			return err
		}
		l, _, err := a.h.StorageLevelOf(a.ctx, n)
		if err != nil {
			return err
		}
		a.resp.Result = &connectpb.AnalyzePlanResponse_GetStorageLevel_{GetStorageLevel: &connectpb.AnalyzePlanResponse_GetStorageLevel{
			StorageLevel: &connectpb.StorageLevel{
				UseDisk: l.Disk, UseMemory: l.Memory, UseOffHeap: l.OffHeap, Deserialized: l.Deserialized, Replication: l.Replication,
			},
		}}
		return nil
	}
	return errclass.New("CONNECT_INVALID_PLAN.INVALID_ONE_OF_FIELD_NOT_SET",
		"fullName", "spark.connect.AnalyzePlanRequest.analyze", "name", "analyze")
}

func (a *analysis) relation(m *connectpb.Relation) (plan.Node, error) {
	return convert.New(a.ctx, a.h.Session).Relation(m)
}

// root is the relation of a plan, which must not be a command.
func (a *analysis) root(p *connectpb.Plan) (plan.Node, error) {
	p, err := decompressed(p)
	if err != nil {
		return nil, err
	}
	if p.GetRoot() == nil {
		return nil, errclass.New("CONNECT_INVALID_PLAN.FIELD_NOT_SET", "fullName", "spark.connect.Plan", "name", "root")
	}
	return a.relation(p.GetRoot())
}

func (a *analysis) resolved(p *connectpb.Plan) (plan.Node, error) {
	n, err := a.root(p)
	if err != nil {
		return nil, err
	}
	return a.h.Analyze(a.ctx, n)
}

func (a *analysis) explain(m *connectpb.AnalyzePlanRequest_Explain) error {
	n, err := a.root(m.GetPlan())
	if err != nil {
		return err
	}
	mode := m.GetExplainMode()
	if mode < connectpb.AnalyzePlanRequest_Explain_EXPLAIN_MODE_SIMPLE || mode > connectpb.AnalyzePlanRequest_Explain_EXPLAIN_MODE_FORMATTED {
		return errclass.New("CONNECT_INVALID_PLAN.INVALID_ENUM",
			"fullName", "spark.connect.AnalyzePlanRequest.Explain.ExplainMode", "name", mode.String())
	}
	text, err := a.h.Explain(a.ctx, n, session.ExplainMode(mode-1))
	if err != nil {
		return err
	}
	a.resp.Result = &connectpb.AnalyzePlanResponse_Explain_{Explain: &connectpb.AnalyzePlanResponse_Explain{ExplainString: text}}
	return nil
}

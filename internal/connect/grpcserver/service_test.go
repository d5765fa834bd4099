package grpcserver_test

import (
	"hash/crc32"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/millrace/millrace/internal/connectpb"
)

func TestHandles(t *testing.T) {
	c := serve(t, nil)
	version := func(session, observed string) error {
		req := &connectpb.AnalyzePlanRequest{
			SessionId: session,
			Analyze:   &connectpb.AnalyzePlanRequest_SparkVersion_{SparkVersion: &connectpb.AnalyzePlanRequest_SparkVersion{}},
		}
		if observed != "" {
			req.ClientObservedServerSideSessionId = &observed
		}
		r, err := c.AnalyzePlan(t.Context(), req)
		if err == nil && r.GetSparkVersion().GetVersion() != "4.2.0" {
			t.Errorf("version %v", r)
		}
		return err
	}
	for _, id := range []string{"", "abc", "00112233445566778899aabbccddeeff"} {
		wantCondition(t, version(id, ""), "INVALID_HANDLE.FORMAT")
	}
	if err := version(c.session, ""); err != nil {
		t.Fatal(err)
	}
	wantCondition(t, version(c.session, uuid.NewString()), "INVALID_HANDLE.SESSION_CHANGED")
	wantCondition(t, version(uuid.NewString(), uuid.NewString()), "INVALID_HANDLE.SESSION_CHANGED")

	bad := c.request(root(rangeOf(1)), true)
	bad.OperationId = ptr("x")
	_, err := drain(c.ExecutePlan(t.Context(), bad))
	wantCondition(t, err, "INVALID_HANDLE.FORMAT")

	if _, err := c.ReleaseSession(t.Context(), &connectpb.ReleaseSessionRequest{SessionId: c.session}); err != nil {
		t.Fatal(err)
	}
	wantCondition(t, version(c.session, ""), "INVALID_HANDLE.SESSION_CLOSED")
	again := uuid.NewString()
	if err := version(again, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := c.ReleaseSession(t.Context(), &connectpb.ReleaseSessionRequest{SessionId: again, AllowReconnect: true}); err != nil {
		t.Fatal(err)
	}
	if err := version(again, ""); err != nil {
		t.Errorf("a session that may come back: %v", err)
	}
}

func TestReleaseSessionEndsItsWork(t *testing.T) {
	c := serve(t, nil)
	s, err := c.ExecutePlan(t.Context(), c.request(root(query("SELECT sum(id) FROM range(0, 1000000000000000)")), true))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Recv(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.ReleaseSession(t.Context(), &connectpb.ReleaseSessionRequest{SessionId: c.session}); err != nil {
		t.Fatal(err)
	}
	_, err = drain(s, nil)
	wantCondition(t, err, "OPERATION_CANCELED")
}

func TestErrorDetails(t *testing.T) {
	c := serve(t, nil)
	_, err := drain(c.ExecutePlan(t.Context(), c.request(root(query("SELECT no_such_col FROM range(1)")), true)))
	class, id := condition(t, err)
	if class != "UNRESOLVED_COLUMN.WITH_SUGGESTION" || id == "" {
		t.Fatalf("class %s, id %q", class, id)
	}
	if st, _ := status.FromError(err); st.Code() != codes.Internal ||
		!strings.HasPrefix(st.Message(), "[UNRESOLVED_COLUMN.WITH_SUGGESTION]") || !strings.Contains(st.Message(), "SQLSTATE: 42703") {
		t.Errorf("status %v", st)
	}
	r, err := c.FetchErrorDetails(t.Context(), &connectpb.FetchErrorDetailsRequest{SessionId: c.session, ErrorId: id})
	if err != nil {
		t.Fatal(err)
	}
	if r.RootErrorIdx == nil || len(r.GetErrors()) != 1 {
		t.Fatalf("details %v", r)
	}
	th := r.GetErrors()[0].GetSparkThrowable()
	want := map[string]string{"objectName": "`no_such_col`", "proposal": "`id`"}
	if d := cmp.Diff(want, th.GetMessageParameters()); d != "" {
		t.Error(d)
	}
	q := th.GetQueryContexts()[0]
	if q.GetStartIndex() != 7 || q.GetStopIndex() != 17 || q.GetFragment() != "no_such_col" ||
		!strings.HasPrefix(q.GetSummary(), "== SQL (line 1, position 8) ==") {
		t.Errorf("context %v", q)
	}
	r, err = c.FetchErrorDetails(t.Context(), &connectpb.FetchErrorDetailsRequest{SessionId: c.session, ErrorId: uuid.NewString()})
	if err != nil || r.RootErrorIdx != nil || len(r.GetErrors()) > 0 {
		t.Errorf("an unknown id: %v, %v", r, err)
	}
}

// What does not fit into headers is cut; class and state stay.
func TestLongMessages(t *testing.T) {
	c := serve(t, nil)
	for _, text := range []string{strings.Repeat("x", 1<<20), strings.Repeat("世", 50000), "100%"} {
		_, err := drain(c.ExecutePlan(t.Context(), c.request(root(query("SELECT `"+text+"`")), true)))
		if class, _ := condition(t, err); class != "UNRESOLVED_COLUMN.WITHOUT_SUGGESTION" {
			t.Errorf("class %s", class)
		}
		if st, _ := status.FromError(err); len(st.Message()) > 4000 {
			t.Errorf("a message of %d bytes", len(st.Message()))
		}
	}
}

func TestDeepPlans(t *testing.T) {
	c := serve(t, nil)
	nest := func(n int) *connectpb.Relation {
		r := rangeOf(1)
		for range n {
			r = &connectpb.Relation{RelType: &connectpb.Relation_Limit{Limit: &connectpb.Limit{Input: r, Limit: 1}}}
		}
		return r
	}
	if got := rows(t, c.run(root(nest(500)))); len(got) != 1 {
		t.Errorf("rows %v", got)
	}
	_, err := drain(c.ExecutePlan(t.Context(), c.request(root(nest(4500)), true)))
	wantCondition(t, err, "CONNECT_INVALID_PLAN.TOO_DEEP")
	// Deeper ones cannot even be read as a message.
	if _, err = drain(c.ExecutePlan(t.Context(), c.request(root(nest(20000)), true))); err == nil {
		t.Error("a plan without end was run")
	}
}

func TestMalformedPlans(t *testing.T) {
	c := serve(t, nil)
	for want, p := range map[string]*connectpb.Plan{
		"CONNECT_INVALID_PLAN.INVALID_ONE_OF_FIELD_NOT_SET": {},
		"CONNECT_INVALID_PLAN.INPUT_NOT_SET":                root(&connectpb.Relation{RelType: &connectpb.Relation_Filter{Filter: &connectpb.Filter{}}}),
		"CONNECT_INVALID_PLAN.DECOMPRESSION": {OpType: &connectpb.Plan_CompressedOperation_{
			CompressedOperation: &connectpb.Plan_CompressedOperation{Data: []byte("zzz"), CompressionCodec: 1, OpType: 1},
		}},
		"CONNECT_INVALID_PLAN.STREAMING_QUERY_NOT_FOUND": command(&connectpb.Command{CommandType: &connectpb.Command_StreamingQueryCommand{
			StreamingQueryCommand: &connectpb.StreamingQueryCommand{
				QueryId: &connectpb.StreamingQueryInstanceId{Id: uuid.NewString()},
				Command: &connectpb.StreamingQueryCommand_Status{Status: true},
			},
		}}),
		"CONNECT.UNSUPPORTED_COMMAND": command(&connectpb.Command{CommandType: &connectpb.Command_PipelineCommand{}}),
	} {
		_, err := drain(c.ExecutePlan(t.Context(), c.request(p, true)))
		wantCondition(t, err, want)
	}
}

func TestConfig(t *testing.T) {
	c := serve(t, nil)
	config := func(op *connectpb.ConfigRequest_Operation) (map[string]string, *connectpb.ConfigResponse, error) {
		r, err := c.Config(t.Context(), &connectpb.ConfigRequest{SessionId: c.session, Operation: op})
		got := map[string]string{}
		for _, p := range r.GetPairs() {
			got[p.GetKey()] = "-"
			if p.Value != nil {
				got[p.GetKey()] = p.GetValue()
			}
		}
		return got, r, err
	}
	set := func(key, value string, silent bool) *connectpb.ConfigRequest_Operation {
		return &connectpb.ConfigRequest_Operation{OpType: &connectpb.ConfigRequest_Operation_Set{Set: &connectpb.ConfigRequest_Set{
			Pairs: []*connectpb.KeyValue{{Key: key, Value: &value}}, Silent: &silent,
		}}}
	}
	get := func(keys ...string) *connectpb.ConfigRequest_Operation {
		return &connectpb.ConfigRequest_Operation{OpType: &connectpb.ConfigRequest_Operation_Get{Get: &connectpb.ConfigRequest_Get{Keys: keys}}}
	}
	got, _, err := config(get("spark.sql.shuffle.partitions", "spark.sql.streaming.noDataProgressEventInterval", "spark.sql.binaryOutputStyle"))
	want := map[string]string{
		"spark.sql.shuffle.partitions": "200", "spark.sql.streaming.noDataProgressEventInterval": "10000ms", "spark.sql.binaryOutputStyle": "-",
	}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Errorf("get: %v %s", err, d)
	}
	_, _, err = config(get("spark.nope"))
	wantCondition(t, err, "SQL_CONF_NOT_FOUND")
	_, _, err = config(set("spark.sql.warehouse.dir", "x", false))
	wantCondition(t, err, "CANNOT_MODIFY_STATIC_CONFIG")
	if _, r, err := config(set("spark.sql.warehouse.dir", "x", true)); err != nil || len(r.GetWarnings()) != 1 {
		t.Errorf("silent: %v, %v", r, err)
	}
	if _, _, err := config(set("spark.sql.session.timeZone", "Europe/Berlin", false)); err != nil {
		t.Error(err)
	}
	got, _, err = config(&connectpb.ConfigRequest_Operation{OpType: &connectpb.ConfigRequest_Operation_GetAll{
		GetAll: &connectpb.ConfigRequest_GetAll{Prefix: ptr("spark.sql.session.")},
	}})
	if d := cmp.Diff(map[string]string{"timeZone": "Europe/Berlin"}, got); d != "" || err != nil {
		t.Errorf("get_all: %v %s", err, d)
	}
	got, _, err = config(&connectpb.ConfigRequest_Operation{OpType: &connectpb.ConfigRequest_Operation_GetOption{
		GetOption: &connectpb.ConfigRequest_GetOption{Keys: []string{"spark.nope", "spark.sql.ansi.enabled"}},
	}})
	if d := cmp.Diff(map[string]string{"spark.nope": "-", "spark.sql.ansi.enabled": "true"}, got); d != "" || err != nil {
		t.Errorf("get_option: %v %s", err, d)
	}
	got, _, err = config(&connectpb.ConfigRequest_Operation{OpType: &connectpb.ConfigRequest_Operation_GetWithDefault{
		GetWithDefault: &connectpb.ConfigRequest_GetWithDefault{Pairs: []*connectpb.KeyValue{
			{Key: "spark.nope", Value: ptr("d")}, {Key: "spark.sql.session.timeZone", Value: ptr("d")}, {Key: "spark.void"},
		}},
	}})
	if d := cmp.Diff(map[string]string{"spark.nope": "d", "spark.sql.session.timeZone": "Europe/Berlin", "spark.void": "-"}, got); d != "" || err != nil {
		t.Errorf("get_with_default: %v %s", err, d)
	}
	got, _, err = config(&connectpb.ConfigRequest_Operation{OpType: &connectpb.ConfigRequest_Operation_IsModifiable{
		IsModifiable: &connectpb.ConfigRequest_IsModifiable{Keys: []string{"spark.sql.warehouse.dir", "spark.sql.ansi.enabled", "spark.nope"}},
	}})
	if d := cmp.Diff(map[string]string{"spark.sql.warehouse.dir": "false", "spark.sql.ansi.enabled": "true", "spark.nope": "false"}, got); d != "" || err != nil {
		t.Errorf("is_modifiable: %v %s", err, d)
	}
}

func TestArtifacts(t *testing.T) {
	c := serve(t, nil)
	chunk := func(data string) *connectpb.AddArtifactsRequest_ArtifactChunk {
		return &connectpb.AddArtifactsRequest_ArtifactChunk{Data: []byte(data), Crc: int64(crc32.ChecksumIEEE([]byte(data)))}
	}
	local, err := proto.Marshal(&connectpb.LocalRelation{Schema: ptr("a INT")})
	if err != nil {
		t.Fatal(err)
	}
	s, err := c.AddArtifacts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []*connectpb.AddArtifactsRequest{
		{Payload: &connectpb.AddArtifactsRequest_Batch_{Batch: &connectpb.AddArtifactsRequest_Batch{
			Artifacts: []*connectpb.AddArtifactsRequest_SingleChunkArtifact{
				{Name: "cache/h1", Data: chunk(string(local))},
				{Name: "cache/bad", Data: &connectpb.AddArtifactsRequest_ArtifactChunk{Data: []byte("x"), Crc: 1}},
			},
		}}},
		{Payload: &connectpb.AddArtifactsRequest_BeginChunk{BeginChunk: &connectpb.AddArtifactsRequest_BeginChunkedArtifact{
			Name: "files/f", TotalBytes: 6, NumChunks: 2, InitialChunk: chunk("abc"),
		}}},
		{Payload: &connectpb.AddArtifactsRequest_Chunk{Chunk: chunk("def")}},
	} {
		m.SessionId = c.session
		if err := s.Send(m); err != nil {
			t.Fatal(err)
		}
	}
	r, err := s.CloseAndRecv()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for _, a := range r.GetArtifacts() {
		got[a.GetName()] = a.GetIsCrcSuccessful()
	}
	if d := cmp.Diff(map[string]bool{"cache/h1": true, "cache/bad": false, "files/f": true}, got); d != "" {
		t.Error(d)
	}
	st, err := c.ArtifactStatus(t.Context(), &connectpb.ArtifactStatusesRequest{SessionId: c.session, Names: []string{"cache/h1", "cache/bad", "files/f"}})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range got {
		if st.GetStatuses()[name].GetExists() != want {
			t.Errorf("%s: %v", name, st.GetStatuses()[name])
		}
	}
	cached := func(hash string) *connectpb.Plan {
		return root(&connectpb.Relation{RelType: &connectpb.Relation_CachedLocalRelation{CachedLocalRelation: &connectpb.CachedLocalRelation{Hash: hash}}})
	}
	if got := rows(t, c.run(cached("h1"))); len(got) != 0 {
		t.Errorf("rows %v", got)
	}
	_, err = drain(c.ExecutePlan(t.Context(), c.request(cached("h2"), true)))
	wantCondition(t, err, "CONNECT_INVALID_PLAN.CACHED_LOCAL_RELATION_NOT_FOUND")
}

func TestCloneSession(t *testing.T) {
	c := serve(t, nil)
	view := &connectpb.Command{CommandType: &connectpb.Command_CreateDataframeView{
		CreateDataframeView: &connectpb.CreateDataFrameViewCommand{Input: rangeOf(2), Name: "v"},
	}}
	c.run(command(view))
	r, err := c.CloneSession(t.Context(), &connectpb.CloneSessionRequest{SessionId: c.session})
	if err != nil {
		t.Fatal(err)
	}
	if r.GetNewSessionId() == c.session || r.GetNewServerSideSessionId() == "" {
		t.Fatalf("clone %v", r)
	}
	clone := &client{c.SparkConnectServiceClient, t, r.GetNewSessionId()}
	if d := cmp.Diff([]string{"0", "1"}, rows(t, clone.run(root(query("SELECT * FROM v"))))); d != "" {
		t.Error(d)
	}
	// What is done in one is not seen in the other.
	clone.run(root(query("DROP VIEW v")))
	if d := cmp.Diff([]string{"0", "1"}, rows(t, c.run(root(query("SELECT * FROM v"))))); d != "" {
		t.Error(d)
	}
	_, err = c.CloneSession(t.Context(), &connectpb.CloneSessionRequest{SessionId: c.session, NewSessionId: &clone.session})
	wantCondition(t, err, "CANNOT_CLONE_SESSION")
}

func TestAnalyze(t *testing.T) {
	c := serve(t, nil)
	ask := func(req *connectpb.AnalyzePlanRequest) *connectpb.AnalyzePlanResponse {
		t.Helper()
		req.SessionId = c.session
		r, err := c.AnalyzePlan(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	p := root(query("SELECT id, 'x' AS s FROM range(3) WHERE id > 1"))
	schema := ask(&connectpb.AnalyzePlanRequest{Analyze: &connectpb.AnalyzePlanRequest_Schema_{Schema: &connectpb.AnalyzePlanRequest_Schema{Plan: p}}})
	var names []string
	for _, f := range schema.GetSchema().GetSchema().GetStruct().GetFields() {
		names = append(names, f.GetName())
	}
	if d := cmp.Diff([]string{"id", "s"}, names); d != "" {
		t.Error(d)
	}
	tree := ask(&connectpb.AnalyzePlanRequest{Analyze: &connectpb.AnalyzePlanRequest_TreeString_{TreeString: &connectpb.AnalyzePlanRequest_TreeString{Plan: p}}})
	if want := "root\n |-- id: long (nullable = false)\n |-- s: string (nullable = false)\n"; tree.GetTreeString().GetTreeString() != want {
		t.Errorf("tree %q", tree.GetTreeString().GetTreeString())
	}
	for mode := connectpb.AnalyzePlanRequest_Explain_EXPLAIN_MODE_SIMPLE; mode <= connectpb.AnalyzePlanRequest_Explain_EXPLAIN_MODE_FORMATTED; mode++ {
		e := ask(&connectpb.AnalyzePlanRequest{Analyze: &connectpb.AnalyzePlanRequest_Explain_{Explain: &connectpb.AnalyzePlanRequest_Explain{Plan: p, ExplainMode: mode}}})
		if e.GetExplain().GetExplainString() == "" {
			t.Errorf("mode %s: no text", mode)
		}
	}
	streaming := ask(&connectpb.AnalyzePlanRequest{Analyze: &connectpb.AnalyzePlanRequest_IsStreaming_{IsStreaming: &connectpb.AnalyzePlanRequest_IsStreaming{Plan: p}}})
	if streaming.GetIsStreaming().GetIsStreaming() {
		t.Error("a range is no stream")
	}
	ddl := ask(&connectpb.AnalyzePlanRequest{Analyze: &connectpb.AnalyzePlanRequest_DdlParse{DdlParse: &connectpb.AnalyzePlanRequest_DDLParse{DdlString: "int"}}})
	if ddl.GetDdlParse().GetParsed().GetInteger() == nil {
		t.Errorf("ddl %v", ddl)
	}
	same := ask(&connectpb.AnalyzePlanRequest{Analyze: &connectpb.AnalyzePlanRequest_SameSemantics_{
		SameSemantics: &connectpb.AnalyzePlanRequest_SameSemantics{TargetPlan: p, OtherPlan: p},
	}})
	if !same.GetSameSemantics().GetResult() {
		t.Error("a plan has the same semantics as itself")
	}
}

package remote

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/millrace/millrace/internal/backend"
	"github.com/millrace/millrace/internal/connectpb"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// drain reads an execution to its end and returns the ids of its responses.
func drain(rs backend.Responses) (ids []string, err error) {
	for {
		r, _, err := rs.Next()
		if errors.Is(err, io.EOF) {
			return ids, nil
		}
		if err != nil {
			return ids, err
		}
		ids = append(ids, r.GetResponseId())
	}
}

func request() *connectpb.ExecutePlanRequest {
	return &connectpb.ExecutePlanRequest{SessionId: "s", OperationId: proto.String("op")}
}

func withClass(class, detail string) error {
	st, err := status.New(codes.Internal, "["+class+"] "+detail+" SQLSTATE: 22012").WithDetails(&errdetails.ErrorInfo{
		Reason: "r", Domain: "org.apache.spark",
		Metadata: map[string]string{
			"errorClass": class, "sqlState": "22012", "errorId": "e", "messageParameters": `{"config":"c"}`, "classes": `["a.B","a.C"]`,
		},
	})
	if err != nil {
		return err
	}
	return st.Err()
}

func TestExecutionsGoOn(t *testing.T) {
	gone := status.Error(codes.Unavailable, "gone")
	for _, tt := range []struct {
		name  string
		steps []step
		calls []string // release comes last, some time
		err   string
	}{
		{"in one stream", []step{{ids: []string{"1", "2", "end"}}}, []string{"execute op"}, ""},
		{
			"after the server ended a stream",
			[]step{{ids: []string{"1"}}, {}, {ids: []string{"2", "end"}}},
			[]string{"execute op", "reattach op after 1", "reattach op after 1"},
			"",
		},
		{
			"after a broken connection",
			[]step{{ids: []string{"1"}, err: gone}, {err: gone}, {ids: []string{"2", "end"}}},
			[]string{"execute op", "reattach op after 1", "reattach op after 1"},
			"",
		},
		{
			"after a connection that broke before the first response",
			[]step{{err: gone}, {ids: []string{"1", "2", "end"}}},
			[]string{"execute op", "execute op"},
			"",
		},
		{
			"after the server has lost the client",
			[]step{{ids: []string{"1"}, err: withClass("INVALID_CURSOR.DISCONNECTED", "cut")}, {ids: []string{"2", "end"}}},
			[]string{"execute op", "reattach op after 1"},
			"",
		},
		{
			"not after an error",
			[]step{{ids: []string{"1", "2"}, err: withClass("DIVIDE_BY_ZERO", "no")}},
			[]string{"execute op"},
			"[DIVIDE_BY_ZERO] no SQLSTATE: 22012",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &server{steps: tt.steps}
			c := serve(t, s, "")
			rs, err := c.Execute(t.Context(), request())
			if err != nil {
				t.Fatal(err)
			}
			ids, err := drain(rs)
			if got := text(err); got != tt.err {
				t.Errorf("error %q, want %q", got, tt.err)
			}
			if d := cmp.Diff([]string{"1", "2"}, ids); d != "" {
				t.Errorf("responses (-want +got):\n%s", d)
			}
			if err := rs.Close(); err != nil {
				t.Error(err)
			}
			c.calls.Wait()
			if d := cmp.Diff(append(tt.calls, "release op"), s.seen()); d != "" {
				t.Errorf("calls (-want +got):\n%s", d)
			}
			if _, _, err := rs.Next(); !errors.Is(err, io.EOF) {
				t.Errorf("Next after Close gives %v", err)
			}
		})
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestAnExecutionThatIsLeftIsInterrupted(t *testing.T) {
	s := &server{steps: []step{{ids: []string{"1"}, hang: true}}}
	c := serve(t, s, "")
	rs, err := c.Execute(t.Context(), request())
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := rs.Next(); err != nil {
		t.Fatal(err)
	}
	if err := rs.Close(); err != nil {
		t.Fatal(err)
	}
	c.calls.Wait()
	if d := cmp.Diff([]string{"execute op", "interrupt op", "release op"}, s.seen()); d != "" {
		t.Errorf("calls (-want +got):\n%s", d)
	}
}

func TestACancelledContextInterrupts(t *testing.T) {
	s := &server{steps: []step{{ids: []string{"1"}, hang: true}}}
	c := serve(t, s, "")
	ctx, cancel := context.WithCancel(t.Context())
	rs, err := c.Execute(ctx, request())
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := rs.Next(); err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, _, err := rs.Next(); !errors.Is(err, context.Canceled) {
		t.Errorf("Next gives %v", err)
	}
	if err := rs.Close(); err != nil {
		t.Fatal(err)
	}
	c.calls.Wait()
	if d := cmp.Diff([]string{"execute op", "interrupt op", "release op"}, s.seen()); d != "" {
		t.Errorf("calls (-want +got):\n%s", d)
	}
}

func TestAnExecutionThatWasNeverReadIsNotSent(t *testing.T) {
	s := &server{}
	c := serve(t, s, "")
	rs, err := c.Execute(t.Context(), request())
	if err != nil {
		t.Fatal(err)
	}
	if err := rs.Close(); err != nil {
		t.Fatal(err)
	}
	if calls := s.seen(); len(calls) > 0 {
		t.Errorf("calls %q", calls)
	}
}

func TestTheRequestIsNotChanged(t *testing.T) {
	s := &server{steps: []step{{ids: []string{"end"}}}}
	c := serve(t, s, "")
	req := &connectpb.ExecutePlanRequest{SessionId: "s"}
	rs, err := c.Execute(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := drain(rs); err != nil {
		t.Fatal(err)
	}
	if err := rs.Close(); err != nil {
		t.Fatal(err)
	}
	if req.OperationId != nil || req.RequestOptions != nil {
		t.Errorf("the request was changed: %v", req)
	}
}

func TestUnaryCallsAreRepeated(t *testing.T) {
	s := &server{refuse: 2}
	c := serve(t, s, "")
	if _, err := c.Analyze(t.Context(), &connectpb.AnalyzePlanRequest{}); err != nil {
		t.Fatal(err)
	}
	if n := len(s.seen()); n != 3 {
		t.Errorf("%d calls, want 3", n)
	}
}

func TestErrorsAreTyped(t *testing.T) {
	s := &server{
		steps: []step{{err: withClass("STREAM_FAILED", "short")}},
		details: &connectpb.FetchErrorDetailsResponse{
			RootErrorIdx: proto.Int32(1),
			Errors: []*connectpb.FetchErrorDetailsResponse_Error{
				{
					Message: "[DIVIDE_BY_ZERO] no SQLSTATE: 22012", ErrorTypeHierarchy: []string{"x.Y"},
					SparkThrowable: &connectpb.FetchErrorDetailsResponse_SparkThrowable{
						ErrorClass: proto.String("DIVIDE_BY_ZERO"), SqlState: proto.String("22012"),
						QueryContexts: []*connectpb.FetchErrorDetailsResponse_QueryContext{{StartIndex: 7, StopIndex: 9, Fragment: "1/0", ContextType: 1}},
					},
					CauseIdx: proto.Int32(0), // a circle
				},
				{Message: "[STREAM_FAILED] long and whole SQLSTATE: XXKST", CauseIdx: proto.Int32(0)},
			},
		},
	}
	c := serve(t, s, "")
	rs, err := c.Execute(t.Context(), request())
	if err != nil {
		t.Fatal(err)
	}
	defer rs.Close()
	_, err = drain(rs)
	e, ok := errors.AsType[*errclass.Error](err)
	if !ok {
		t.Fatalf("got %T: %v", err, err)
	}
	if e.Class != "STREAM_FAILED" || e.Message != "long and whole" || e.Params["config"] != "c" || e.Classes()[0] != "a.B" {
		t.Errorf("got %+v", e)
	}
	cause, ok := errors.AsType[*errclass.Error](e.Cause)
	if !ok || cause.Class != "DIVIDE_BY_ZERO" || len(cause.Context) != 1 {
		t.Fatalf("cause %+v", e.Cause)
	}
	want := errclass.QueryContext{Type: errclass.DataFrameContext, Start: 7, Stop: 9, Fragment: "1/0"}
	if d := cmp.Diff(want, cause.Context[0]); d != "" {
		t.Errorf("context (-want +got):\n%s", d)
	}
}

func TestErrorsWithoutDetails(t *testing.T) {
	c := &Client{}
	for _, tt := range []struct {
		in    error
		class string
	}{
		{status.Error(codes.Internal, "[DIVIDE_BY_ZERO] no SQLSTATE: 22012"), "DIVIDE_BY_ZERO"},
		{status.Error(codes.Internal, "plain"), ""},
		{io.ErrUnexpectedEOF, ""},
	} {
		err := c.typed(t.Context(), backend.Session{}, tt.in)
		e, ok := errors.AsType[*errclass.Error](err)
		if ok != (tt.class != "") || ok && e.Class != tt.class {
			t.Errorf("%v became %v", tt.in, err)
		}
	}
	if err := c.typed(t.Context(), backend.Session{}, status.Error(codes.DeadlineExceeded, "late")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestArtifacts(t *testing.T) {
	s := &server{}
	c := serve(t, s, "")
	big := strings.Repeat("x", 2*artifactChunk+1)
	send := func(yield func(backend.Artifact, error) bool) {
		_ = yield(backend.Artifact{Name: "small", Content: []byte("abc")}, nil) && yield(backend.Artifact{Name: "big", Content: []byte(big)}, nil)
	}
	if err := c.AddArtifacts(t.Context(), backend.Session{ID: "s"}, send); err != nil {
		t.Fatal(err)
	}
	if len(s.bodies) != 4 {
		t.Fatalf("%d messages, want 4", len(s.bodies))
	}
	if d := s.bodies[0].GetBatch().GetArtifacts()[0].GetData(); string(d.GetData()) != "abc" || d.GetCrc() != 0x352441c2 {
		t.Errorf("small: %v", d)
	}
	b := s.bodies[1].GetBeginChunk()
	whole := append(b.GetInitialChunk().GetData(), s.bodies[2].GetChunk().GetData()...)
	whole = append(whole, s.bodies[3].GetChunk().GetData()...)
	if b.GetNumChunks() != 3 || b.GetTotalBytes() != int64(len(big)) || string(whole) != big {
		t.Errorf("big: %d chunks, %d of %d bytes", b.GetNumChunks(), len(whole), b.GetTotalBytes())
	}

	s.damaged = true
	if err := c.AddArtifacts(t.Context(), backend.Session{ID: "s"}, send); !errclass.Has(err, "UNEXPECTED_RESPONSE") {
		t.Errorf("damage gives %v", err)
	}
	broken := errors.New("broken")
	fail := func(yield func(backend.Artifact, error) bool) { yield(backend.Artifact{}, broken) }
	if err := c.AddArtifacts(t.Context(), backend.Session{ID: "s"}, fail); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

func TestHeaders(t *testing.T) {
	s := &server{steps: []step{{ids: []string{"end"}}}}
	c := serve(t, s, "/;token=secret;x-team=a%20b;user_agent=mine")
	rs, err := c.Execute(t.Context(), request())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := drain(rs); err != nil {
		t.Fatal(err)
	}
	if err := rs.Close(); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{"authorization": "Bearer secret", "x-team": "a b"} {
		if got := s.headers.Get(key); len(got) != 1 || got[0] != want {
			t.Errorf("%s = %q, want %q", key, got, want)
		}
	}
	if got := s.headers.Get("user-agent"); len(got) != 1 || !strings.HasPrefix(got[0], "mine") {
		t.Errorf("user-agent = %q", got)
	}
}

func TestParseAddress(t *testing.T) {
	const id = "00112233-4455-6677-8899-aabbccddeeff"
	for _, tt := range []struct {
		text string
		want Address
	}{
		{"sc://host", Address{Host: "host:15002"}},
		{"sc://host:1/", Address{Host: "host:1"}},
		{"sc://[::1]:1", Address{Host: "[::1]:1"}},
		{"sc://h/;use_ssl=true;token=t;user_id=u;user_agent=a;session_id=" + id, Address{
			Host: "h:15002", SSL: true, Token: "t", UserID: "u", UserAgent: "a", SessionID: id,
		}},
		{"sc://h/;x=1;y=a%3Bb;", Address{Host: "h:15002", Headers: map[string]string{"x": "1", "y": "a;b"}}},
	} {
		got, err := ParseAddress(tt.text)
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		if tt.want.Headers == nil {
			tt.want.Headers = map[string]string{}
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", tt.text, d)
		}
	}
	for _, bad := range []string{
		"", "host:1", "http://h", "sc://", "sc://u@h", "sc://h?x=1", "sc://h/path", "sc://h/;novalue", "sc://h/;use_ssl=perhaps",
		"sc://h/;session_id=1", "sc://h:port",
	} {
		if a, err := ParseAddress(bad); !errclass.Has(err, "INVALID_CONNECT_URL") {
			t.Errorf("%q gives %+v, %v", bad, a, err)
		}
	}
}

func FuzzParseAddress(f *testing.F) {
	f.Add("sc://h:1/;a=b;use_ssl=true")
	f.Fuzz(func(t *testing.T, text string) {
		a, err := ParseAddress(text)
		if err == nil && (a.Host == "" || !strings.HasPrefix(strings.ToLower(text), "sc:")) {
			t.Errorf("%q gives %+v", text, a)
		}
	})
}

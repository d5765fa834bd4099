package convert

import (
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/millrace/millrace/internal/connectpb"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/processor"
	"github.com/millrace/millrace/internal/typepb"
	"github.com/millrace/millrace/types"
)

// extension translates a relation that only this engine knows: a GroupMap whose function is none of the protocol's but one of the
// session's Go functions, by its id.
func (c *Converter) extension(m *anypb.Any) (plan.Node, error) {
	g := &connectpb.GroupMap{}
	if !m.MessageIs(g) {
		return nil, unsupported("the extension " + m.GetTypeUrl())
	}
	if err := m.UnmarshalTo(g); err != nil {
		return nil, malformed("a GroupMap cannot be read")
	}
	id := g.GetFunc().GetFunctionName()
	f, found := c.s.Function(id)
	p, ok := f.(processor.Processor)
	if !found || !ok {
		return nil, errclass.New("UNSUPPORTED_FEATURE.GO_FUNCTION", "functionName", id)
	}
	info := g.GetTransformWithStateInfo()
	t := &plan.TransformGroups{Processor: p, Name: processorName(p), OutputMode: g.GetOutputMode(), EventTime: info.GetEventTimeColumnName()}
	if t.TimeMode, ok = processor.ParseTimeMode(info.GetTimeMode()); !ok {
		return nil, malformed("there is no time mode " + info.GetTimeMode())
	}
	out, err := typepb.Type(info.GetOutputSchema())
	if err != nil {
		return nil, err
	}
	st, ok := out.(types.StructType)
	if !ok {
		return nil, malformed("the output of a GroupMap is no struct")
	}
	t.Out = plan.Attrs(st)
	if t.Child, err = c.input(g.GetInput(), "GroupMap"); err != nil {
		return nil, err
	}
	if t.Keys, err = c.exprs(g.GetGroupingExpressions()); err != nil {
		return nil, err
	}
	if g.GetInitialInput() == nil {
		return t, nil
	}
	if t.Initial, err = c.input(g.GetInitialInput(), "GroupMap"); err != nil {
		return nil, err
	}
	t.InitialKeys, err = c.exprs(g.GetInitialGroupingExpressions())
	return t, err
}

// processorName is what a processor wants to be called in trees.
func processorName(p processor.Processor) string {
	if s, ok := p.(interface{ String() string }); ok {
		return s.String()
	}
	return "a processor"
}

package connect

import (
	"context"
	"strconv"
	"strings"

	"github.com/millrace/millrace/internal/connectpb"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/setting"
)

// Config reads and changes the settings of a session.
func (s *Service) Config(_ context.Context, req *connectpb.ConfigRequest) (_ *connectpb.ConfigResponse, err error) {
	defer s.guard(&err)
	h, err := s.session(req)
	if err != nil {
		return nil, err
	}
	defer h.noted(&err)
	resp := &connectpb.ConfigResponse{SessionId: h.ID, ServerSideSessionId: h.ServerID}
	add := func(key, value string, has bool) {
		p := &connectpb.KeyValue{Key: key}
		if has {
			p.Value = &value
		}
		resp.Pairs = append(resp.Pairs, p)
	}
	c := h.Conf
	switch op := req.GetOperation().GetOpType().(type) {
	case *connectpb.ConfigRequest_Operation_Set:
		for _, p := range op.Set.GetPairs() {
			if p.Value == nil {
				return nil, errclass.New("CONNECT_INVALID_PLAN.FIELD_NOT_SET", "fullName", "spark.connect.KeyValue", "name", "value")
			}
			if err := c.Set(p.GetKey(), p.GetValue()); err != nil {
				if !op.Set.GetSilent() {
					return nil, err
				}
				resp.Warnings = append(resp.Warnings, "The configuration "+p.GetKey()+" was not set: "+err.Error())
			}
		}
	case *connectpb.ConfigRequest_Operation_Get:
		for _, k := range op.Get.GetKeys() {
			v, has, err := c.Get(k)
			if err != nil {
				return nil, err
			}
			add(k, v, has)
		}
	case *connectpb.ConfigRequest_Operation_GetWithDefault:
		for _, p := range op.GetWithDefault.GetPairs() {
			v, has := c.Explicit(p.GetKey())
			if !has && p.Value != nil {
				if err := setting.CheckDefault(p.GetKey(), p.GetValue()); err != nil {
					return nil, err
				}
				v, has = p.GetValue(), true
			}
			add(p.GetKey(), v, has)
		}
	case *connectpb.ConfigRequest_Operation_GetOption:
		for _, k := range op.GetOption.GetKeys() {
			v, has := c.Lookup(k)
			add(k, v, has)
		}
	case *connectpb.ConfigRequest_Operation_GetAll:
		for _, p := range c.All() {
			if k, ok := strings.CutPrefix(p.Key, op.GetAll.GetPrefix()); ok {
				add(k, p.Value, true)
			}
		}
	case *connectpb.ConfigRequest_Operation_Unset:
		for _, k := range op.Unset.GetKeys() {
			if err := c.Unset(k); err != nil {
				return nil, err
			}
		}
	case *connectpb.ConfigRequest_Operation_IsModifiable:
		for _, k := range op.IsModifiable.GetKeys() {
			add(k, strconv.FormatBool(setting.Modifiable(k)), true)
		}
	default:
		return nil, errclass.New("CONNECT_INVALID_PLAN.INVALID_ONE_OF_FIELD_NOT_SET",
			"fullName", "spark.connect.ConfigRequest.Operation.op_type", "name", "op_type")
	}
	return resp, nil
}

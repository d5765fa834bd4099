package connect

import (
	"sync"

	"github.com/klauspost/compress/zstd"
	"google.golang.org/protobuf/proto"

	"github.com/millrace/millrace/internal/connectpb"
	"github.com/millrace/millrace/internal/errclass"
)

// maxPlanBytes bounds a plan after decompression.
const maxPlanBytes = 512 << 20

var zstdReader = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxPlanBytes))
})

// decompressed is a plan as it was before it was compressed.
func decompressed(p *connectpb.Plan) (*connectpb.Plan, error) {
	k, ok := p.GetOpType().(*connectpb.Plan_CompressedOperation_)
	if !ok {
		return p, nil
	}
	c := k.CompressedOperation
	bad := func(reason string) error {
		return errclass.New("CONNECT_INVALID_PLAN.DECOMPRESSION", "reason", reason)
	}
	if c.GetCompressionCodec() != connectpb.CompressionCodec_COMPRESSION_CODEC_ZSTD {
		return nil, bad("the codec " + c.GetCompressionCodec().String() + " is not supported")
	}
	r, err := zstdReader()
	if err != nil {
		return nil, err
	}
	data, err := r.DecodeAll(c.GetData(), nil)
	if err != nil {
		return nil, bad(err.Error())
	}
	switch c.GetOpType() {
	case connectpb.Plan_CompressedOperation_OP_TYPE_RELATION:
		var m connectpb.Relation
		if err := proto.Unmarshal(data, &m); err != nil {
			return nil, bad("the content is no relation")
		}
		return &connectpb.Plan{OpType: &connectpb.Plan_Root{Root: &m}}, nil
	case connectpb.Plan_CompressedOperation_OP_TYPE_COMMAND:
		var m connectpb.Command
		if err := proto.Unmarshal(data, &m); err != nil {
			return nil, bad("the content is no command")
		}
		return &connectpb.Plan{OpType: &connectpb.Plan_Command{Command: &m}}, nil
	}
	return nil, bad("it does not say what it holds")
}

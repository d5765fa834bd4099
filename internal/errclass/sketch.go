package errclass

// sketchTable: sketches as binary values.
var sketchTable = table{
	"HLL_INVALID_INPUT_SKETCH_BUFFER":          {"22546", Runtime, "<function> was given bytes that are no HLL sketch; hll_sketch_agg makes them."},
	"HLL_INVALID_LG_K":                         {"22546", Runtime, "The lgConfigK of <function> must be from <min> to <max>, not <value>."},
	"HLL_K_MUST_BE_CONSTANT":                   {"42K0E", Runtime, "The lgConfigK of <function> must be a constant."},
	"HLL_UNION_DIFFERENT_LG_K":                 {"22000", Runtime, "<function> was given sketches of the sizes <left> and <right>; pass true for allowDifferentLgConfigK to merge them all the same."},
	"KLL_INVALID_INPUT_SKETCH_BUFFER":          {"22000", Runtime, "<function> was given bytes that are no KLL sketch with values; kll_sketch_agg makes them."},
	"KLL_SKETCH_K_OUT_OF_RANGE":                {"22003", Analysis, "The k of <functionName> must be from 8 to 65535, not <k>."},
	"KLL_SKETCH_INVALID_QUANTILE_RANGE":        {"22003", Runtime, "The rank given to <functionName> must be from 0 to 1."},
	"SKETCH_INVALID_LG_NOM_ENTRIES":            {"22003", Runtime, "The lgNomEntries of <function> must be from <min> to <max>, not <value>."},
	"THETA_INVALID_INPUT_SKETCH_BUFFER":        {"22000", Runtime, "<function> was given bytes that are no Theta sketch; theta_sketch_agg makes them."},
	"THETA_LG_NOM_ENTRIES_MUST_BE_CONSTANT":    {"42K0E", Runtime, "The lgNomEntries of <function> must be a constant."},
	"TUPLE_INVALID_INPUT_SKETCH_BUFFER":        {"22000", Runtime, "<function> was given bytes that are no Tuple sketch of its kind; tuple_sketch_agg_double and tuple_sketch_agg_integer make them."},
	"TUPLE_INVALID_INPUT_SKETCH_BUFFER_FAMILY": {"22000", Runtime, "<function> was given a sketch of the family <actual> where one of <expected> is wanted."},
	"INVALID_BITMAP_POSITION":                  {"22003", Runtime, "The position <bitPosition> is outside of the bitmap of <bitmapNumBits> bits (<bitmapNumBytes> bytes); bitmap_bit_position gives positions."},
	"TUPLE_INVALID_SKETCH_MODE":                {"22023", Analysis, "<function> has no mode <mode>; the modes are <validModes>."},
}

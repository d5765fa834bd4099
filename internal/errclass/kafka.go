package errclass

import "strings"

// bare tells whether Spark's exception for an error is one of Java's or Kafka's without a condition. Clients are told the exception
// and no condition then; inside the engine the class is there like any other.
func bare(class string) bool {
	return strings.HasPrefix(class, "KAFKA_INVALID_OPTION.") || class == "KAFKA_CLIENT" || class == "KAFKA_UNKNOWN_TOPIC" || class == "KAFKA_LOST_TIME"
}

// Told is the condition that clients are told, or "" for errors that have none in Spark.
func (e *Error) Told() string {
	if bare(e.Class) {
		return ""
	}
	return e.Class
}

// unmarked tells whether the text of an error does not begin with its condition: Spark's Kafka exceptions know theirs, but do not say it.
func unmarked(class string) bool {
	_, ok := kafkaTable[class]
	return ok && !strings.HasPrefix(class, "_LEGACY")
}

// kafkaTable: the Kafka source and sink. A setting that Spark refuses with a plain
// IllegalArgumentException is KAFKA_INVALID_OPTION, which is ours.
var kafkaTable = table{
	"KAFKA_INVALID_OPTION.MISSING":                 {"42601", IllegalArgument, "The option <option> must be set for the Kafka source or sink."},
	"KAFKA_INVALID_OPTION.SUBSCRIPTION":            {"42613", IllegalArgument, "Exactly one of the options subscribe, subscribePattern and assign must be set, not <given>."},
	"KAFKA_INVALID_OPTION.UNSUPPORTED":             {"0A000", IllegalArgument, "The option <option> cannot be set: <reason>"},
	"KAFKA_INVALID_OPTION.VALUE":                   {"22023", IllegalArgument, "The option <option> cannot be '<value>': <requirement>"},
	"KAFKA_INVALID_OPTION.NOT_A_NUMBER":            {"22023", NumberFormat, "The option <option> must be a number, not '<value>'."},
	"KAFKA_INVALID_OPTION.NO_OFFSET_FOR_TIMESTAMP": {"22023", IllegalArgument, "No record of <topicPartition> is as late as the timestamp <timestamp>; set startingOffsetsByTimestampStrategy to latest to start at the end."},
	"KAFKA_CLIENT":                                 {"58030", SparkFailure, "The Kafka client failed: <reason>"},
	"KAFKA_UNKNOWN_TOPIC":                          {"42704", Other, "Kafka has no topic or partition <topic>; was it deleted, or is its name misspelt?"},
	"KAFKA_NULL_TOPIC_IN_DATA":                     {"42000", Other, "A row for the Kafka sink has a null topic; set the option topic or fill the column."},
	"MISSING_KAFKA_OPTION":                         {"42KDF", SparkFailure, "The Kafka option '<option>' must be set."},
	"KAFKA_LOST_TIME":                              {"58030", Other, "<what> of Kafka has not come within <time>: <reason>"},
	"_LEGACY_ERROR_TEMP_3080":                      {"", Analysis, "The columns do not suit the Kafka sink: <msg>"},
	"_LEGACY_ERROR_TEMP_3081":                      {"", Analysis, "The Kafka sink only appends; the save mode <mode> is not allowed, use append."},

	"KAFKA_START_OFFSET_DOES_NOT_MATCH_ASSIGNED":                        {"42KDG", IllegalState, "The starting offsets are for the partitions <specifiedPartitions>, but assigned are <assignedPartitions>; use -1 for the end and -2 for the beginning."},
	"KAFKA_TIMESTAMP_OFFSET_DOES_NOT_MATCH_ASSIGNED":                    {"42KDG", IllegalState, "The <position> timestamps are for the partitions <specifiedPartitions>, but assigned are <assignedPartitions>."},
	"RESOLVED_START_OFFSET_GREATER_THAN_END_OFFSET":                     {"22000", IllegalState, "The start offset <startOffset> of <topicPartition> lies behind the end offset <endOffset>."},
	"UNRESOLVED_START_OFFSET_GREATER_THAN_END_OFFSET":                   {"22000", IllegalState, "The start offset <startOffset> of <topicPartition> lies behind the end offset <endOffset>."},
	"MISMATCHED_TOPIC_PARTITIONS_BETWEEN_START_OFFSET_AND_END_OFFSET":   {"22000", IllegalState, "The start offsets are for the partitions <topicPartitionsForStartOffset>, the end offsets for <topicPartitionsForEndOffset>."},
	"MISMATCHED_TOPIC_PARTITIONS_BETWEEN_END_OFFSET_AND_PREFETCHED":     {"22000", IllegalState, "The latest offsets are for the partitions <tpsForLatestOffset>, those taken at the start for <tpsForPrefetched>; the topic changed under an availableNow query."},
	"END_OFFSET_HAS_GREATER_OFFSET_FOR_TOPIC_PARTITION_THAN_PREFETCHED": {"22000", IllegalState, "The end offset <endOffset> lies behind the one taken at the start, <prefetchedOffset>."},
	"MISMATCHED_TOPIC_PARTITIONS_BETWEEN_LATEST_OFFSET_AND_PREFETCHED":  {"22000", IllegalState, "The latest offsets are for the partitions <tpsForLatestOffset>, those taken at the start for <tpsForPrefetched>."},
	"LATEST_OFFSET_HAS_LESS_OFFSET_FOR_TOPIC_PARTITION_THAN_PREFETCHED": {"22000", IllegalState, "The latest offset <latestOffset> lies before the one taken at the start, <prefetchedOffset>; records were lost."},

	"KAFKA_DATA_LOSS.ADDED_PARTITION_DOES_NOT_START_FROM_OFFSET_ZERO": {"22000", IllegalState, "Records may be lost: the new partition <topicPartition> starts at offset <startOffset>. Set failOnDataLoss to false to go on."},
	"KAFKA_DATA_LOSS.COULD_NOT_READ_OFFSET_RANGE":                     {"22000", IllegalState, "Records may be lost: the offsets <startOffset> to <endOffset> of <topicPartition> cannot be read (group <groupId>). Set failOnDataLoss to false to go on."},
	"KAFKA_DATA_LOSS.INITIAL_OFFSET_NOT_FOUND_FOR_PARTITIONS":         {"22000", IllegalState, "Records may be lost: the partitions <partitions> have no first offset; they may have been deleted. Set failOnDataLoss to false to go on."},
	"KAFKA_DATA_LOSS.PARTITIONS_DELETED":                              {"22000", IllegalState, "Records may be lost: the partitions <partitions> are gone. Set failOnDataLoss to false to go on."},
	"KAFKA_DATA_LOSS.PARTITIONS_DELETED_AND_GROUP_ID_CONFIG_PRESENT":  {"22000", IllegalState, "Records may be lost: the partitions <partitions> are gone; the option <groupIdConfig> is set, so another query may have taken them. Set failOnDataLoss to false to go on."},
	"KAFKA_DATA_LOSS.PARTITION_OFFSET_CHANGED":                        {"22000", IllegalState, "Records may be lost: the offset of <topicPartition> went back from <prevOffset> to <newOffset>; was the topic deleted and made anew? Set failOnDataLoss to false to go on."},
	"KAFKA_DATA_LOSS.START_OFFSET_RESET":                              {"22000", IllegalState, "Records may be lost: the start of <topicPartition> moved from <offset> to <fetchedOffset>. Set failOnDataLoss to false to go on."},
}

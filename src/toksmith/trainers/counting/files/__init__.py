"""Files of counts: Parquet and TSV, shards of one corpus, and sums of files."""

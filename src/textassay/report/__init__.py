"""Records in, tables out: the report knows records, never measures."""

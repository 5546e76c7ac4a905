"""What every role owes as an HTTP service: keys, ids, counters, spans, probes and gates."""

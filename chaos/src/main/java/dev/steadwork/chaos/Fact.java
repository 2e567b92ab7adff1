package dev.steadwork.chaos;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * One line of a history.
 *
 * @param micros the wall clock, in microseconds since 1970
 * @param nanos the machine's monotonic clock, which all processes of the machine share
 * @param process who saw it
 * @param epoch the lease epoch under which it was seen, 0 if there is none
 */
record Fact(
        @JsonProperty("t") long micros,
        @JsonProperty("m") long nanos,
        @JsonProperty("p") String process,
        @JsonProperty("k") Kind kind,
        @JsonProperty("r") String run,
        @JsonProperty("s") String step,
        @JsonProperty("e") long epoch,
        @JsonProperty("v") String value) {}

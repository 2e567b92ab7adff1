package dev.steadwork.maintain;

import java.time.Duration;

/** Something to be done now and then; safe to be done by every process at once. */
public record Duty(String name, Duration interval, Runnable work) {}

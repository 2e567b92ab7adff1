package dev.steadwork.benchmarks.report;

/** A chart as a file. */
record Chart(String file, String title, String svg) {}

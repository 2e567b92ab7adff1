CREATE SCHEMA steadwork;

"""Configuration: option tables, flags and files, validation, and what comes out: one frozen `Config`."""

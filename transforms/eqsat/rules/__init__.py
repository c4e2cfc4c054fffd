"""One theory a file."""

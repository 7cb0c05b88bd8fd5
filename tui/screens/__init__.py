"""One screen a file, its .tcss beside it."""

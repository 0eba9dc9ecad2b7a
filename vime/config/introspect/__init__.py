"""The options of installed packages: read from the packages themselves, in a subprocess, once an installed version."""

"""The companion's web page, rendered on the server and enhanced by a script."""

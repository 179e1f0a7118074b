"""The page: what people see of a companion in a browser, made on the server; its script only adds to what is there."""

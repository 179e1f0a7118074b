"""Commands on who may use the companion, and who did. They work on its database itself, whether it runs or not."""

"""Where a user begins: templates, examples, and scenarios made from a link or a trace."""

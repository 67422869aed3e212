"""From a capture to the law of the link: what a connection met on its way."""

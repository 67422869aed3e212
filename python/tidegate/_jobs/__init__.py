"""Single runs in great number: what one is, the store that keeps its result, and who does them."""

"""How pictures look, and marks that every picture shares."""

"""One run: started, kept, told in tables and text, drawn."""

"""Pages: reports as one self-contained HTML file each, and what a notebook shows."""

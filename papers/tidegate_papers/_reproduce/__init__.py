"""Reproducing papers: claims measured and judged, figures drawn, one report."""

"""Link traces: described, converted and made."""

"""How everything looks: colours, markers, type."""

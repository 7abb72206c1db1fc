"""Why a text became its tokens: steps, explanations and diagrams."""

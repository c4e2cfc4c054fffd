"""Measurements of Albumen beside its peers: `python -m bench SUITE --vs inductor,eager`."""

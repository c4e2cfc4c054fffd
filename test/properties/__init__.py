"""Random programs: what they mean must not depend on how they are compiled."""

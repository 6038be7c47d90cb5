"""A site in a box: one machine that has what the facts of a site say, and nothing that only our site file says."""

"""What depends on the release of torch, as data: one frozen `Release` each, and which one a run is for.

docs/releases.md explains how to add a release.
"""

"""Gait: walking, running and their kin as motions of the standard skeleton.

A cycle is made of published joint angles (`norms`), adjusted so that feet stand exactly on their
footholds (`template`, `feet`), along a course (`course`), for a walker with a character (`walker`).
"""

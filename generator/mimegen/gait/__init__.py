"""Gait: walking, running and their kin as motions of the standard skeleton.

A cycle is made of published joint angles (`norms`), so that feet stand exactly where they are put
(`template`, `feet`), along a course (`course`), by a walker with a character (`walker`).
"""

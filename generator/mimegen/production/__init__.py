"""Carry out a plan: render its clips and write their manifest."""

"""Published clips against unseen ones: is a model's score remembered or real?"""

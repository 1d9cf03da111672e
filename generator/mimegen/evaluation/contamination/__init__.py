"""Compare published (seen) clips with unseen ones: is a model's score memorised or real?"""

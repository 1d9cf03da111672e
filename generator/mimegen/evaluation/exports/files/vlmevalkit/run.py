"""VLMEvalKit's own run.py with this dataset added; it takes the same options."""

import os

from mimegen_dataset import MimegenVideo
from vlmeval import dataset, run

# The kit's default, .xlsx, cuts predictions after 32,767 characters, where long reasoning ends.
os.environ.setdefault("PRED_FORMAT", "tsv")
dataset.MimegenVideo = MimegenVideo
dataset.DATASET_CLASSES.append(MimegenVideo)

if __name__ == "__main__":
    run.main()

"""VLMEvalKit's own run.py with this dataset added; it takes the same options."""

from mimegen_dataset import MimegenVideo
from vlmeval import dataset, run

dataset.MimegenVideo = MimegenVideo
dataset.DATASET_CLASSES.append(MimegenVideo)

if __name__ == "__main__":
    run.main()

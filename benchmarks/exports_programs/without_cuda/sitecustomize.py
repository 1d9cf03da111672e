"""Lets PyPI's torchvision load beside a PyTorch for processors alone.

Its compiled part wants CUDA's libraries and is passed over in silence; then it says what shape two
operators of that part return, which nobody has declared. They are declared here, and never called.
"""

import torch

if torch.version.cuda is None:
    library = torch.library.Library("torchvision", "FRAGMENT")
    for name in ("nms", "qnms"):
        library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")

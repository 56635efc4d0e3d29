"""OpenCV in a DataLoader: imread, a crop that is a view, INTER_LINEAR."""

import cv2
import numpy
import torch
import torchvision
from common import RATIO, SCALE, arguments, measure
from torch_loader import batches_of


def load(path):
    return cv2.imread(path, cv2.IMREAD_COLOR_RGB)


class Augment:
    def __init__(self, size):
        self.size = size

    def __call__(self, picture):
        height, width = picture.shape[:2]
        shape_only = torch.empty(1).expand(3, height, width)
        y, x, h, w = torchvision.transforms.RandomResizedCrop.get_params(shape_only, SCALE, RATIO)
        picture = cv2.resize(
            picture[y : y + h, x : x + w], (self.size, self.size), interpolation=cv2.INTER_LINEAR
        )
        if torch.rand(1) < 0.5:
            picture = cv2.flip(picture, 1)
        return torch.from_numpy(numpy.ascontiguousarray(picture))


def main():
    a = arguments()
    cv2.setNumThreads(0)
    dataset = torchvision.datasets.ImageFolder(a.folder, Augment(a.size), loader=load)
    measure(batches_of(dataset, a.workers), a.seconds, version=cv2.__version__, filter="bilinear")


main()

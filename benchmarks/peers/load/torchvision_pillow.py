"""torchvision as its training scripts are mostly written: Pillow decodes, Pillow crops and
resizes."""

import torchvision
from common import RATIO, SCALE, arguments, measure
from torch_loader import batches_of
from torchvision import transforms


def main():
    a = arguments()
    crop = transforms.RandomResizedCrop(a.size, SCALE, RATIO)
    steps = transforms.Compose([crop, transforms.RandomHorizontalFlip(), transforms.PILToTensor()])
    dataset = torchvision.datasets.ImageFolder(a.folder, steps)
    measure(
        batches_of(dataset, a.workers),
        a.seconds,
        version=torchvision.__version__,
        filter="antialias",
    )


main()

"""torchvision at its fastest: decode_image (libjpeg-turbo, libpng), v2 transforms on uint8
tensors."""

import torchvision
from common import RATIO, SCALE, arguments, measure
from torch_loader import batches_of
from torchvision.io import ImageReadMode, decode_image
from torchvision.transforms import v2


def load(path):
    return decode_image(path, ImageReadMode.RGB)


def main():
    a = arguments()
    crop = v2.RandomResizedCrop(a.size, SCALE, RATIO, antialias=True)
    dataset = torchvision.datasets.ImageFolder(
        a.folder, v2.Compose([crop, v2.RandomHorizontalFlip()]), loader=load
    )
    measure(
        batches_of(dataset, a.workers),
        a.seconds,
        version=torchvision.__version__,
        filter="antialias",
    )


main()

"""FFCV: the pictures in its own file (JPEG, quality 90, made once), its fused decoder, --workers
threads."""

import os

import ffcv
import torchvision
from common import BATCH, RATIO, SCALE, arguments, endless, measure
from ffcv.fields import IntField, RGBImageField
from ffcv.fields.decoders import IntDecoder, RandomResizedCropRGBImageDecoder
from ffcv.loader import Loader, OrderOption
from ffcv.transforms import RandomHorizontalFlip, ToTensor
from ffcv.writer import DatasetWriter


def packed(folder, cache):
    path = os.path.join(cache, "pictures.beton")
    if not os.path.exists(path):
        fields = {"picture": RGBImageField(write_mode="jpg", jpeg_quality=90), "label": IntField()}
        writer = DatasetWriter(path + ".new", fields, num_workers=1)
        writer.from_indexed_dataset(torchvision.datasets.ImageFolder(folder))
        os.rename(path + ".new", path)
    return path


def main():
    a = arguments()
    decoder = RandomResizedCropRGBImageDecoder((a.size, a.size), SCALE, RATIO)
    loader = Loader(
        packed(a.folder, a.cache),
        batch_size=BATCH,
        num_workers=a.workers,
        order=OrderOption.RANDOM,
        os_cache=True,
        drop_last=True,
        pipelines={
            "picture": [decoder, RandomHorizontalFlip(), ToTensor()],
            "label": [IntDecoder(), ToTensor()],
        },
    )
    measure(
        endless(lambda: (len(pictures) for pictures, _ in loader)),
        a.seconds,
        version=ffcv.__version__,
        filter="area",
        note="JPEG encoded again, packed in one file",
    )


main()

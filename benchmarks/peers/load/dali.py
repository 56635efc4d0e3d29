"""NVIDIA DALI on the CPU: the decoder that knows its crop, resize, flip; --workers threads."""

import nvidia.dali as dali
from common import BATCH, RATIO, SCALE, arguments, measure
from nvidia.dali import fn, pipeline_def, types


@pipeline_def(batch_size=BATCH)
def pipeline(folder, size):
    files, _ = fn.readers.file(
        file_root=folder, random_shuffle=True, prefetch_queue_depth=4, name="files"
    )
    pictures = fn.decoders.image_random_crop(
        files, device="cpu", random_area=SCALE, random_aspect_ratio=RATIO
    )
    pictures = fn.resize(
        pictures, size=[size, size], interp_type=types.INTERP_LINEAR, antialias=True
    )
    return fn.flip(pictures, horizontal=fn.random.coin_flip())


def main():
    a = arguments()
    pipe = pipeline(a.folder, a.size, num_threads=a.workers, device_id=None, prefetch_queue_depth=2)
    pipe.build()

    def batches():
        while True:
            (pictures,) = pipe.run()
            yield len(pictures)

    measure(batches(), a.seconds, version=dali.__version__, filter="antialias")


main()

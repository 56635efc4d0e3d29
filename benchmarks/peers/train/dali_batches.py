"""Training batches by NVIDIA DALI: random-resized-crop, flip and normalisation as in torchvision's
training script."""

import sys

try:
    from nvidia.dali import fn, pipeline_def, types
    from nvidia.dali.plugin.pytorch import DALIGenericIterator
except ImportError as error:
    sys.exit(f"DALI: is not there ({error}); install nvidia-dali-cuda130 beside torch")

MEAN, STD = [255 * v for v in (0.485, 0.456, 0.406)], [255 * v for v in (0.229, 0.224, 0.225)]


def pipeline(folder, a, on_gpu):
    @pipeline_def(
        batch_size=a.batch_size,
        num_threads=a.workers,
        device_id=0 if on_gpu else None,
        prefetch_queue_depth=2,
    )
    def steps():
        files, labels = fn.readers.file(file_root=folder, random_shuffle=True, name="files")
        pictures = fn.decoders.image_random_crop(
            files,
            device="mixed" if on_gpu else "cpu",
            random_area=[0.08, 1.0],
            random_aspect_ratio=[3 / 4, 4 / 3],
        )
        pictures = fn.resize(
            pictures, size=[a.input_size] * 2, interp_type=types.INTERP_LINEAR, antialias=True
        )
        pictures = fn.crop_mirror_normalize(
            pictures,
            mirror=fn.random.coin_flip(),
            mean=MEAN,
            std=STD,
            output_layout="HWC",
            dtype=types.FLOAT16 if a.precision == "fp16" else types.FLOAT,
        )
        return pictures, labels.gpu() if on_gpu else labels

    return steps()


def batches(folder, a, dtype, layout):
    """Endless: (pictures (N, 3, H, W) of `dtype` in memory format `layout`, labels (N)), both on
    a.device."""
    on_gpu = a.device.startswith("cuda")
    # no size: endless
    source = DALIGenericIterator(
        [pipeline(folder, a, on_gpu)], ["pictures", "labels"], auto_reset=True
    )
    for (batch,) in source:
        pictures = batch["pictures"].permute(0, 3, 1, 2).to(dtype).contiguous(memory_format=layout)
        yield pictures, batch["labels"].squeeze(-1).long()

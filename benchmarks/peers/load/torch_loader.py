"""Peers that load by PyTorch's DataLoader: a dataset whose samples are uint8 tensors of one
size."""

import torch
from common import BATCH, endless


def batches_of(dataset, workers):
    # One thread a process: the workers are the parallelism.
    loader = torch.utils.data.DataLoader(
        dataset,
        BATCH,
        shuffle=True,
        drop_last=True,
        num_workers=workers,
        persistent_workers=True,
        prefetch_factor=2,
        worker_init_fn=lambda _: torch.set_num_threads(1),
    )

    def epoch():
        for pictures, _ in loader:
            assert pictures.dtype == torch.uint8
            yield len(pictures)

    return endless(epoch)

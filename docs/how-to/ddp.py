"""Trains a small model on every rank of a job, and goes on where an earlier job ended:

    sbatch job.sh ddp.py EPOCHS SAVE_EVERY [--batch_size 32] [--snapshot snapshot.pt]

job.sh and run-rank, of `wheelyard-builder site user-files`, set MASTER_ADDR, MASTER_PORT, RANK, WORLD_SIZE and LOCAL_RANK.
Written after OLCF's multinode_olcf.py for Frontier; without a GPU its ranks meet by Gloo.
"""

import argparse
import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("epochs", type=int)
    parser.add_argument("save_every", type=int)
    parser.add_argument("--batch_size", type=int, default=32)
    parser.add_argument("--snapshot", default="snapshot.pt")
    asked = parser.parse_args()

    gpus = torch.cuda.is_available()
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"])) if gpus else torch.device("cpu")
    if gpus:
        torch.cuda.set_device(device)
    dist.init_process_group("nccl" if gpus else "gloo")
    rank = dist.get_rank()

    torch.manual_seed(0)  # the same data on every rank; each takes its part
    inputs = torch.rand(2048, 20)
    data = TensorDataset(inputs, inputs.sum(dim=1, keepdim=True))
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=asked.batch_size, sampler=sampler, pin_memory=gpus)
    model = torch.nn.Linear(20, 1).to(device)
    first = 0
    if os.path.exists(asked.snapshot):
        saved = torch.load(asked.snapshot, map_location=device)
        model.load_state_dict(saved["model"])
        first = saved["epoch"] + 1
        print(f"rank {rank} resumes after epoch {saved['epoch']}", flush=True)
    model = DistributedDataParallel(model, device_ids=[device.index] if gpus else None)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)

    for epoch in range(first, asked.epochs):
        sampler.set_epoch(epoch)
        total = torch.zeros(1, device=device)
        for batch, targets in loader:
            optimizer.zero_grad()
            loss = torch.nn.functional.mse_loss(model(batch.to(device)), targets.to(device))
            loss.backward()
            optimizer.step()
            total += loss.detach()
        dist.all_reduce(total)
        if rank == 0:
            mean = total.item() / len(loader) / dist.get_world_size()
            print(f"epoch {epoch}: loss {mean:.5f}, {dist.get_world_size()} ranks, {dist.get_backend()}", flush=True)
        if rank == 0 and epoch % asked.save_every == 0:
            torch.save({"model": model.module.state_dict(), "epoch": epoch}, asked.snapshot + ".tmp")
            os.replace(asked.snapshot + ".tmp", asked.snapshot)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

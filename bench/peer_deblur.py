# peer_deblur.py FOLDER HEIGHT WIDTH PSF NAME SECONDS PSNR - scikit-image on what bench_deblur left in FOLDER: a line per
# method with its PSNR and seconds, and rows beside our SECONDS and PSNR, as root mean square errors. "best" rows have their
# strength chosen with the truth, which no user can.
import sys
import time
import warnings

import numpy as np
from rows import add_row

warnings.filterwarnings("ignore")
work, own_seconds, own_psnr = sys.argv[5], float(sys.argv[6]), float(sys.argv[7])


def rmse(decibels):
    return 10 ** (-decibels / 20)


try:
    from skimage import restoration
except ImportError:
    print("  scikit-image is not installed: its rows are left out")
    add_row(work, own_seconds)
    add_row(work, rmse(own_psnr), unit="rmse")
    sys.exit(0)

folder, height, width, side = sys.argv[1], *(int(v) for v in sys.argv[2:5])
truth = np.fromfile(f"{folder}/truth").reshape(height, width)
image = np.fromfile(f"{folder}/image").reshape(height, width)
psf = np.fromfile(f"{folder}/psf").reshape(side, side)
clipped = np.clip(image, 0, 1)


def psnr(x):
    return -10 * np.log10(np.mean((np.clip(x, 0, 1) - truth) ** 2))


def show(name, runs):
    start = time.perf_counter()
    found = [(psnr(run()), note) for run, note in runs]
    seconds = (time.perf_counter() - start) / len(runs)
    best = max(found)
    print(f"  {name:44s} {best[0]:6.2f} dB  {seconds:7.3f} s  {best[1]}")
    sys.stdout.flush()
    add_row(work, own_seconds, peer=name, theirs=seconds)
    add_row(work, rmse(own_psnr), unit="rmse", peer=name, theirs=rmse(best[0]))


def tv(weight):
    return lambda: restoration.denoise_tv_chambolle(clipped, weight=weight)


def wiener(balance):
    return lambda: restoration.wiener(clipped, psf, balance)


def lucy(count):
    return lambda: restoration.richardson_lucy(clipped, psf, num_iter=count)


show("skimage unsupervised_wiener", [(lambda: restoration.unsupervised_wiener(clipped, psf, rng=0)[0], "")])
show("skimage denoise_tv_chambolle", [(tv(0.1), "weight .1, the default")])
show("skimage denoise_tv_chambolle, best", [(tv(w), f"weight {w}") for w in (0.01, 0.02, 0.05, 0.1, 0.2)])
show("skimage richardson_lucy", [(lucy(50), "50 iterations, the default")])
show("skimage wiener, best", [(wiener(b), f"balance {b}") for b in (0.001, 0.005, 0.02, 0.05, 0.1, 0.3)])

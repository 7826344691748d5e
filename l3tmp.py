import sys, time, gc, json
from pathlib import Path
from tests.bench.beside import beside
from tests.bench.large_llama import LargeLlama
from tests.bench.large_rows import Own
import torch
if __name__=='__main__':
    for k in sys.argv[1:]:
        p=f'/tmp/L1/1b-{k}.gguf'
        open(p,'rb').read()
        with beside(Own) as own, beside(LargeLlama, 2, python='/tmp/lcpenv/bin/python') as ll:
            a=own('load',p); b=[ll('load',p,2048) for _ in range(2)]
            print(k, a, b, 'ratio', a[0]/min(b), flush=True)

import time as _t
from dataclasses import dataclass
__version__="0.1.0"
@dataclass
class _R:
    model:str;vocab_size:int;merges:int;documents:int;bytes:int;chunks:int;tokens:int;seconds:float;options:dict
def load(path, format=None, **kw):
    from toksmith import formats; from toksmith.tokenizer import Tokenizer
    return Tokenizer(formats.read(path, format, **kw))
def get(name):
    from toksmith.published import fetch; from toksmith.tokenizer import Tokenizer
    return Tokenizer(fetch(name))
def train(files, *, model="bpe", vocab_size, split="gpt4", special_tokens=(), ties="first-seen", min_frequency=1, max_token_length=None, separator=None, threads=None, progress=None):
    from toksmith.reference.bpe_training import training_steps
    from toksmith.reference.splitting import chunk_spans
    from toksmith.splitters import splitter
    from toksmith.pipeline import Pipeline; from toksmith.models import BPE; from toksmith.framing import Framing
    from toksmith.tokenizer import Tokenizer
    from toksmith.progress import training_progress
    from collections import Counter
    import glob
    t=_t.time(); c=Counter(); n=0; sp=splitter(split)
    fs=[g for f in files for g in glob.glob(f)][:30]
    for f in fs:
        d=open(f,'rb').read()[:200000]; n+=len(d)
        c.update(d[a:b] for a,b in chunk_spans(sp,d))
    v=[bytes([b]) for b in range(256)]; m=[]
    with training_progress(vocab_size-256-len(special_tokens), progress) as rep:
        for s in training_steps(c, vocab_size-len(special_tokens), ties=ties, min_frequency=min_frequency, max_token_length=max_token_length):
            v.append(s.token); m.append((*s.pair,s.new)); rep(len(m), s.token, s.count)
    p=Pipeline(BPE(tuple(v),m),sp,Framing.of({x:len(v)+i for i,x in enumerate(special_tokens)}))
    return Tokenizer(p,_R(model,vocab_size,len(m),len(fs),n,len(c),sum(c.values()),_t.time()-t,{}))

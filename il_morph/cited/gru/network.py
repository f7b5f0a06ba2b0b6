"""The GRU encoder–decoder with attention of Bahdanau et al. (2015) on a batch: forward, loss, backward.

    characters [C, I], features [F, I], actions [A, J]
    encoder.L.x [2, …, 3E], encoder.L.h [2, E, 3E], encoder.L.b [2, 3E]: GRU layers, forward and backward
    start.W [2E, layers · D] (MED: [E, layers · D]), start.b
    attention.W [D, D], attention.U [2E, D], attention.b [D], attention.v [D]
    decoder.L.x […, 3D], decoder.L.h [D, 3D], decoder.L.b [3D]
    readout.W [D + J + 2E, J], readout.b [J]; output.W [J, A], output.b [A]

for embedding sizes I and J, encoder size E and decoder size D; matrix columns are output units. The encoder reads
BEGIN, features, characters, END. The decoder's first layer reads [last symbol; context]; its previous state is the
query of attention. A higher layer reads the output of the layer below, and the two outputs are added; in the encoder,
it runs in the opposite direction to the layer below.
P = softmax(R tanh(W [s; last symbol; context] + b) + b_R).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from il_morph.cited.gru.cells import Attended, Gates, Layer, Weights, attend, attend_back, flat
from il_morph.model.settings import ModelSettings
from il_morph.transitions.actions import END, UNK

FAR = -1e9  # a score that gets no probability


def with_average(table: np.ndarray) -> np.ndarray:
    """The table with the average of all other rows as the row of UNK, if there are any."""
    whole = table.copy()
    if len(table) > 1:
        whole[UNK] = table[1:].mean(axis=0)
    return whole


def without_average(dtable: np.ndarray) -> np.ndarray:
    """The gradient of a table, from the gradient of `with_average(table)`, which is changed in place."""
    if len(dtable) > 1:
        dtable[1:] += dtable[UNK] / dtable.dtype.type(len(dtable) - 1)
        dtable[UNK] = 0
    return dtable


def summed_rows(rows: np.ndarray, symbols: np.ndarray, number: int) -> np.ndarray:
    """The gradient of a table with `number` rows, from `rows`, the gradients of the looked-up `symbols`."""
    used, places = np.unique(symbols.ravel(), return_inverse=True)
    table = np.zeros((number, rows.shape[-1]), dtype=rows.dtype)
    chosen = (np.arange(len(used))[:, None] == places.ravel()).astype(rows.dtype)
    table[used] = chosen @ rows.reshape(-1, rows.shape[-1])
    return table


@dataclass
class Padded:
    """Sequences of different lengths as an array [time, sample]; padding comes last."""

    symbols: np.ndarray
    lengths: np.ndarray

    @classmethod
    def of(cls, sequences: Sequence[Sequence[int]]) -> Padded:
        lengths = np.array([len(each) for each in sequences])
        symbols = np.full((lengths.max(), len(lengths)), END)
        for sample, each in enumerate(sequences):
            symbols[:len(each), sample] = each
        return cls(symbols, lengths)

    @property
    def inside(self) -> np.ndarray:
        return np.arange(len(self.symbols))[:, None] < self.lengths

    def flipped(self, rows: np.ndarray) -> np.ndarray:
        """[…, time, sample, width] with each sample reversed in time; padding stays last. It is its own inverse."""
        times = np.arange(len(self.symbols))[:, None]
        mirror = np.where(self.inside, self.lengths - 1 - times, times)
        return rows[..., mirror, np.arange(len(self.lengths)), :]


@dataclass
class Encoded:
    """An encoded batch of inputs, [sample, place, …], with what the backward pass needs."""

    source: Padded
    encoded: np.ndarray
    keys: np.ndarray  # U h_j + b
    padding: np.ndarray  # 0, and FAR beyond the end of a sample
    read: list[np.ndarray]  # the input of each layer
    gates: list[list[Gates]]


@dataclass
class Decoded:
    """The steps of the decoder along known outputs."""

    read: list[np.ndarray]  # the input of each layer
    gates: list[list[Gates]]
    attended: list[Attended]
    s: np.ndarray  # [time, sample, D], the states of the top layer


@dataclass
class Network:
    """The network with given weights; `kept` holds the dropout masks by name, and is empty without dropout."""

    settings: ModelSettings
    weights: Weights
    from_mean: bool  # does the decoder start from the mean of the encoded places? else: from the backward encoder's end
    kept: Weights = field(default_factory=dict)

    def __post_init__(self) -> None:
        weights, settings = self.weights, self.settings
        self.symbols = np.concatenate([with_average(weights["characters"]), with_average(weights["features"])])
        self.encoder, self.decoder = (
            [Layer.named(f"{stack}.{number}", weights, self.kept.get(f"{stack}.{number}")) for number in range(layers)]
            for stack, layers in (("encoder", settings.enc_layers), ("decoder", settings.dec_layers)))

    def dropped(self, name: str, rows: np.ndarray) -> np.ndarray:
        """Apply the dropout mask of this name to values or to their gradient: [time, sample, …]."""
        return rows * self.kept[name] if name in self.kept else rows

    # forward

    def encode(self, sequences: Sequence[Sequence[int]]) -> Encoded:
        source, weights = Padded.of(sequences), self.weights
        embedded = self.dropped("source", self.symbols[source.symbols])
        rows = np.stack([embedded, source.flipped(embedded)])
        h = np.zeros((2, len(source.lengths), self.settings.enc_hidden), dtype=rows.dtype)
        read, gates = [], []
        for layer in self.encoder:
            states, left = layer.run(rows, h)
            read.append(rows)
            gates.append(left)
            rows = source.flipped((states + rows if read[1:] else states)[::-1])
        backward, forward = rows
        encoded = self.dropped("encoded", np.concatenate([source.flipped(forward), backward], axis=-1))
        encoded = np.ascontiguousarray(np.swapaxes(encoded, 0, 1))
        keys = encoded @ weights["attention.U"] + weights["attention.b"]
        padding = np.where(source.inside.T, 0, FAR).astype(rows.dtype)
        return Encoded(source, encoded, keys, padding, read, gates)

    def summary(self, encoded: Encoded) -> np.ndarray:
        """[sample, …]: what the initial states of the decoder are computed from."""
        if self.from_mean:
            inside = encoded.source.inside.T[:, :, None]
            return (encoded.encoded * inside).sum(axis=1) / encoded.source.lengths[:, None].astype(self.symbols.dtype)
        return encoded.encoded[:, 0, self.settings.enc_hidden:]

    def start(self, encoded: Encoded) -> list[np.ndarray]:
        """The initial state of each decoder layer."""
        together = np.tanh(self.summary(encoded) @ self.weights["start.W"] + self.weights["start.b"])
        return np.split(together, len(self.decoder), axis=1)

    def attend(self, encoded: Encoded, s: np.ndarray) -> Attended:
        return attend(s @ self.weights["attention.W"], encoded.keys, self.weights["attention.v"], encoded.encoded,
                      encoded.padding)

    def scores(self, s: np.ndarray, last: np.ndarray, context: np.ndarray) -> tuple[np.ndarray, ...]:
        """The scores of all actions for rows of states, the input of the readout and its hidden layer."""
        weights, read = self.weights, np.concatenate([s, last, context], axis=-1)
        hidden = np.tanh(read @ weights["readout.W"] + weights["readout.b"])
        return hidden @ weights["output.W"] + weights["output.b"], read, hidden

    def decode(self, encoded: Encoded, last: np.ndarray) -> Decoded:
        """Run the decoder along known outputs; `last` has the previous symbol of each step, [time, sample, J]."""
        starts, first, width = self.start(encoded), self.decoder[0], last.shape[-1]
        projected = flat(last) @ first.x[:width] + first.b
        projected = projected.reshape(*last.shape[:-1], -1)
        s, states, gates, attended = starts[0], [], [], []
        for time in projected:
            attended.append(self.attend(encoded, s))
            s, left = first.step(time + attended[-1].context @ first.x[width:], s)
            states.append(s)
            gates.append(left)
        below = np.stack(states)
        read = [np.concatenate([last, np.stack([each.context for each in attended])], axis=-1)]
        all_gates = [gates]
        for layer, start in zip(self.decoder[1:], starts[1:]):
            above, gates = layer.run(below, start)
            read.append(below)
            all_gates.append(gates)
            below = below + above
        return Decoded(read, all_gates, attended, below)

    # backward

    def loss(self, sequences: Sequence[Sequence[int]], outputs: Sequence[Sequence[int]], shares: Sequence[float],
             initial: int, invalid: np.ndarray) -> tuple[float, Weights]:
        """Σ share · −log P of the outputs, and its gradients."""
        target, encoded = Padded.of(outputs), self.encode(sequences)
        before = np.concatenate([np.full((1, len(outputs)), initial), target.symbols[:-1]])
        last = self.dropped("target", self.weights["actions"][before])
        decoded = self.decode(encoded, last)
        context = decoded.read[0][..., last.shape[-1]:]
        scores, read, hidden = self.scores(flat(self.dropped("s", decoded.s)), flat(last), flat(context))
        scores[:, invalid] = FAR
        weighted = flat((target.inside * np.array(shares))[..., None]).astype(scores.dtype)[:, 0]
        value, dscores = cross_entropy(scores, target.symbols.ravel(), weighted)
        gradients: Weights = {}
        ds, dlast, dcontext = np.split(self._readout_back(read, hidden, dscores, gradients),
                                       np.cumsum([decoded.s.shape[-1], last.shape[-1]]), axis=1)
        ds = self.dropped("s", ds.reshape(decoded.s.shape))
        dlast, dencoded, dstarts = self._decode_back(encoded, decoded, ds, dlast.reshape(last.shape),
                                                     dcontext.reshape(context.shape), gradients)
        gradients["actions"] = summed_rows(self.dropped("target", dlast), before, len(self.weights["actions"]))
        self._start_back(encoded, dstarts, dencoded, gradients)
        self._encode_back(encoded, dencoded, gradients)
        return value, gradients

    def _readout_back(self, read: np.ndarray, hidden: np.ndarray, dscores: np.ndarray,
                      gradients: Weights) -> np.ndarray:
        gradients["output.W"], gradients["output.b"] = hidden.T @ dscores, dscores.sum(axis=0)
        dhidden = (dscores @ self.weights["output.W"].T) * (1 - hidden * hidden)
        gradients["readout.W"], gradients["readout.b"] = read.T @ dhidden, dhidden.sum(axis=0)
        return dhidden @ self.weights["readout.W"].T

    def _decode_back(self, encoded: Encoded, decoded: Decoded, ds: np.ndarray, dlast: np.ndarray, dcontext: np.ndarray,
                     gradients: Weights) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
        """The gradients of the last symbols, of the encoded places and of the initial states."""
        dstarts: list[np.ndarray] = []
        for number in range(len(self.decoder) - 1, 0, -1):
            dread, dstart = self.decoder[number].run_back(f"decoder.{number}", decoded.read[number],
                                                          decoded.gates[number], ds, gradients)
            ds = ds + dread
            dstarts.insert(0, dstart)
        width, layer, w, v = dlast.shape[-1], self.decoder[0], self.weights["attention.W"], self.weights["attention.v"]
        dh, times, dqueries = np.zeros_like(ds[0]), [], []
        dkeys, dv = np.zeros_like(encoded.keys), np.zeros_like(v)
        for time in range(len(ds) - 1, -1, -1):
            step = decoded.attended[time]
            dprojected, drecurrent, dh = layer.step_back(decoded.gates[0][time], dh + ds[time])
            dcontext[time] += dprojected @ layer.x[width:].T
            dscored, dv_step = attend_back(step, v, encoded.encoded, dcontext[time])
            dkeys, dv = dkeys + dscored, dv + dv_step
            dqueries.append(dscored.sum(axis=1))
            dh = dh + dqueries[-1] @ w.T
            times.append((dprojected, drecurrent))
        dread = layer.leave("decoder.0", decoded.read[0], decoded.gates[0], times[::-1], gradients)
        queries = np.concatenate([gates.h for gates in decoded.gates[0]])
        gradients["attention.W"], gradients["attention.v"] = queries.T @ np.concatenate(dqueries[::-1]), dv
        gradients["attention.b"] = dkeys.sum(axis=(0, 1))
        gradients["attention.U"] = encoded.encoded.reshape(-1, encoded.encoded.shape[-1]).T @ dkeys.reshape(-1, len(v))
        alpha = np.stack([each.alpha for each in decoded.attended], axis=2)
        dencoded = alpha @ np.swapaxes(dcontext, 0, 1) + dkeys @ self.weights["attention.U"].T
        return dlast + dread[..., :width], dencoded, [dh, *dstarts]

    def _start_back(self, encoded: Encoded, dstarts: list[np.ndarray], dencoded: np.ndarray,
                    gradients: Weights) -> None:
        """Add the gradient through the initial states to `dencoded`."""
        starts = np.concatenate(self.start(encoded), axis=1)
        dsums = np.concatenate(dstarts, axis=1) * (1 - starts * starts)
        gradients["start.W"], gradients["start.b"] = self.summary(encoded).T @ dsums, dsums.sum(axis=0)
        dsummary = dsums @ self.weights["start.W"].T
        if self.from_mean:
            dsummary /= encoded.source.lengths[:, None].astype(dsummary.dtype)
            dencoded += dsummary[:, None] * encoded.source.inside.T[:, :, None]
        else:
            dencoded[:, 0, self.settings.enc_hidden:] += dsummary

    def _encode_back(self, encoded: Encoded, dencoded: np.ndarray, gradients: Weights) -> None:
        source = encoded.source
        forward, backward = np.split(self.dropped("encoded", np.swapaxes(dencoded, 0, 1)), 2, axis=-1)
        drows = np.stack([forward, source.flipped(backward)])
        for number in range(len(self.encoder) - 1, -1, -1):
            dread, _ = self.encoder[number].run_back(f"encoder.{number}", encoded.read[number], encoded.gates[number],
                                                     drows, gradients)
            drows = source.flipped(dread + drows)[::-1] if number else dread
        dembedded = self.dropped("source", drows[0] + source.flipped(drows[1]))
        table = summed_rows(dembedded, source.symbols, len(self.symbols))
        characters = len(self.weights["characters"])
        gradients["characters"] = without_average(table[:characters])
        gradients["features"] = without_average(table[characters:])


def cross_entropy(scores: np.ndarray, targets: np.ndarray, shares: np.ndarray) -> tuple[float, np.ndarray]:
    """Σ share · −log softmax of the target's score, and the gradient of the scores."""
    scores = scores - scores.max(axis=1, keepdims=True)
    exponentials, rows = np.exp(scores), np.arange(len(targets))
    sums = exponentials.sum(axis=1, keepdims=True)
    losses = np.log(sums[:, 0]) - scores[rows, targets]
    dscores = exponentials / sums
    dscores[rows, targets] -= 1
    return float(losses @ shares), dscores * shares[:, None]


def draw_masks(settings: ModelSettings, samples: int, dropout: float, random: np.random.RandomState,
               dtype: type = np.float32) -> Weights:
    """The dropout masks of a batch, the same at all steps of a sample; none without dropout.

    What dropout keeps is scaled by 1 / (1 − dropout). There are masks for the embeddings, for the states that each
    layer reads, for the encoded places, and for the states that the classifier reads.
    """
    e, d = settings.enc_hidden, settings.dec_hidden
    widths: dict[str, tuple[int, ...]] = {"source": (samples, settings.input), "encoded": (samples, 2 * e),
                                          "target": (samples, settings.action_input), "s": (samples, d)}
    widths.update({f"encoder.{number}": (2, samples, e) for number in range(settings.enc_layers)})
    widths.update({f"decoder.{number}": (samples, d) for number in range(settings.dec_layers)})
    return {name: ((random.random_sample(shape) >= dropout) / (1 - dropout)).astype(dtype)
            for name, shape in widths.items()} if dropout else {}

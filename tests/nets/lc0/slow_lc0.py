"""Lc0's networks as their description has them, in NumPy and double precision: slow and plain.

Nothing of the package is used but the message itself: its layers are decoded here, number by number of the text.
"""

from __future__ import annotations

import struct
from functools import cache

import numpy as np


def decoded(layer):
    """The numbers of a layer, which are kept beside it."""
    if layer is None:
        return np.empty(0)
    if not hasattr(layer, "slowly_decoded"):
        layer.slowly_decoded = freshly_decoded(layer)
    return layer.slowly_decoded


def freshly_decoded(layer):
    params, encoding = layer.get("params", b""), layer.get("encoding", 1)
    if encoding == 1:
        low, high = np.float32(layer.get("min_val", 0)), np.float32(layer.get("max_val", 0))
        t = np.array(struct.unpack(f"<{len(params) // 2}H", params), np.float32) / np.float32(65535)
        return (low * (1 - t) + high * t).astype(np.float64)
    if encoding == 2:
        return np.array(struct.unpack(f"<{len(params) // 2}e", params))
    if encoding == 3:
        halves = struct.unpack(f"<{len(params) // 2}H", params)
        return np.array([struct.unpack("<f", struct.pack("<I", half << 16))[0] for half in halves])
    return np.array(struct.unpack(f"<{len(params) // 4}f", params))


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


ACTIVATIONS = {
    1: lambda x: x * np.tanh(np.log1p(np.exp(x))),
    2: lambda x: np.maximum(x, 0),
    3: lambda x: x,
    4: np.tanh,
    5: sigmoid,
    6: lambda x: 1.05070098 * np.where(x > 0, x, 1.67326324 * (np.exp(np.minimum(x, 0)) - 1)),
    7: lambda x: x * sigmoid(x),
    8: lambda x: np.maximum(x, 0) ** 2,
}
RELU, MISH, SELU, SWISH, RELU_2 = 2, 1, 6, 7, 8


def dense(message, weights, biases, x):
    """W x + b of each row of x."""
    b = decoded(message.get(biases))
    return x @ decoded(message.get(weights)).reshape(len(b), -1).T + b


def convolution(message, x):
    """A convolution of x [C, 8, 8] with zeros around the board, then its batch norm."""
    weights = decoded(message.get("weights"))
    means = decoded(message.get("bn_means"))
    biases = decoded(message.get("biases"))
    channels = len(means) or len(biases)
    kernel = int(np.sqrt(weights.size // (channels * len(x))))
    weights = weights.reshape(channels, len(x), kernel, kernel)
    edge = kernel // 2
    padded = np.pad(x, ((0, 0), (edge, edge), (edge, edge)))
    out = np.zeros((channels, 8, 8))
    for rank in range(8):
        for file in range(8):
            near = padded[:, rank : rank + kernel, file : file + kernel]
            out[:, rank, file] = (weights * near).sum((1, 2, 3))
    biases = biases if len(biases) else np.zeros(channels)
    out += biases[:, None, None]
    if len(means):
        variances = decoded(message.get("bn_stddivs"))
        gammas = decoded(message.get("bn_gammas"))
        betas = decoded(message.get("bn_betas"))
        gammas = gammas if len(gammas) else np.ones(channels)
        betas = betas if len(betas) else np.zeros(channels)
        scale = gammas / np.sqrt(variances + 1e-5)
        out = scale[:, None, None] * (out - means[:, None, None]) + betas[:, None, None]
    return out


def layer_norm(x, message, name, eps):
    mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    scaled = (x - mean) / np.sqrt(variance + eps)
    return scaled * decoded(message.get(f"{name}_gammas")) + decoded(message.get(f"{name}_betas"))


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


class Slow:
    """A network, one position at a time."""

    def __init__(self, net, policy_head="vanilla", value_head="winner"):
        self.w = net.get("weights")
        self.fields = self.normalised(net)
        self.policy_name, self.value_name = policy_head, value_head
        f = self.fields
        self.act = MISH if f.get("default_activation", 0) == 1 else RELU
        self.ffn = f.get("ffn_activation", 0) or self.act
        self.smol = f.get("smolgen_activation", 0) or self.act
        self.attention = f["network"] in (6, 7)

    def normalised(self, net):
        """The header of a file of any age, by the six rules."""
        form = net.get("format")
        given = form.get("network_format") if form is not None else None
        if given is None:
            return {"input": 1, "network": 3, "value": 1, "policy": 1}
        f = dict(given.values)
        if f["network"] in (1, 2):
            f["network"] += 2
            f["value"] = f["policy"] = 1
        if f["network"] == 4 and self.w.get("encoder"):
            f["network"] = 6
            if self.w.get("smolgen_w") is not None:
                f["ffn_activation"], f["smolgen_activation"] = RELU_2, SWISH
        if f["network"] == 134:
            f["network"] = 7
        if f["network"] == 6:
            if self.w.get("policy_heads") is not None and self.w.get("value_heads") is not None:
                f["network"], f["input_embedding"] = 7, 2
            elif "input_embedding" not in f:
                f["input_embedding"] = 1
        return f

    def __call__(self, planes):
        """Return 1858 logits, chances or the single value, and the moves left, for planes [112, 8, 8]."""
        planes = np.asarray(planes, np.float64)
        x = self.attention_body(planes) if self.attention else self.tower(planes)
        raw = self.squares_head(x, self.head("value_heads", self.value_name), "val", "value")
        value = softmax(raw) if self.fields["value"] == 2 else np.tanh(raw)
        left = 0.0
        if self.fields.get("moves_left", 0):
            left = max(0.0, self.squares_head(x, self.w, "mov", "moves_left")[0])
        return self.policy(x), value, left

    def head(self, group, name):
        found = self.w.get(group)
        return self.w if found is None else found.get(name)

    # -- bodies --

    def tower(self, planes):
        act = ACTIVATIONS[self.act]
        x = act(convolution(self.w.get("input"), planes))
        for block in self.w.get("residual", []):
            t = act(convolution(block.get("conv1"), x))
            t = convolution(block.get("conv2"), t)
            se = block.get("se")
            if se is not None:
                z = act(dense(se, "w1", "b1", t.mean((1, 2))))
                z = dense(se, "w2", "b2", z)
                c = len(t)
                t = sigmoid(z[:c])[:, None, None] * t + z[c:, None, None]
            x = act(t + x)
        return x

    def attention_body(self, planes):
        w, act = self.w, ACTIVATIONS[self.act]
        x0 = planes.reshape(112, 64).T
        dense_embedding = self.fields["input_embedding"] == 2
        if dense_embedding:
            men = x0[:, :12].reshape(-1)
            appended = dense(w, "ip_emb_preproc_w", "ip_emb_preproc_b", men).reshape(64, -1)
        else:
            appended = np.zeros((64, 64))
            for a in range(64):
                for b in range(64):
                    files, ranks = abs(a % 8 - b % 8), abs(a // 8 - b // 8)
                    if a == b:
                        appended[a, b] = -1
                    elif files == 0 or ranks == 0 or files == ranks or sorted((files, ranks)) == [1, 2]:
                        appended[a, b] = 1
        z = act(dense(w, "ip_emb_w", "ip_emb_b", np.hstack([x0, appended])))
        if dense_embedding:
            z = layer_norm(z, w, "ip_emb_ln", 1e-3)
        if w.get("ip_mult_gate") is not None:
            z = z * decoded(w.get("ip_mult_gate")).reshape(-1, 64).T
            z = z + decoded(w.get("ip_add_gate")).reshape(-1, 64).T
        encoders = w.get("encoder")
        alpha = (2 * len(encoders)) ** -0.25
        if dense_embedding:
            z = layer_norm(z + alpha * self.feed_forward(w.get("ip_emb_ffn"), z, self.ffn), w, "ip_emb_ffn_ln", 1e-3)
        for layer in encoders:
            z = self.encoder(layer, z, w.get("headcount"), alpha, 1e-3 if dense_embedding else 1e-6, self.ffn)
        return z

    def feed_forward(self, ffn, y, activation):
        return dense(ffn, "dense2_w", "dense2_b", ACTIVATIONS[activation](dense(ffn, "dense1_w", "dense1_b", y)))

    def encoder(self, layer, x, heads, alpha, eps, ffn):
        mha = layer.get("mha")
        q, k, v = (dense(mha, f"{letter}_w", f"{letter}_b", x) for letter in "qkv")
        d = q.shape[1] // heads
        smolgen = self.smolgen(mha.get("smolgen"), x, heads) if mha.get("smolgen") is not None else None
        mixed = []
        for h in range(heads):
            part = slice(h * d, (h + 1) * d)
            scores = q[:, part] @ k[:, part].T / np.sqrt(d)
            if smolgen is not None:
                scores = scores + smolgen[h]
            mixed.append(softmax(scores) @ v[:, part])
        y = layer_norm(x + alpha * dense(mha, "dense_w", "dense_b", np.hstack(mixed)), layer, "ln1", eps)
        return layer_norm(y + alpha * self.feed_forward(layer.get("ffn"), y, ffn), layer, "ln2", eps)

    def smolgen(self, s, x, heads):
        act = ACTIVATIONS[self.smol]
        c = (x @ decoded(s.get("compress")).reshape(-1, x.shape[1]).T).reshape(-1)
        h = layer_norm(act(dense(s, "dense1_w", "dense1_b", c)), s, "ln1", 1e-3)
        g = layer_norm(act(dense(s, "dense2_w", "dense2_b", h)), s, "ln2", 1e-3)
        size = len(g) // heads
        common = decoded(self.w.get("smolgen_w")).reshape(4096, size)
        return [(common @ g[k * size : (k + 1) * size]).reshape(64, 64) for k in range(heads)]

    # -- heads --

    def squares_head(self, x, head, kind, conv):
        act = ACTIVATIONS[self.act]
        if self.attention:
            v = act(dense(head, f"ip_{kind}_w", f"ip_{kind}_b", x)).reshape(-1)
        else:
            v = act(convolution(head.get(conv), x)).reshape(-1)
        v = act(dense(head, f"ip1_{kind}_w", f"ip1_{kind}_b", v))
        return dense(head, f"ip2_{kind}_w", f"ip2_{kind}_b", v)

    def policy(self, x):
        act, head = ACTIVATIONS[self.act], self.head("policy_heads", self.policy_name)
        if self.fields["policy"] == 1:
            return dense(head, "ip_pol_w", "ip_pol_b", act(convolution(head.get("policy"), x)).reshape(-1))
        if self.fields["policy"] == 2:
            planes = convolution(head.get("policy"), act(convolution(head.get("policy1"), x)))
            return self.by_planes(planes)
        return self.by_squares(head, x if self.attention else x.reshape(len(x), 64).T)

    def by_planes(self, planes):
        lines = [(0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1)]
        jumps = [(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)]
        logits = []
        for source, target, piece in move_list():
            way = target % 8 - source % 8, target // 8 - source // 8
            if piece:
                plane = 64 + 3 * (way[0] + 1) + "rbq".index(piece)
            elif way in jumps:
                plane = 56 + jumps.index(way)
            else:
                far = max(map(abs, way))
                plane = 7 * lines.index((way[0] // far, way[1] // far)) + far - 1
            logits.append(planes[plane, source // 8, source % 8])
        return np.array(logits)

    def by_squares(self, head, x):
        group = self.w.get("policy_heads")
        embedding = head
        if head.get("ip_pol_w") is None:
            embedding = group if group.get("ip_pol_w") is not None else self.w
        inside = self.act if self.attention else SELU
        e = ACTIVATIONS[inside](dense(embedding, "ip_pol_w", "ip_pol_b", x))
        for layer in head.get("pol_encoder", []):
            e = self.encoder(layer, e, head.get("pol_headcount"), 1.0, 1e-6, self.ffn if self.attention else SELU)
        q, k = dense(head, "ip2_pol_w", "ip2_pol_b", e), dense(head, "ip3_pol_w", "ip3_pol_b", e)
        a = q @ k.T / np.sqrt(q.shape[1])
        p = decoded(head.get("ip4_pol_w")).reshape(4, -1) @ k[56:64].T
        logits = []
        for source, target, piece in move_list():
            if piece:
                c, t = "qrb".index(piece), target - 56
                logits.append(a[source, target] + p[c, t] + p[3, t])
            else:
                logits.append(a[source, target])
        return np.array(logits)


@cache
def move_list():
    moves = []
    for source in range(64):
        for target in range(64):
            files, ranks = abs(source % 8 - target % 8), abs(source // 8 - target // 8)
            if source != target and (files == 0 or ranks == 0 or files == ranks or sorted((files, ranks)) == [1, 2]):
                moves.append((source, target, ""))
    for f in range(8):
        for t in (f - 1, f, f + 1):
            if 0 <= t < 8:
                moves += [(48 + f, 56 + t, piece) for piece in "qrb"]
    return moves

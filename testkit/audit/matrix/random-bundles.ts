// Bundles and proofs from a seeded PRNG: logs with rotations and revocations that may or may not belong together, bent headers, bent lines, bent
// bytes, and entries whose bent text was hashed, chained and signed as it is. Most are broken in several ways at once, which is the point: two
// verifiers must then also agree on which fault comes first.

import type { Prng } from "../../virtual/prng.ts";
import { attacks } from "../attacks/index.ts";
import { first, second, stranger, third, trustFirst, twoOfThree, w1, w2 } from "../attacks/shape.ts";
import { rawBundle } from "../attacks/texts.ts";
import { mutated } from "../mutated.ts";
import {
  bundle,
  canonical,
  chain,
  checkpointOf,
  type Entry,
  type Fields,
  genesis,
  nowS,
  ordinary,
  proof,
  type Signer,
  type Trust,
  witnessKey,
} from "../test-log.ts";

export interface Case {
  readonly what: string;
  readonly bytes: Uint8Array;
  readonly trust: Trust;
}

const keys: readonly Signer[] = [first, second, third, stranger];
const known = attacks.filter(({ answer, bytes }) => answer !== "usage" && bytes.length < 200_000);
const future = witnessKey("w1", "w1.example", BigInt(nowS) + 3_600n);

function pick<Item>(prng: Prng, items: readonly Item[]): Item {
  const item = items[prng.below(items.length)];
  if (item === undefined) throw new Error("nothing to pick from");
  return item;
}

export function randomCase(prng: Prng): Case {
  const made = prng.chance(0.3) ? ofTable(prng) : prng.chance(0.25) ? ofText(prng) : ofKeys(prng);
  return prng.chance(0.35) ? { ...made, what: `${made.what}, bytes`, bytes: mutated(made.bytes, prng) } : made;
}

/** One of the table of attacks, with the lines or the header of its file bent. */
function ofTable(prng: Prng): Case {
  const { name, bytes, trust } = pick(prng, known);
  const bent = prng.chance(0.7) ? bendLines(Buffer.from(bytes), prng) : bytes;
  return { what: name, bytes: bent, trust: prng.chance(0.8) ? trust : randomTrust(prng) };
}

/** An entry of bent text, hashed and signed as it is. */
function ofText(prng: Prng): Case {
  const honest = {
    action: '"a.b"',
    actor: '"operator:ada"',
    data: randomData(prng),
    sequence: "1",
    subject: '"s"',
    timestamp: '"2026-11-15T10:00:00.000000Z"',
  };
  const bent = Object.entries(honest).map(([name, text]) => {
    const isBent = prng.chance(name === "data" ? 0.5 : 0.05);
    return [name, isBent ? mutated(Buffer.from(text), prng) : text] as const;
  });
  return { what: "a text", bytes: rawBundle(Object.fromEntries(bent)), trust: trustFirst };
}

function randomData(prng: Prng): string {
  const value = (levels: number): unknown => {
    const kind = prng.below(levels > 0 ? 7 : 5);
    if (kind === 0) return prng.below(1_000_000) - 500_000;
    if (kind === 1) return pick(prng, ["", "é", "\u0001", "😀", '"', "\\", "\ue000", "a\nb", "\u2028", "\u007f"]);
    if (kind === 2)
      return pick(prng, [Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, 0, 10, 2 ** 52, 0.5, 1e21, -2.5e-9]);
    if (kind < 5) return pick(prng, [true, false, null]);
    const items = Array.from({ length: prng.below(4) }, () => value(levels - 1));
    if (kind === 5) return items;
    return Object.fromEntries(items.map((item) => [pick(prng, ["a", "b", "ab", "\n", "\ue000", "😀", "é", ""]), item]));
  };
  const members = Array.from({ length: prng.below(4) }, (_, i) => [`${i}`, value(3)] as const);
  return canonical(Object.fromEntries(members) as never);
}

/** A log whose keys come and go, and the handovers and signatures that belong to it, or do not. */
function ofKeys(prng: Prng): Case {
  const count = 4 + prng.below(14);
  let inForce = first;
  const handovers: number[] = [];
  const fields = Array.from({ length: count }, (_, n): Fields => {
    if (n === 0) return genesis(first);
    if (!prng.chance(0.2)) return ordinary(n);
    if (prng.chance(0.4)) return revocation(n, prng);
    const from = prng.chance(0.8) ? inForce : pick(prng, keys);
    const to = pick(prng, keys);
    if (prng.chance(0.9)) inForce = to;
    handovers.push(n + 1);
    return rotation(n, from, to);
  });
  const entries = prng.chance(0.85) ? chain(fields) : broken(chain(fields), prng);
  const size = prng.chance(0.6) ? count : 1 + prng.below(count);
  const from = prng.chance(0.7) ? 0 : prng.below(size + 1);
  const to = prng.chance(0.7) ? count : from + prng.below(count - from + 1);
  const signers = prng.chance(0.7) ? [inForce] : randomSigners(prng);
  const checkpoint = checkpointOf(entries, size, [...signers, ...randomWitnesses(prng)]);
  const trust = randomTrust(prng);
  if (prng.chance(0.15)) {
    return { what: "a proof", bytes: proof(entries.slice(0, size), prng.below(size), checkpoint), trust };
  }
  const listed = handovers
    .filter((at) => (at > from && at <= Math.min(size, to) && prng.chance(0.95)) || prng.chance(0.05))
    .map((at) => handoverOf(entries, at, prng));
  const extra = prng.chance(0.05) ? [checkpointOf(entries, 1 + prng.below(count), [first, second])] : [];
  const bytes = bundle(entries, checkpoint, { from, to, size, handovers: [...listed, ...extra] });
  return { what: "keys", bytes: prng.chance(0.1) ? bendLines(bytes, prng) : bytes, trust };
}

function rotation(n: number, from: Signer, to: Signer): Fields {
  const data = { new_key: to.vkey, old_key: from.vkey };
  return { ...ordinary(n), action: "key.rotated", subject_id: to.id, data };
}

function revocation(n: number, prng: Prng): Fields {
  const key = pick(prng, keys);
  const data = { key: key.vkey, trusted_size: prng.below(n + 4) - (prng.chance(0.05) ? 5.5 : 0) };
  return { ...ordinary(n), action: "key.revoked", subject_id: key.id, data };
}

/** Signed by the two keys that the rotation names, or by others. */
function handoverOf(entries: readonly Entry[], at: number, prng: Prng): string {
  const { new_key: newKey, old_key: oldKey } = (entries[at - 1]?.data ?? {}) as Readonly<Record<string, unknown>>;
  const both = keys.filter(({ vkey }) => vkey === newKey || vkey === oldKey);
  const signers = prng.chance(0.93) && both.length > 0 ? both : randomSigners(prng);
  const bad = { ...first, line: (text: string) => first.line(`${text}x`) };
  return checkpointOf(entries, at, prng.chance(0.03) ? [...signers, bad] : signers);
}

function broken(entries: readonly Entry[], prng: Prng): readonly Entry[] {
  const at = prng.below(entries.length);
  const change = pick(prng, [
    { actor: "operator:eve" },
    { hash: "ab".repeat(32) },
    { prev_hash: "ab".repeat(32) },
    { sequence: at + 1 },
    { timestamp: "2026-11-15T09:00:00.000000Z" },
  ]);
  return entries.map((entry, i) => (i === at ? { ...entry, ...change } : entry));
}

function randomSigners(prng: Prng): readonly Signer[] {
  const some = keys.filter(() => prng.chance(0.4));
  return some.length === 0 ? [stranger] : some;
}

function randomWitnesses(prng: Prng): readonly Signer[] {
  return [w1, w2, future].filter(() => prng.chance(0.3));
}

function randomTrust(prng: Prng): Trust {
  if (prng.chance(0.1)) return {};
  if (prng.chance(0.2)) return twoOfThree;
  if (prng.chance(0.3)) return { vkeys: keys.filter(() => prng.chance(0.5)).map(({ vkey }) => vkey) };
  return trustFirst;
}

/** Lines taken away, doubled or swapped, or a field of the header set to something else. */
function bendLines(bytes: Buffer, prng: Prng): Uint8Array {
  const lines = bytes.toString("latin1").split("\n");
  const at = prng.below(lines.length);
  const kind = prng.below(4);
  if (kind === 0) lines.splice(at, 1);
  else if (kind === 1) lines.splice(at, 0, lines[prng.below(lines.length)] ?? "");
  else if (kind === 2) lines.splice(at, 2, lines[at + 1] ?? "", lines[at] ?? "");
  else lines[1] = bentHeader(lines[1] ?? "", prng);
  return Buffer.from(lines.join("\n"), "latin1");
}

function bentHeader(header: string, prng: Prng): string {
  const text = Buffer.from(header, "latin1").toString("utf8");
  if (!/^\{"checkpoint":".*\}$/.test(text) || text.includes("\ufffd")) return header;
  const fields = JSON.parse(text) as Record<string, never>;
  const name = pick(prng, ["checkpoint", "entries", "from", "handovers", "left", "right"]);
  const zero = Buffer.alloc(32).toString("base64");
  const bends: readonly unknown[] = [
    ...[0, 1, 2, 3, 7, 50, -1, 2 ** 53 - 1, 1.5, "1", null, "", [], [1], [""], [zero], [zero, zero], {}],
    ...[
      "x\n",
      "a\n0\n\n\n",
      fields["checkpoint"],
      [fields["checkpoint"]],
      [fields["checkpoint"], fields["checkpoint"]],
    ],
    ...[(fields["left"] ?? []) as unknown, (fields["right"] ?? []) as unknown, "\ud800"],
  ];
  const bent = JSON.stringify({ ...fields, [name]: pick(prng, bends) });
  return Buffer.from(bent, "utf8").toString("latin1");
}

// Bundles and proofs from seeded dice: logs with rotations and revocations that may or may not belong together, bent headers, bent lines, bent
// bytes, and entries whose bent text was hashed, chained and signed as it is. Most are broken in several ways at once, which is the point: two
// verifiers must then also agree on which fault comes first.
import { mutated } from "../../testkit/audit/mutated.ts";
import type { Dice } from "../../testkit/virtual/dice.ts";
import { attacks } from "../attacks/index.ts";
import { first, second, stranger, third, trustFirst, twoOfThree, w1, w2 } from "../attacks/shape.ts";
import { rawBundle } from "../attacks/texts.ts";
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

function pick<Item>(dice: Dice, items: readonly Item[]): Item {
  const item = items[dice.below(items.length)];
  if (item === undefined) throw new Error("nothing to pick from");
  return item;
}

export function randomCase(dice: Dice): Case {
  const made = dice.chance(0.3) ? ofTable(dice) : dice.chance(0.25) ? ofText(dice) : ofKeys(dice);
  return dice.chance(0.35) ? { ...made, what: `${made.what}, bytes`, bytes: mutated(made.bytes, dice) } : made;
}

/** One of the table of attacks, with the lines or the header of its file bent. */
function ofTable(dice: Dice): Case {
  const { name, bytes, trust } = pick(dice, known);
  const bent = dice.chance(0.7) ? bendLines(Buffer.from(bytes), dice) : bytes;
  return { what: name, bytes: bent, trust: dice.chance(0.8) ? trust : randomTrust(dice) };
}

/** An entry of bent text, hashed and signed as it is. */
function ofText(dice: Dice): Case {
  const honest = {
    action: '"a.b"',
    actor: '"operator:ada"',
    data: randomData(dice),
    sequence: "1",
    subject: '"s"',
    timestamp: '"2026-11-15T10:00:00.000000Z"',
  };
  const bent = Object.entries(honest).map(([name, text]) => {
    const isBent = dice.chance(name === "data" ? 0.5 : 0.05);
    return [name, isBent ? mutated(Buffer.from(text), dice) : text] as const;
  });
  return { what: "a text", bytes: rawBundle(Object.fromEntries(bent)), trust: trustFirst };
}

function randomData(dice: Dice): string {
  const value = (levels: number): unknown => {
    const kind = dice.below(levels > 0 ? 7 : 5);
    if (kind === 0) return dice.below(1_000_000) - 500_000;
    if (kind === 1) return pick(dice, ["", "é", "\u0001", "😀", '"', "\\", "\ue000", "a\nb", "\u2028", "\u007f"]);
    if (kind === 2)
      return pick(dice, [Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, 0, 10, 2 ** 52, 0.5, 1e21, -2.5e-9]);
    if (kind < 5) return pick(dice, [true, false, null]);
    const items = Array.from({ length: dice.below(4) }, () => value(levels - 1));
    if (kind === 5) return items;
    return Object.fromEntries(items.map((item) => [pick(dice, ["a", "b", "ab", "\n", "\ue000", "😀", "é", ""]), item]));
  };
  const members = Array.from({ length: dice.below(4) }, (_, i) => [`${i}`, value(3)] as const);
  return canonical(Object.fromEntries(members) as never);
}

/** A log whose keys come and go, and the handovers and signatures that belong to it, or do not. */
function ofKeys(dice: Dice): Case {
  const count = 4 + dice.below(14);
  let inForce = first;
  const handovers: number[] = [];
  const fields = Array.from({ length: count }, (_, n): Fields => {
    if (n === 0) return genesis(first);
    if (!dice.chance(0.2)) return ordinary(n);
    if (dice.chance(0.4)) return revocation(n, dice);
    const from = dice.chance(0.8) ? inForce : pick(dice, keys);
    const to = pick(dice, keys);
    if (dice.chance(0.9)) inForce = to;
    handovers.push(n + 1);
    return rotation(n, from, to);
  });
  const entries = dice.chance(0.85) ? chain(fields) : broken(chain(fields), dice);
  const size = dice.chance(0.6) ? count : 1 + dice.below(count);
  const from = dice.chance(0.7) ? 0 : dice.below(size + 1);
  const to = dice.chance(0.7) ? count : from + dice.below(count - from + 1);
  const signers = dice.chance(0.7) ? [inForce] : randomSigners(dice);
  const checkpoint = checkpointOf(entries, size, [...signers, ...randomWitnesses(dice)]);
  const trust = randomTrust(dice);
  if (dice.chance(0.15)) {
    return { what: "a proof", bytes: proof(entries.slice(0, size), dice.below(size), checkpoint), trust };
  }
  const listed = handovers
    .filter((at) => (at > from && at <= Math.min(size, to) && dice.chance(0.95)) || dice.chance(0.05))
    .map((at) => handoverOf(entries, at, dice));
  const extra = dice.chance(0.05) ? [checkpointOf(entries, 1 + dice.below(count), [first, second])] : [];
  const bytes = bundle(entries, checkpoint, { from, to, size, handovers: [...listed, ...extra] });
  return { what: "keys", bytes: dice.chance(0.1) ? bendLines(bytes, dice) : bytes, trust };
}

function rotation(n: number, from: Signer, to: Signer): Fields {
  const data = { new_key: to.vkey, old_key: from.vkey };
  return { ...ordinary(n), action: "key.rotated", subject_id: to.id, data };
}

function revocation(n: number, dice: Dice): Fields {
  const key = pick(dice, keys);
  const data = { key: key.vkey, trusted_size: dice.below(n + 4) - (dice.chance(0.05) ? 5.5 : 0) };
  return { ...ordinary(n), action: "key.revoked", subject_id: key.id, data };
}

/** Signed by the two keys that the rotation names, or by others. */
function handoverOf(entries: readonly Entry[], at: number, dice: Dice): string {
  const { new_key: newKey, old_key: oldKey } = (entries[at - 1]?.data ?? {}) as Readonly<Record<string, unknown>>;
  const both = keys.filter(({ vkey }) => vkey === newKey || vkey === oldKey);
  const signers = dice.chance(0.93) && both.length > 0 ? both : randomSigners(dice);
  const bad = { ...first, line: (text: string) => first.line(`${text}x`) };
  return checkpointOf(entries, at, dice.chance(0.03) ? [...signers, bad] : signers);
}

function broken(entries: readonly Entry[], dice: Dice): readonly Entry[] {
  const at = dice.below(entries.length);
  const change = pick(dice, [
    { actor: "operator:eve" },
    { hash: "ab".repeat(32) },
    { prev_hash: "ab".repeat(32) },
    { sequence: at + 1 },
    { timestamp: "2026-11-15T09:00:00.000000Z" },
  ]);
  return entries.map((entry, i) => (i === at ? { ...entry, ...change } : entry));
}

function randomSigners(dice: Dice): readonly Signer[] {
  const some = keys.filter(() => dice.chance(0.4));
  return some.length === 0 ? [stranger] : some;
}

function randomWitnesses(dice: Dice): readonly Signer[] {
  return [w1, w2, future].filter(() => dice.chance(0.3));
}

function randomTrust(dice: Dice): Trust {
  if (dice.chance(0.1)) return {};
  if (dice.chance(0.2)) return twoOfThree;
  if (dice.chance(0.3)) return { vkeys: keys.filter(() => dice.chance(0.5)).map(({ vkey }) => vkey) };
  return trustFirst;
}

/** Lines taken away, doubled or swapped, or a field of the header set to something else. */
function bendLines(bytes: Buffer, dice: Dice): Uint8Array {
  const lines = bytes.toString("latin1").split("\n");
  const at = dice.below(lines.length);
  const kind = dice.below(4);
  if (kind === 0) lines.splice(at, 1);
  else if (kind === 1) lines.splice(at, 0, lines[dice.below(lines.length)] ?? "");
  else if (kind === 2) lines.splice(at, 2, lines[at + 1] ?? "", lines[at] ?? "");
  else lines[1] = bentHeader(lines[1] ?? "", dice);
  return Buffer.from(lines.join("\n"), "latin1");
}

function bentHeader(header: string, dice: Dice): string {
  const text = Buffer.from(header, "latin1").toString("utf8");
  if (!/^\{"checkpoint":".*\}$/.test(text) || text.includes("\ufffd")) return header;
  const fields = JSON.parse(text) as Record<string, never>;
  const name = pick(dice, ["checkpoint", "entries", "from", "handovers", "left", "right"]);
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
  const bent = JSON.stringify({ ...fields, [name]: pick(dice, bends) });
  return Buffer.from(bent, "utf8").toString("latin1");
}

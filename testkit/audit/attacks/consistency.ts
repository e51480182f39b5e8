// Attacks on proofs of consistency: a log that was rewritten between two checkpoints, proofs of other sizes, and files that are none.
import {
  checkpointOf,
  consistencyOf,
  type Entry,
  type Json,
  leavesOf,
  logKey,
  nodeHash,
  noteOf,
  ordinary,
  origin,
  rootOf,
  type Signer,
} from "../test-log.ts";
import { type Attack, attack, fifty, first, rechained, stranger, twoOfThree, w1, w2 } from "./shape.ts";

const base64 = (hash: Uint8Array): string => Buffer.from(hash).toString("base64");
const rootAt = (size: number, entries: readonly Entry[] = fifty): Buffer => rootOf(leavesOf(entries).slice(0, size));
const pathBetween = (from: number, to: number, entries: readonly Entry[] = fifty): readonly string[] =>
  from > to ? [] : consistencyOf(from, leavesOf(entries).slice(0, to)).map(base64);

/** The file as ctl writes it, with members replaced; undefined takes one out. */
function fileOf(from: number, to: number, bend: Readonly<Record<string, Json | undefined>> = {}): Buffer {
  const honest = {
    first_size: from,
    first_root: base64(rootAt(from)),
    second_size: to,
    second_root: base64(rootAt(to)),
    proof: pathBetween(from, to),
    checkpoint: checkpointOf(fifty, to, [first]),
  };
  return Buffer.from(`${JSON.stringify({ ...honest, ...bend }, null, 2)}\n`);
}

const noted = (size: number, root: Uint8Array, signers: readonly Signer[] = [first], of = origin): string =>
  noteOf(`${of}\n${size}\n${base64(root)}\n`, signers);

interface Pair {
  readonly from?: number;
  readonly to?: number;
  readonly kept?: string;
  readonly later?: string;
  readonly bend?: Readonly<Record<string, Json | undefined>>;
}

/** What a caller who kept a checkpoint of size 20 is shown about one of size 50, with things bent. */
function shown(name: string, pair: Pair, answer: string, rest: Partial<Attack> = {}): Attack {
  const { from = 20, to = 50, kept = checkpointOf(fifty, from, [first]), later, bend = {} } = pair;
  const { trust, ...more } = { sequence: from, ...rest };
  const notes = { first: kept, ...(later === undefined ? {} : { second: later }) };
  const whole = { ...(trust ?? { vkeys: [first.vkey] }), ...notes };
  return attack(`consistency: ${name}`, fileOf(from, to, bend), answer, { ...more, trust: whole });
}

function honest(): readonly Attack[] {
  const pairs = [0, 1, 2, 3, 4, 7, 8, 20, 31, 32, 33, 49, 50].flatMap((from) =>
    [from, from + 1, 32, 47, 50].filter((to) => to >= from && to <= 50 && to > 0).map((to) => [from, to] as const),
  );
  const unique = [...new Map(pairs.map((pair) => [pair.join(" to "), pair])).entries()];
  const witnessed = checkpointOf(fifty, 50, [first, w1, w2]);
  return [
    ...unique.map(([name, [from, to]]) => shown(`honest ${name}`, { from, to }, "L1")),
    shown("honest, the later checkpoint beside the file", { bend: { checkpoint: undefined }, later: witnessed }, "L1"),
    shown("honest, cosigned", { later: witnessed }, "L2", { trust: twoOfThree }),
    shown("honest, without a key", {}, "L0", { trust: {} }),
  ];
}

/** A log that was written anew from entry 10 on, with its own proofs, which are whole in themselves. */
function rewritten(): readonly Attack[] {
  const other = rechained(
    Array.from({ length: 40 }, (_, i) => ({ ...ordinary(i + 10), actor: "operator:eve" })),
    10,
  );
  const later = checkpointOf(other, 50, [first]);
  const own = { second_root: base64(rootAt(50, other)), proof: pathBetween(20, 50, other) };
  const reported = { ...own, first_root: base64(rootAt(20, other)) };
  return [
    shown("a rewritten log with the root that was kept", { later, bend: own }, "ROOT_MISMATCH", {
      says: base64(rootAt(20)),
    }),
    shown("a rewritten log with its own root of that size", { later, bend: reported }, "ROOT_MISMATCH"),
    shown(
      "a rewritten log with the old proof",
      { later, bend: { ...own, proof: pathBetween(20, 50) } },
      "ROOT_MISMATCH",
      {
        sequence: 50,
        says: base64(rootAt(50, other)),
      },
    ),
    shown(
      "a rewritten log of the size that was kept",
      { from: 50, later, bend: { second_root: own.second_root } },
      "ROOT_MISMATCH",
      {
        sequence: 50,
      },
    ),
    shown(
      "another root in the file than the later checkpoint has",
      { bend: { second_root: own.second_root } },
      "ROOT_MISMATCH",
      {
        sequence: 50,
        says: base64(rootAt(50)),
      },
    ),
    shown(
      "another first root in the file, and nothing to compute it from",
      { from: 0, bend: { first_root: base64(rootAt(1)) } },
      "ROOT_MISMATCH",
    ),
    shown(
      "another second root in the file, of a proof that needs none",
      { from: 0, bend: { second_root: base64(rootAt(1)) } },
      "ROOT_MISMATCH",
      {
        sequence: 50,
      },
    ),
  ];
}

function ofOtherSizes(): readonly Attack[] {
  const proof = pathBetween(20, 50);
  const invalid = (name: string, pair: Pair, says: string, rest: Partial<Attack> = {}): Attack =>
    shown(name, pair, "PROOF_INVALID", { says, ...rest });
  // Signed by a log that lies about its size: every hash is right, and only the number of them is not.
  const lying = { from: 3, later: noted(6, rootAt(4)), bend: { second_size: 6, second_root: base64(rootAt(4)) } };
  const extra = base64(rootAt(9));
  const above = (root: Uint8Array): Buffer => nodeHash(rootAt(9), root);
  const tooLong = {
    kept: noted(3, above(rootAt(3))),
    later: noted(4, above(rootAt(4))),
    bend: {
      second_size: 4,
      first_root: base64(above(rootAt(3))),
      second_root: base64(above(rootAt(4))),
      proof: [...pathBetween(3, 4), extra],
    },
  };
  return [
    invalid("from another size", { bend: { first_size: 21 } }, "from size 20"),
    invalid("to another size", { bend: { second_size: 49 } }, "from size 20"),
    invalid(
      "backwards",
      { from: 50, to: 20, later: checkpointOf(fifty, 20, [first]), bend: { proof: [] } },
      "at least size 50",
    ),
    invalid("a hash too few", { bend: { proof: proof.slice(0, -1) } }, "as many hashes"),
    invalid("a hash too many", { bend: { proof: [...proof, extra] } }, "as many hashes"),
    invalid("no hashes", { bend: { proof: [] } }, "as many hashes"),
    invalid("hashes where none are needed", { from: 50, bend: { proof: [extra] } }, "as many hashes"),
    invalid("hashes after nothing", { from: 0, bend: { proof: [extra] } }, "as many hashes"),
    invalid(
      "a size that is not the root's",
      { ...lying, bend: { ...lying.bend, proof: pathBetween(3, 4) } },
      "as many hashes",
    ),
    invalid("a hash above the root", { from: 3, ...tooLong }, "as many hashes"),
    ...proof.map((_, at) =>
      shown(`hash ${at} replaced`, { bend: { proof: proof.toSpliced(at, 1, extra) } }, "ROOT_MISMATCH", {
        // The last of them lies right of the log that was kept, so only the later root shows it.
        sequence: isRightOnly(at) ? 50 : 20,
      }),
    ),
  ];
}

/** Whether the hash at this place takes part in the later root alone. */
function isRightOnly(at: number): boolean {
  const leaves = leavesOf(fifty);
  const bent = fifty.map((entry, i) => (i < 20 ? entry : { ...entry, actor: "operator:eve" }));
  return consistencyOf(20, leaves)[at]?.equals(consistencyOf(20, leavesOf(bent))[at] ?? Buffer.alloc(0)) === false;
}

function onNotes(): readonly Attack[] {
  const elsewhere = logKey("first", "elsewhere");
  const foreign = noted(50, rootAt(50), [elsewhere], "elsewhere");
  return [
    shown("no later checkpoint", { bend: { checkpoint: undefined } }, "PROOF_INVALID", { says: "second size" }),
    shown("a later checkpoint of another log", { later: foreign }, "CHECKPOINT_MALFORMED", {
      sequence: 50,
      says: origin,
      trust: { vkeys: [first.vkey, elsewhere.vkey] },
    }),
    shown("checkpoints of a log that was not asked about", {}, "CHECKPOINT_MALFORMED", {
      trust: { vkeys: [elsewhere.vkey] },
    }),
    shown(
      "what was kept is signed by nobody known",
      { kept: checkpointOf(fifty, 20, [stranger]) },
      "SIGNATURE_INVALID",
    ),
    shown(
      "the later one is signed by nobody known",
      { later: checkpointOf(fifty, 50, [stranger]) },
      "SIGNATURE_INVALID",
      {
        sequence: 50,
      },
    ),
    shown("too few witnesses", { later: checkpointOf(fifty, 50, [first, w1]) }, "WITNESSES_MISSING", {
      sequence: 50,
      trust: twoOfThree,
    }),
    shown("what was kept is no checkpoint", { kept: "20\n" }, "CHECKPOINT_MALFORMED", { sequence: 0 }),
  ];
}

function onFiles(): readonly Attack[] {
  const trust = { vkeys: [first.vkey], first: checkpointOf(fifty, 20, [first]) };
  const raw = (name: string, bytes: Uint8Array, says: string): Attack =>
    attack(`consistency: ${name}`, bytes, "PROOF_INVALID", { trust, says });
  const bent = (name: string, bend: Readonly<Record<string, Json | undefined>>, says: string): Attack =>
    raw(name, fileOf(20, 50, bend), says);
  const proof = pathBetween(20, 50);
  return [
    raw("not JSON", Buffer.from("no"), "a JSON object"),
    raw("a list", Buffer.from("[]"), "a JSON object"),
    raw("null", Buffer.from("null"), "a JSON object"),
    raw("too long", Buffer.concat([fileOf(20, 50), Buffer.alloc(655_361, 0x20)]), "at most 655360 bytes"),
    raw(
      "other bytes than UTF-8",
      Buffer.concat([Buffer.from('{"x":"'), Buffer.from([0xff]), Buffer.from('"}')]),
      "UTF-8",
    ),
    bent("a field too many", { extra: 1 }, "a JSON object"),
    bent("a field too few", { proof: undefined }, "a JSON object"),
    bent("a checkpoint that is no text", { checkpoint: 5 }, "checkpoint as a text"),
    bent("a size as text", { first_size: "20" }, "two sizes"),
    bent("a size below zero", { first_size: -1 }, "two sizes"),
    bent("a size with a fraction", { second_size: 49.5 }, "two sizes"),
    bent("a root that is none", { first_root: "AAAA" }, "two roots"),
    bent("a root that is no text", { second_root: 5 }, "two roots"),
    bent("a proof that is no list", { proof: proof[0] ?? "" }, "two roots"),
    bent("a hash that is none", { proof: [...proof.slice(1), "AAAA"] }, "two roots"),
    bent(
      "more hashes than any log needs",
      { proof: Array.from({ length: 64 }, () => base64(rootAt(1))) },
      "at most 63",
    ),
  ];
}

export const consistencyAttacks: readonly Attack[] = [
  ...honest(),
  ...rewritten(),
  ...ofOtherSizes(),
  ...onNotes(),
  ...onFiles(),
];

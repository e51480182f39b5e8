// Attacks on the entries, on the bundle around them and on entry 0.
import {
  bundle,
  chain,
  checkpointOf,
  type Entry,
  type Fields,
  fileOf,
  genesis,
  incarnation,
  type Json,
  leavesOf,
  log,
  logKey,
  ordinary,
  origin,
  subtrees,
  textOf,
  timeAt,
  witnessKey,
} from "../test-log.ts";
import {
  type Attack,
  attack,
  entryAt,
  fifty,
  fiftyCheckpoint,
  first,
  forged,
  headerOf,
  ownHash,
  rechained,
  replaced,
  resigned,
  stranger,
  twoOfThree,
  w1,
} from "./shape.ts";

// tidy: long because it is a table, one row for each attack.
function onEntries(): readonly Attack[] {
  const edits: readonly (readonly [keyof Entry, Json, string])[] = [
    ["sequence", 21, "SEQUENCE_MISMATCH"],
    ["timestamp", timeAt(21), "HASH_MISMATCH"],
    ["actor", "operator:eve", "HASH_MISMATCH"],
    ["action", "order.cancelled", "HASH_MISMATCH"],
    ["subject_id", "order-99", "HASH_MISMATCH"],
    ["data", {}, "HASH_MISMATCH"],
    ["prev_hash", "ab".repeat(32), "LINK_MISMATCH"],
    ["hash", "ab".repeat(32), "HASH_MISMATCH"],
  ];
  const changed = rechained([{ ...ordinary(20), actor: "operator:eve" }, ...fifty.slice(21)], 20);
  const swapped = replaced(20, entryAt(fifty, 21)).map((entry, i) => (i === 21 ? entryAt(fifty, 20) : entry));
  const without = [...fifty.slice(0, 20), ...fifty.slice(21)];
  const renumbered = without.map((entry, sequence) => ({ ...entry, sequence }));
  const other = log(50, logKey("other log"));
  // A table that has lost a row and says so is shorter than its checkpoint before a verifier looks at the entries.
  const short = { answer: "TRUNCATED", sequence: 49 };
  const early = { ...ordinary(50), timestamp: timeAt(48) };
  return [
    ...edits.map(([field, value, code]) =>
      attack(`A2 ${field} edited`, forged(replaced(20, { [field]: value })), code, { sequence: 20 }),
    ),
    attack("A2 an edit at L0", forged(replaced(20, { actor: "eve" })), "HASH_MISMATCH", { sequence: 20, trust: {} }),
    attack("A3 edited, own hash recomputed", forged(ownHash(20, { actor: "eve" })), "LINK_MISMATCH", { sequence: 21 }),
    attack("A4 rechained under the old checkpoint", forged(changed), "ROOT_MISMATCH"),
    attack("A4 the same without a key", forged(changed), "ROOT_MISMATCH", { trust: {} }),
    attack("A4 rechained, checkpoint by a stranger", resigned(changed, [stranger]), "SIGNATURE_INVALID"),
    attack("A4 the same without a key is consistent", resigned(changed, [stranger]), "L0", { trust: {} }),
    attack("A5 rechained with the log's key passes L1", resigned(changed), "L1"),
    attack("A5 and fails at the witnesses", resigned(changed), "WITNESSES_MISSING", { trust: twoOfThree }),
    attack(
      "A6 middle entry deleted",
      fileOf(headerOf(fifty, fiftyCheckpoint), without.map(textOf)),
      "SEQUENCE_MISMATCH",
      { sequence: 20, database: short },
    ),
    attack(
      "A6 deleted and renumbered",
      fileOf(headerOf(fifty, fiftyCheckpoint), renumbered.map(textOf)),
      "LINK_MISMATCH",
      { sequence: 20, database: short },
    ),
    attack("A6 deleted and rechained", bundle(rechained(fifty.slice(21), 20), fiftyCheckpoint), "TRUNCATED", {
      sequence: 49,
    }),
    attack(
      "A10 backfilled",
      bundle(rechained([ordinary(19), ...fifty.slice(20)], 20), fiftyCheckpoint),
      "ROOT_MISMATCH",
    ),
    attack("A10 A30 backdated at the tail", resigned(rechained([early], 50)), "TIME_BACKWARDS", { sequence: 50 }),
    attack("A30 equal times are in order", resigned(rechained([{ ...early, timestamp: timeAt(49) }], 50)), "L1"),
    attack(
      "A30 a time in the future is shown, not judged",
      resigned(rechained([{ ...early, timestamp: "9999-12-31T23:59:59.999999Z" }], 50)),
      "L1",
    ),
    attack("A11 neighbours swapped", forged(swapped), "SEQUENCE_MISMATCH", { sequence: 20 }),
    attack(
      "A11 swapped and renumbered",
      forged(swapped.map((entry, sequence) => ({ ...entry, sequence }))),
      "LINK_MISMATCH",
      { sequence: 20 },
    ),
    attack(
      "A12 C6 an entry twice, in the place of another",
      forged(replaced(21, entryAt(fifty, 20))),
      "SEQUENCE_MISMATCH",
      { sequence: 21 },
    ),
    attack("A12 an old suffix again", bundle([...fifty, ...fifty.slice(45)], fiftyCheckpoint), "SEQUENCE_MISMATCH", {
      sequence: 50,
    }),
    attack(
      "C5 a byte of an old entry that rotted",
      forged(replaced(7, { action: "nalt.requested" })),
      "HASH_MISMATCH",
      {
        sequence: 7,
      },
    ),
    attack("A13 spliced with another log", forged([...fifty.slice(0, 25), ...other.slice(25)]), "LINK_MISMATCH", {
      sequence: 25,
    }),
    attack(
      "A15 a fork under the same size",
      forged(rechained([{ ...ordinary(49), actor: "eve" }], 49)),
      "ROOT_MISMATCH",
    ),
    attack(
      "A20 a valid tree over broken links",
      resigned(replaced(20, { prev_hash: "ab".repeat(32) })),
      "LINK_MISMATCH",
      { sequence: 20 },
    ),
    attack("A20 a valid tree over a broken hash", resigned(replaced(49, { hash: "ab".repeat(32) })), "HASH_MISMATCH", {
      sequence: 49,
    }),
    attack("A20 a valid tree over a gap", resigned(ownHash(49, { sequence: 50 })), "SEQUENCE_MISMATCH", {
      sequence: 49,
    }),
    attack("A29 a shredded subject verifies", resigned(rechained([shredded(), destroyed()], 50)), "L1"),
  ];
}

const shredded = (): Fields => ({
  ...ordinary(50),
  data: { name: { sealed: "AAECAwQFBgcICQoLq83v", subject_key: "k-7" } },
});
const destroyed = (): Fields => ({
  ...ordinary(51),
  action: "subject.key_destroyed",
  subject_id: "p-7",
  data: { subject_key: "k-7" },
});

// Cuts, ranges and headers that lie. tidy: long because it is a table, one row for each attack.
function onBundles(): readonly Attack[] {
  const honest = bundle(fifty, fiftyCheckpoint);
  const lines = fifty.map(textOf);
  const last = textOf(entryAt(fifty, 49));
  const header = (bend: Readonly<Record<string, Json>>): Uint8Array =>
    fileOf(headerOf(fifty, fiftyCheckpoint, bend), lines);
  const rawHeader = (text: string): Uint8Array => fileOf(text, lines);
  const plain = headerOf(fifty, fiftyCheckpoint);
  const malformed = (name: string, bytes: Uint8Array, says = ""): Attack =>
    attack(name, bytes, "BUNDLE_MALFORMED", { says });
  const zero = Buffer.alloc(32).toString("base64");
  const leaves = leavesOf(fifty);
  const cut = (to: number, bend = {}): Uint8Array => bundle(fifty, fiftyCheckpoint, { to, ...bend });
  const tail = bundle(fifty, checkpointOf(fifty, 40, [first]), { size: 40 });
  const forgedPrev = ownHash(20, { prev_hash: "ab".repeat(32) });
  const forgedFrom = rechained(fifty.slice(21), 21, forgedPrev);
  return [
    attack("honest, whole", honest, "L1"),
    attack("honest, witnessed", honest, "L2", { trust: twoOfThree }),
    attack("honest, no key given", honest, "L0", { trust: {} }),
    attack("honest, one of several keys", honest, "L1", {
      trust: { vkeys: [logKey("x", "elsewhere").vkey, first.vkey], origin },
    }),
    attack("honest, a range", cut(33, { from: 7 }), "L1"),
    attack("honest, nothing of it", cut(7, { from: 7 }), "L1"),
    attack(
      "A7 last line cut off",
      Buffer.from(honest.subarray(0, honest.length - Buffer.byteLength(last) - 1)),
      "TRUNCATED",
      {
        sequence: 49,
      },
    ),
    attack("A7 C4 cut in the middle of a line", honest.subarray(0, honest.length - 10), "TRUNCATED", {
      sequence: 49,
      database: { answer: "ENTRY_MALFORMED", sequence: 49 },
    }),
    attack("A7 cut to the header", fileOf(plain, []), "TRUNCATED", { sequence: 0 }),
    attack("A7 cut, header adjusted", cut(45, { header: { right: [] } }), "TRUNCATED", { sequence: 45 }),
    attack("A7 cut to zero, header adjusted", cut(0, { header: { right: [] } }), "TRUNCATED", { sequence: 0 }),
    attack("A8 the tail beyond the checkpoint is only consistent", tail, "L1"),
    attack(
      "A8 only a tail has nobody to vouch for it",
      bundle(fifty, checkpointOf(fifty, 40, [first]), { from: 40, size: 40 }),
      "L0",
    ),
    malformed(
      "A8 beyond the checkpoint's sight",
      bundle(fifty, checkpointOf(fifty, 40, [first]), { from: 41, size: 40 }),
      "at most 40",
    ),
    malformed("A9 an empty file", Buffer.alloc(0)),
    malformed("A9 another file", Buffer.from("hello\n")),
    malformed("A9 of another version", Buffer.concat([Buffer.from("portcullis-audit-bundle/v2"), honest.subarray(26)])),
    malformed(
      "A9 half of the first line",
      Buffer.concat([Buffer.from("portcullis-audit-bundle/v"), honest.subarray(26)]),
    ),
    malformed("A27 a header of more than 4 MiB", header({ handovers: ["x".repeat(4_194_304)] }), "a header line"),
    malformed("A9 no header", Buffer.from("portcullis-audit-bundle/v1\n"), "a header line"),
    attack("A9 an empty log under its checkpoint", fileOf(headerOf([], checkpointOf([], 0, [first])), []), "L1", {
      database: { answer: "TRUNCATED", sequence: 0 },
    }),
    attack("A14 an older backup under the newer checkpoint", bundle(fifty.slice(0, 30), fiftyCheckpoint), "TRUNCATED", {
      sequence: 30,
    }),
    malformed("A12 more lines than announced", fileOf(plain, [...lines, last]), "the end of the file"),
    malformed("A12 bytes after the last line", Buffer.concat([honest, Buffer.from("x")]), "the end of the file"),
    malformed("A21 a subtree too many on the left", header({ left: [zero] }), "0 hashes in left"),
    malformed("A21 a subtree too many on the right", header({ right: [zero] }), "0 hashes in right"),
    malformed(
      "A21 a subtree too few on the left",
      cut(33, { from: 7, header: { left: subtrees(0, 6, leaves) } }),
      "3 hashes in left",
    ),
    malformed(
      "A21 a subtree of 31 bytes",
      cut(33, { header: { right: [Buffer.alloc(31).toString("base64"), zero] } }),
      "32 bytes",
    ),
    attack("A21 a false subtree on the left", cut(33, { from: 8, header: { left: [zero] } }), "ROOT_MISMATCH"),
    attack("A21 a false subtree on the right", cut(49, { header: { right: [zero] } }), "ROOT_MISMATCH", {
      database: { none: "In the table entries stand for themselves, not hashes in their place." },
    }),
    attack(
      "A23 forged link at the start of a range",
      bundle(forgedFrom, fiftyCheckpoint, { from: 20 }),
      "ROOT_MISMATCH",
    ),
    attack(
      "A23 tampering before a range",
      bundle(replaced(3, { actor: "eve" }), fiftyCheckpoint, { from: 20 }),
      "ROOT_MISMATCH",
    ),
    malformed("A24 header with a space", rawHeader(plain.replace(":[]", ": []")), "canonical"),
    malformed(
      "A24 header out of order",
      rawHeader(JSON.stringify({ from: 0, ...(JSON.parse(plain) as object) })),
      "canonical",
    ),
    malformed("header: a list", rawHeader("[]"), "exactly the fields"),
    malformed("header: null", rawHeader("null"), "exactly the fields"),
    malformed("header: a field more", header({ zone: "UTC" }), "exactly the fields"),
    malformed("header: from below zero", header({ from: -1 }), "from as a number"),
    malformed("header: entries as text", header({ entries: "50" }), "entries as a number"),
    malformed(
      "header: entries beyond 2^53",
      bundle(fifty, fiftyCheckpoint, { from: 1, header: { entries: Number.MAX_SAFE_INTEGER } }),
      "2^53",
    ),
    malformed("header: left as text", header({ left: "" }), "left as a list"),
    malformed("header: handovers of numbers", header({ handovers: [1] }), "handovers as a list"),
    malformed("header: no checkpoint", header({ checkpoint: null }), "checkpoint as a string"),
    attack("A27 an entry of 65,536 bytes", resigned(rechained([sized(65_536)], 50)), "ENTRY_MALFORMED", {
      sequence: 50,
      says: "65535",
    }),
    attack("A27 an entry of 65,535 bytes", resigned(rechained([sized(65_535)], 50)), "L1"),
    attack(
      "A27 a line without end",
      Buffer.concat([fileOf(plain, []), Buffer.alloc(3_000_000, 0x41)]),
      "ENTRY_MALFORMED",
      { sequence: 0, database: { none: "A row has an end." } },
    ),
  ];
}

/** Fields of entry 50 whose text has exactly this many bytes. */
function sized(bytes: number): Fields {
  const fields = (length: number): Fields => ({ ...ordinary(50), data: { text: "x".repeat(length) } });
  const [empty] = chain([fields(0)], fifty[49]);
  return fields(bytes - (empty === undefined ? 0 : textOf(empty).length));
}

function onGenesis(): readonly Attack[] {
  const good = genesis(first);
  const data = good.data as Readonly<Record<string, Json>>;
  const bent = (name: string, change: Partial<Fields>, says: string, of = origin): Attack => {
    const entries = chain([{ ...good, ...change }, ordinary(1)]);
    const key = logKey("first", of);
    const checkpoint = checkpointOf(entries, 2, [key], of);
    return attack(`genesis: ${name}`, bundle(entries, checkpoint), "GENESIS_MISMATCH", {
      sequence: 0,
      says,
      trust: { vkeys: [key.vkey] },
    });
  };
  const withData = (name: string, change: Readonly<Record<string, Json>>, says: string): Attack =>
    bent(name, { data: { ...data, ...change } }, says);
  const named = genesis(logKey("first", "mill"), "mill");
  const uuidless = genesis(logKey("first", "mill/7"), "mill/7", "7");
  return [
    bent("an ordinary entry", ordinary(1), "action"),
    bent("another actor", { actor: "operator:eve" }, "actor"),
    bent("another subject", { subject_id: "order-1" }, "subject_id"),
    withData("A13 of another origin", { origin: `${origin}x` }, "origin"),
    withData("another canonical form", { canonicalization: "jcs" }, "canonicalization"),
    withData("another format", { format: "portcullis-audit/v2" }, "format"),
    withData("another hash", { hash: "sha-1" }, "hash"),
    withData("a field more", { zone: "UTC" }, "exactly"),
    bent("no data", { data: {} }, "exactly"),
    bent("an incarnation that is no uuid", uuidless, "a uuid", "mill/7"),
    bent("an origin without incarnation", named, "ends in", "mill"),
    withData("no keys", { keys: [] }, "vkeys"),
    withData("17 keys", { keys: Array.from({ length: 17 }, () => first.vkey) }, "1 to 16"),
    withData("keys as text", { keys: first.vkey }, "vkeys"),
    withData("a witness's key", { keys: [w1.vkey] }, "vkeys"),
    withData("a witness's key of the log's name", { keys: [witnessKey("w", origin).vkey] }, "vkeys"),
    withData("an incarnation in a list", { incarnation: [incarnation] }, "a uuid"),
    withData("an origin in a list", { origin: [origin] }, "origin"),
    withData("a key that is none", { keys: ["x"] }, "vkeys"),
    withData("a key of another name", { keys: [logKey("first", "elsewhere").vkey] }, "vkeys"),
  ];
}

export const entryAttacks: readonly Attack[] = [...onEntries(), ...onBundles(), ...onGenesis()];

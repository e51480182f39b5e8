// Attacks on checkpoints, cosignatures and proofs of one entry; and wrong usage.
import {
  bundle,
  chain,
  checkpointOf,
  type Entry,
  fileOf,
  genesis,
  leavesOf,
  log,
  logKey,
  nodeHash,
  noteOf,
  nowS,
  ordinary,
  origin,
  pathOf,
  proof,
  rootOf,
  type Signer,
  type Trust,
  textOf,
  witnessKey,
} from "../test-log.ts";
import {
  type Attack,
  attack,
  entryAt,
  fifty,
  fiftyCheckpoint,
  first,
  headerOf,
  ownHash,
  replaced,
  stranger,
  twoOfThree,
  w1,
  w2,
  w3,
} from "./shape.ts";

type Note = (text: string, signers?: readonly Signer[]) => string;

// tidy: long because it is a table, one row for each attack.
function onCheckpoints(): readonly Attack[] {
  const root = rootOf(leavesOf(fifty)).toString("base64");
  const text = `${origin}\n50\n${root}\n`;
  const signed: Note = (body, signers = [first]) => noteOf(body, signers);
  const under = (name: string, note: string, answer: string, rest: Partial<Attack> = {}): Attack =>
    attack(name, bundle(fifty, note), answer, rest);
  const malformed = (name: string, note: string, says: string): Attack =>
    under(name, note, "CHECKPOINT_MALFORMED", { says });
  const line = first.line(text);
  const broken = `${line.slice(0, 80)}${line[80] === "A" ? "B" : "A"}${line.slice(81)}`;
  const elsewhere = logKey("first", "elsewhere");
  const late = witnessKey("w1", "w1.example", 2n ** 53n);
  const future = witnessKey("w1", "w1.example", BigInt(nowS) + 61n);
  const sameName = { ...stranger, line: (body: string) => lineWithId(stranger.line(body), first.id) };
  return [
    under(
      "A18 of another origin",
      signed(`${origin}x\n50\n${root}\n`, [logKey("first", `${origin}x`)]),
      "CHECKPOINT_MALFORMED",
      { sequence: 50, says: "origin" },
    ),
    under("A18 of another origin than asked", fiftyCheckpoint, "CHECKPOINT_MALFORMED", {
      sequence: 50,
      trust: { origin: "elsewhere" },
      database: { answer: "GENESIS_MISMATCH", sequence: 0 },
    }),
    malformed("A18 leading zero in the size", signed(`${origin}\n050\n${root}\n`), "size"),
    malformed("A18 size in another form", signed(`${origin}\n5e1\n${root}\n`), "size"),
    malformed("A18 size beyond 2^53", signed(`${origin}\n9007199254740993\n${root}\n`), "size"),
    malformed("A18 a root of 31 bytes", signed(`${origin}\n50\n${Buffer.alloc(31).toString("base64")}\n`), "root"),
    malformed("A18 an extension line", signed(`${text}smuggled\n`), "three lines"),
    malformed("A18 lines after an empty one", signed(`${text}\nsmuggled\n`), "three lines"),
    malformed("A18 loose bits in the root", signed(`${origin}\n50\n${loose(root)}\n`), "root"),
    malformed("A18 another character for the last line end", `${signed(text).slice(0, -1)}x`, "a line end"),
    malformed("A18 a hyphen for the dash", signed(text).replace("— ", "- "), "a line with dash"),
    malformed("A18 two lines", signed(`${origin}\n50\n`), "three lines"),
    malformed("A18 no origin", signed(`\n50\n${root}\n`), "an origin"),
    malformed("A18 no signature", `${text}\n`, "a line with dash"),
    malformed("A18 no signature line", `${text}\nhello\n`, "a line with dash"),
    malformed(
      "A18 a signature of four bytes",
      `${text}\n— ${origin} ${Buffer.alloc(4).toString("base64")}\n`,
      "a line with dash",
    ),
    malformed("A18 a loose base64", `${signed(text)}— someone AAAAAAAB=\n`, "a line with dash"),
    malformed("A18 a name with a plus", `${signed(text)}— some+one AAAAAAAB\n`, "a line with dash"),
    malformed("A18 no line end", signed(text).slice(0, -1), "a line end"),
    malformed("A18 a control character", `${signed(text)}— some\u0000one AAAAAAAB\n`, "control"),
    malformed("A18 not a note", "hello", "text, an empty line"),
    malformed("A18 an endless note", `${signed(text)}— someone ${"AAAA".repeat(131_072)}\n`, "at most 524288"),
    malformed("A18 101 signatures", `${signed(text)}${`${stranger.line(text)}\n`.repeat(100)}`, "at most 100"),
    malformed("A18 a name of 257 characters", `${signed(text)}— ${"n".repeat(257)} AAAAAAAB\n`, "a line with dash"),
    malformed("A18 an origin with white space", signed(`a\u00a0b\n50\n${root}\n`), "an origin"),
    under("A18 wrong root, signed", signed(`${origin}\n50\n${Buffer.alloc(32).toString("base64")}\n`), "ROOT_MISMATCH"),
    under(
      "A18 root changed after signing",
      signed(text).replace(root, Buffer.alloc(32).toString("base64")),
      "SIGNATURE_INVALID",
      { says: "a signature of" },
    ),
    under("A18 a known key's bad signature beside a good one", `${signed(text)}${broken}\n`, "SIGNATURE_INVALID", {
      says: "a signature of",
    }),
    under("A18 an unknown key is ignored", signed(text, [stranger, first, w3]), "L1"),
    under("A18 only an unknown key", signed(text, [stranger]), "SIGNATURE_INVALID", { says: "a trusted key" }),
    under("A18 a key with the same name and id", signed(text, [sameName]), "SIGNATURE_INVALID", {
      says: "a signature of",
    }),
    under("A18 a trusted key of another log", signed(text, [elsewhere]), "SIGNATURE_INVALID", {
      trust: { vkeys: [elsewhere.vkey, first.vkey] },
    }),
    attack(
      "A18 size 0 with another root",
      fileOf(headerOf([], signed(`${origin}\n0\n${root}\n`)), []),
      "CHECKPOINT_MALFORMED",
      { says: "the empty tree", database: { answer: "TRUNCATED", sequence: 0 } },
    ),
    attack(
      "A16 split view: one witness here, one there",
      bundle(fifty, signed(text, [first, w1])),
      "WITNESSES_MISSING",
      { trust: twoOfThree },
    ),
    attack("A16 one witness twice", bundle(fifty, signed(text, [first, w1, w1])), "WITNESSES_MISSING", {
      trust: twoOfThree,
    }),
    attack(
      "A16 the log's signature is no cosignature",
      bundle(fifty, signed(text, [first, first])),
      "WITNESSES_MISSING",
      { trust: twoOfThree },
    ),
    attack("A16 a false cosignature", bundle(fifty, signed(text, [first, w1, otherText(w2)])), "SIGNATURE_INVALID", {
      trust: twoOfThree,
      says: "a cosignature",
    }),
    ...[40, 10].map((length) =>
      attack(
        `A16 a cosignature of ${length - 4} bytes`,
        bundle(fifty, signed(text, [first, w1, short(w2, length)])),
        "SIGNATURE_INVALID",
        { trust: twoOfThree, says: "a cosignature" },
      ),
    ),
    attack(
      "A30 a cosignature after the end of time",
      bundle(fifty, signed(text, [first, late, w2])),
      "SIGNATURE_INVALID",
      { trust: twoOfThree, says: "a cosignature" },
    ),
    attack(
      "A30 a cosignature from the future does not count",
      bundle(fifty, signed(text, [first, future, w2])),
      "WITNESSES_MISSING",
      { trust: twoOfThree },
    ),
    attack(
      "A30 a witness's clock may be a minute ahead",
      bundle(fifty, signed(text, [first, witnessKey("w1", "w1.example", BigInt(nowS) + 60n), w2])),
      "L2",
      { trust: twoOfThree },
    ),
  ];
}

function lineWithId(line: string, id: string): string {
  const at = line.lastIndexOf(" ") + 1;
  const bytes = Buffer.from(line.slice(at), "base64");
  bytes.write(id, 0, "hex");
  return line.slice(0, at) + bytes.toString("base64");
}

const otherText = (signer: Signer): Signer => ({ ...signer, line: (text) => signer.line(`${text}x`) });
/** The same bytes in another text: the last digit has two bits that say nothing. */
const loose = (base64: string): string => {
  const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  return `${base64.slice(0, 42)}${digits[digits.indexOf(base64[42] ?? "") + 1]}=`;
};
const short = (signer: Signer, length: number): Signer => ({
  ...signer,
  line: (text) => {
    const line = signer.line(text);
    const at = line.lastIndexOf(" ") + 1;
    return line.slice(0, at) + Buffer.from(line.slice(at), "base64").subarray(0, length).toString("base64");
  },
});

// tidy: long because it is a table, one row for each attack.
function onProofs(): readonly Attack[] {
  const leaves = leavesOf(fifty);
  const path = pathOf(20, leaves).map((hash) => hash.toString("base64"));
  const on = (name: string, bytes: Uint8Array, answer: string, rest: Partial<Attack> = {}): Attack =>
    attack(`proof: ${name}`, bytes, answer, rest);
  const bent = (bend: Parameters<typeof proof>[3]): Uint8Array => proof(fifty, 20, fiftyCheckpoint, bend);
  const invalid = (name: string, bytes: Uint8Array, says = "", sequence = 20): Attack =>
    on(name, bytes, "PROOF_INVALID", { says, sequence });
  const malformed = (name: string, bytes: Uint8Array, says = ""): Attack => invalid(name, bytes, says, 0);
  const edited = entryAt(ownHash(20, { actor: "eve" }), 20);
  const inner = Buffer.concat([leaves[20] ?? Buffer.alloc(0), leaves[21] ?? Buffer.alloc(0)]);
  const older = checkpointOf(fifty, 40, [first]);
  const leafAsNode = nodeHash(leaves[20] ?? Buffer.alloc(0), leaves[21] ?? Buffer.alloc(0));
  const single = log(1, first);
  const ofOne = noteOf(`${origin}\n1\n${(leaves[20] ?? Buffer.alloc(0)).toString("base64")}\n`, [first]);
  const other = `${origin}x`;
  const foreign = checkpointOf(fifty, 50, [logKey("first", other)], other);
  const changedText = (from: string, to: string): Uint8Array =>
    Buffer.from(Buffer.from(bent({})).toString("utf8").replace(from, to));
  return [
    ...[0, 1, 20, 31, 32, 47, 48, 49].map((i) => on(`honest ${i}`, proof(fifty, i, fiftyCheckpoint), "L1")),
    on("honest, witnessed", bent({}), "L2", { trust: twoOfThree }),
    on("honest, of a log of one", proof(single, 0, checkpointOf(single, 1, [first])), "L1"),
    on("honest, no key", bent({}), "L0", { trust: {} }),
    invalid(
      "A19 wrong index in the file",
      bent({ index: 21, extra: textOf(entryAt(ownHash(20, { sequence: 21 }), 20)) }),
      "the root",
      21,
    ),
    on("A19 another index than the entry's", bent({ index: 21 }), "SEQUENCE_MISMATCH", { sequence: 21 }),
    invalid("A19 index beyond the checkpoint", proof(fifty, 45, older), "an index below 40", 45),
    invalid("A19 index beyond a tree of one", bent({ path: [], checkpoint: ofOne }), "an index below 1"),
    invalid("A19 under another checkpoint", bent({ checkpoint: older }), "the root"),
    invalid("A19 a hash too many", bent({ path: [...path, path[0] ?? ""] }), "the root"),
    invalid("A19 a hash too few", bent({ path: path.slice(1) }), "the root"),
    invalid("A19 the top missing", tooShort(), "the root"),
    invalid("A19 more on top", tooLong(), "the root"),
    malformed("A19 more than 63 hashes", bent({ path: Array.from({ length: 64 }, () => path[0] ?? "") }), "at most 63"),
    invalid("A19 63 hashes", bent({ path: Array.from({ length: 63 }, () => path[0] ?? "") }), "the root"),
    invalid("A19 hashes in another order", bent({ path: [...path].reverse() }), "the root"),
    malformed(
      "A19 a hash of 31 bytes",
      bent({ path: [Buffer.alloc(31).toString("base64"), ...path.slice(1)] }),
      "32 bytes",
    ),
    on("A19 an inner node as a leaf", bent({ extra: inner, path: path.slice(1) }), "ENTRY_MALFORMED", { sequence: 20 }),
    invalid(
      "A19 a leaf hashed as a node",
      bent({ path: [leafAsNode.toString("base64"), ...path.slice(1)] }),
      "the root",
    ),
    invalid("edited entry", bent({ extra: textOf(edited) }), "the root"),
    on(
      "edited entry with the old hash",
      bent({ extra: textOf(entryAt(replaced(20, { actor: "eve" }), 20)) }),
      "HASH_MISMATCH",
      { sequence: 20 },
    ),
    on("not an entry", bent({ extra: "hello" }), "ENTRY_MALFORMED", { sequence: 20 }),
    on("two lines", bent({ extra: `${textOf(entryAt(fifty, 20))}\n` }), "ENTRY_MALFORMED", {
      sequence: 20,
      says: "one line",
    }),
    invalid("without the entry", bent({ extra: null }), "the line extra"),
    malformed("another name for the index", changedText("index 20", "place 20"), "the line index"),
    malformed(
      "no empty line",
      Buffer.from(`${Buffer.from(bent({})).toString("utf8").split("\n\n")[0]}\n`),
      "an empty line",
    ),
    on("of another origin, and no entry", bent({ checkpoint: foreign, extra: "hello" }), "CHECKPOINT_MALFORMED", {
      sequence: 50,
    }),
    malformed("an entry that is no base64", bent({ raw: "extra *" }), "base64 in the line extra"),
    malformed("bytes that are no UTF-8", Buffer.concat([bent({}), Buffer.from([0xe2, 0x80])]), "UTF-8"),
    malformed("index with a leading zero", bent({ index: "020" }), "the line index"),
    malformed("index beyond 2^53", bent({ index: "9007199254740993" }), "the line index"),
    malformed(
      "no checkpoint",
      Buffer.from(Buffer.from(bent({})).toString("utf8").split("\n\n")[0] ?? ""),
      "an empty line",
    ),
    malformed("endless", Buffer.concat([bent({}), Buffer.alloc(2_000_000, 0x41)]), "at most 655360"),
    on("by a stranger", bent({ checkpoint: checkpointOf(fifty, 50, [stranger]) }), "SIGNATURE_INVALID"),
    on("unwitnessed", bent({ checkpoint: checkpointOf(fifty, 50, [first]) }), "WITNESSES_MISSING", {
      trust: twoOfThree,
    }),
    on("not a checkpoint", bent({ checkpoint: "hello\n" }), "CHECKPOINT_MALFORMED"),
    attack("proof: of another version", bent({ first: "c2sp.org/tlog-proof@v2" }), "BUNDLE_MALFORMED"),
    ...genesisProofs(),
  ];
}

/** A signed root that is really an inner node: the path stops below where the size says the root is, or goes on above it. */
function tooShort(): Uint8Array {
  const leaves = leavesOf(fifty).slice(0, 32);
  const note = noteOf(`${origin}\n64\n${rootOf(leaves).toString("base64")}\n`, [first]);
  return proof(fifty, 20, note, { path: pathOf(20, leaves).map((hash) => hash.toString("base64")) });
}

function tooLong(): Uint8Array {
  const leaves = leavesOf(fifty).slice(0, 32);
  const more = Buffer.alloc(32);
  const note = noteOf(`${origin}\n32\n${nodeHash(more, rootOf(leaves)).toString("base64")}\n`, [first]);
  return proof(fifty, 20, note, { path: [...pathOf(20, leaves), more].map((hash) => hash.toString("base64")) });
}

function genesisProofs(): readonly Attack[] {
  const false0 = chain([{ ...genesis(first), actor: "eve" }, ordinary(1)]);
  const linked = ownHash(0, { prev_hash: "ab".repeat(32) });
  const of = (entries: readonly Entry[]): Uint8Array =>
    proof(entries, 0, checkpointOf(entries, entries.length, [first]));
  return [
    attack("proof: a false genesis", of(false0), "GENESIS_MISMATCH", { sequence: 0 }),
    attack("proof: a genesis with a past", of(linked), "LINK_MISMATCH", { sequence: 0 }),
  ];
}

function usage(): readonly Attack[] {
  const bytes = bundle(fifty, fiftyCheckpoint);
  const wrong = (trust: Trust, says: string, what = says): Attack =>
    attack(`usage: ${what}`, bytes, "usage", { trust, says });
  const twice = `1 of ${w1.vkey},${witnessKey("w1", "other.example").vkey}`;
  return [
    wrong({ vkeys: ["x"] }, "is not a vkey"),
    wrong({ vkeys: [first.vkey.replace(/\+[0-9a-f]{8}\+/, "+00000000+")] }, "is not a vkey", "another key id"),
    wrong({ vkeys: [w1.vkey] }, "its type is 4"),
    wrong({ vkeys: [first.vkey], policy: `1 of ${first.vkey}` }, "its type is 1"),
    wrong({ policy: `1 of ${w1.vkey}` }, "--policy needs the log's key"),
    wrong({ vkeys: [first.vkey], policy: w1.vkey }, "--policy is written"),
    wrong({ vkeys: [first.vkey], policy: twice }, "the same key twice"),
    wrong({ vkeys: [first.vkey], policy: `3 of ${w1.vkey},${w2.vkey}` }, "asks for 3 of 2"),
    wrong({ vkeys: [first.vkey], origin: "elsewhere" }, "--origin elsewhere"),
  ];
}

export const noteAttacks: readonly Attack[] = [...onCheckpoints(), ...onProofs(), ...usage()];

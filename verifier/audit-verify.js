#!/usr/bin/env node
// The offline verifier: says whether an exported piece of the audit log is whole, and who vouches for it. It stands alone, written from
// docs/audit-format.md without any code of the platform, so that whoever doubts the platform need not trust it here.
// tidy: long because an auditor reads one file from top to bottom, and copies one file to another machine.
//
// How a bundle is verified, in the order of this file:
//   1. The header is read, and with it the checkpoint and the handovers.
//   2. The entries stream past in blocks, on all cores: each entry's text, number, link, hash and time, and its place in the tree. A block
//      starts from what the last line of the block before claims to be, which that block verifies; so the answer is that of one pass.
//      Rotations and revocations of keys are followed in the order of the entries.
//   3. The checkpoint's signatures, the root that the tree came to, the cosignatures.
// A proof of consistency says that the log of one checkpoint is the beginning of that of another: both checkpoints, then the proof.
// Where several things are wrong the first in this order is said; inside an entry: its text, number, link, hash, time, meaning.
// Every line that ends in a comment of the form "check: name" is one check; the tests take each away in turn and must notice.

import { isUtf8 } from "node:buffer";
import crypto from "node:crypto";
import fs from "node:fs";
import os from "node:os";
import { pathToFileURL } from "node:url";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";

const BUNDLE_LINE = "portcullis-audit-bundle/v1";
const PROOF_LINE = "c2sp.org/tlog-proof@v1";
const ENTRY_BYTES_MAX = 65_535;
const DEPTH_MAX = 32;
const HEADER_BYTES_MAX = 4 * 1024 * 1024;
const NOTE_LENGTH_MAX = 512 * 1024;
const SIGNATURES_MAX = 100;
const NAME_LENGTH_MAX = 256;
const GENESIS_KEYS_MAX = 16;
const PROOF_BYTES_MAX = 640 * 1024;
const PROOF_HASHES_MAX = 63;
const COSIGNATURE_AHEAD_S_MAX = 60;
const CHUNK_BYTES = 1024 * 1024;
const ENTRIES_FOR_THREADS = 20_000;
const THREADS_MAX = 8;
const ZERO_HASH = "0".repeat(64);
const HASH = /^[0-9a-f]{64}$/;
const EMPTY_ROOT = crypto.hash("sha256", "", "latin1");
const HASHES_LENGTH = `,"hash":"${ZERO_HASH}","prev_hash":"${ZERO_HASH}"`.length;

// Saying no. A broken log ends the run with one of the codes of the format page; wrong usage is another thing.

class Broken extends Error {
  constructor(verdict) {
    super(verdict.code);
    this.verdict = verdict;
  }
}

export class UsageError extends Error {}

function fail(code, sequence, expected, actual) {
  throw new Broken({ verdict: "no", code, sequence, expected: String(expected), actual: String(actual) });
}

/** Runs the work and turns a broken log into its verdict; any other error is not ours to explain. */
async function verdictOf(work) {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Broken) return error.verdict;
    throw error;
  }
}

// The two ways in. `options`: { vkeys: [], policy: "k of a,b", origin: "…", nowS: seconds since 1970 instead of the clock's,
// first: the note of the checkpoint that was kept, which makes the file a proof of consistency; second: the note of the later one, where
// the file's own is not meant; onProgress: (entriesDone, entries) => void }.

export async function verifyFile(path, options = {}) {
  const trust = trustFrom(options);
  const file = fs.openSync(path, "r");
  try {
    const reader = createReader(
      (buffer, offset, length) => fs.readSync(file, buffer, offset, length, null),
      CHUNK_BYTES,
    );
    return await verdictOf(() => verifyReader(reader, trust, options));
  } finally {
    fs.closeSync(file);
  }
}

export async function verifyBytes(bytes, options = {}) {
  const trust = trustFrom(options);
  let at = 0;
  const read = (buffer, offset, length) => {
    const piece = bytes.subarray(at, at + length);
    buffer.set(piece, offset);
    at += piece.length;
    return piece.length;
  };
  const reader = createReader(read, Math.min(CHUNK_BYTES, bytes.length + 1));
  return await verdictOf(() => verifyReader(reader, trust, options));
}

/** The first line says what the file is; with a checkpoint that was kept, it is the proof that the log only grew since. */
async function verifyReader(reader, trust, { first: kept, second, onProgress }) {
  if (kept !== undefined) return verifyConsistency(reader, trust, kept, second);
  const first = reader.line(ENTRY_BYTES_MAX)?.toString("utf8");
  if (first === PROOF_LINE) return verifyProof(reader, trust);
  if (first === BUNDLE_LINE) return await verifyBundle(reader, trust, onProgress);
  return fail("BUNDLE_MALFORMED", 0, `first line ${BUNDLE_LINE} or ${PROOF_LINE}`, excerpt(first ?? "no line"));
}

// A bundle, from top to bottom.

async function verifyBundle(reader, trust, onProgress) {
  const header = readHeader(reader);
  const { from, entries } = header;
  const checkpoint = parseNote(header.checkpoint);
  const handovers = header.handovers.map(parseNote);
  const plan = planTree(header, checkpoint, handovers);
  checkOrigins(checkpoint, handovers, trust);

  const keys = createKeyFollower(trust, checkpoint, handovers);
  const { root, lastTimestamp } = await verifyEntries(reader, header, checkpoint, plan, keys, onProgress);
  const vouched = checkCheckpoint(checkpoint, keys.ring, trust, root);
  const covered = Math.max(0, Math.min(from + entries, checkpoint.size) - from);
  return {
    verdict: "yes",
    // A checkpoint that covers none of the entries shown vouches for none of them.
    level: entries > 0 && covered === 0 ? "L0" : vouched.level,
    kind: "bundle",
    origin: checkpoint.origin,
    entries,
    from,
    to: entries === 0 ? null : from + entries - 1,
    checkpoint_size: checkpoint.size,
    covered,
    unanchored_tail: entries - covered,
    last_timestamp: lastTimestamp,
    witnesses: vouched.witnesses,
  };
}

const HEADER_FIELDS = ["checkpoint", "entries", "from", "handovers", "left", "right"];

function readHeader(reader) {
  const malformed = (expected, actual) => fail("BUNDLE_MALFORMED", 0, expected, actual);
  const line = reader.line(HEADER_BYTES_MAX);
  if (line === null) malformed("a header line", "none, or longer than 4 MiB"); // check: header-present
  const closed = Buffer.concat([line, Buffer.from("\n")]);
  if (scanValue(closed, 0, DEPTH_MAX) !== line.length)
    malformed("a header in canonical JSON", excerpt(line.toString("utf8"))); // check: header-canonical
  const header = JSON.parse(line.toString("utf8"));
  if (!hasExactly(header, HEADER_FIELDS))
    malformed(`exactly the fields ${HEADER_FIELDS.join(", ")}`, excerpt(line.toString("utf8"))); // check: header-fields
  for (const field of ["entries", "from"]) {
    if (!Number.isSafeInteger(header[field]) || header[field] < 0) malformed(`${field} as a number`, header[field]); // check: header-number
  }
  for (const field of ["handovers", "left", "right"]) {
    const strings = Array.isArray(header[field]) && header[field].every((item) => typeof item === "string");
    if (!strings) malformed(`${field} as a list of strings`, excerpt(JSON.stringify(header[field]))); // check: header-list
  }
  if (typeof header.checkpoint !== "string") malformed("checkpoint as a string", typeof header.checkpoint); // check: header-checkpoint
  if (!Number.isSafeInteger(header.from + header.entries)) malformed("a range of numbers below 2^53", header.from); // check: header-range
  const hashes = { left: header.left.map(hashFromBase64), right: header.right.map(hashFromBase64) };
  const whole = !hashes.left.includes(null) && !hashes.right.includes(null);
  if (!whole) malformed("left and right: base64 of 32 bytes each", "others"); // check: subtree-hashes
  return { ...header, ...hashes };
}

/** What the tree starts from, what it takes, and the sizes at which its root is wanted. */
function planTree({ from, entries, left, right }, checkpoint, handovers) {
  const end = from + entries;
  const malformed = (expected, actual) => fail("BUNDLE_MALFORMED", 0, expected, actual);
  if (from > checkpoint.size) malformed(`entries from at most ${checkpoint.size}, the checkpoint's size`, from); // check: from-beyond-checkpoint
  const leftSizes = subtreeSizes(0, from);
  const rightSizes = end < checkpoint.size ? subtreeSizes(end, checkpoint.size) : [];
  if (left.length !== leftSizes.length) malformed(`${leftSizes.length} hashes in left`, left.length); // check: left-count
  const missing = rightSizes.length - right.length;
  if (missing > 0) fail("TRUNCATED", end, `${checkpoint.size} entries, or hashes in place of those left out`, `${end}`); // check: truncated-header
  if (missing < 0) malformed(`${rightSizes.length} hashes in right`, right.length); // check: right-count
  const treeEnd = Math.min(end, checkpoint.size);
  handovers.forEach(({ size }, i) => {
    const before = handovers[i - 1]?.size ?? from;
    const named = Math.max(0, size - 1);
    if (size <= before) fail("HANDOVER_INVALID", named, `handovers in order of size, from ${from + 1} on`, size); // check: handover-order
    if (size > treeEnd) fail("HANDOVER_INVALID", named, `handovers of at most size ${treeEnd}`, size); // check: handover-beyond
  });
  const sizes = new Set([...handovers, checkpoint].map((note) => note.size));
  return { left, leftSizes, right, rightSizes, sizes, end: treeEnd };
}

/** Perfect subtrees that make up [start, end): at each place the largest power of two that divides it and still fits. */
function subtreeSizes(start, end) {
  const sizes = [];
  for (let place = start; place < end; ) {
    let size = 1;
    while (place % (size * 2) === 0 && place + size * 2 <= end) size *= 2;
    sizes.push(size);
    place += size;
  }
  return sizes;
}

// The entries: blocks go out to be verified, and come back in order.

async function verifyEntries(reader, { from, entries }, { origin, size }, plan, keys, onProgress) {
  const forest = createForest(0);
  const roots = new Map();
  const end = from + entries;
  const blocksAhead = [];
  const pool = createPool(entries < ENTRIES_FOR_THREADS ? 1 : Math.min(THREADS_MAX, os.availableParallelism()));
  let next = from;
  let more = false;
  let lastTimestamp = null;

  const grow = (hash, size) => {
    forest.push(hash, size);
    if (plan.sizes.has(forest.place())) roots.set(forest.place(), forest.root());
  };
  const take = (result) => {
    for (const subtree of result.subtrees) grow(subtree.hash, subtree.size);
    // What is wrong with a key before the entry that is broken comes first.
    keys.follow(result.keyChanges, result.sequence, roots);
    if (result.broken !== undefined) throw new Broken(result.broken);
    lastTimestamp = result.previousTime;
    onProgress?.(result.sequence - from, entries);
  };

  if (plan.sizes.has(0)) roots.set(0, forest.root());
  for (const [i, hash] of plan.left.entries()) grow(hash, plan.leftSizes[i]);
  // From the middle on, the first link leads out of sight: only the tree vouches for it.
  let before = { previousHash: from === 0 ? ZERO_HASH : null, previousTime: "" };
  try {
    for (let block = reader.block(); block !== null && !more; block = reader.block()) {
      const { lines, stop } = countLines(block, end - next);
      more = stop < block.end;
      if (lines === 0) break;
      const after = claimsOfLastLine(block.bytes, block.start, stop);
      const cuts = [...plan.sizes].filter((size) => size > next && size < next + lines);
      blocksAhead.push(pool.run({ ...block, ...before, end: stop, sequence: next, origin, treeEnd: plan.end, cuts }));
      if (blocksAhead.length >= pool.blocksAheadMax) take(await blocksAhead.shift());
      before = after;
      next += lines;
    }
    for (const result of blocksAhead) take(await result);
  } finally {
    await pool.close();
  }
  const restBytes = reader.restBytes();
  const actual = `${next - from}${restBytes > 0 ? " and a line without its end" : ""}`;
  if (next < end) fail("TRUNCATED", next, `${entries} entries`, actual); // check: truncated-file
  if (more || restBytes > 0) fail("BUNDLE_MALFORMED", 0, `the end of the file after ${entries} entries`, "more"); // check: extra-lines
  for (const [i, hash] of plan.right.entries()) grow(hash, plan.rightSizes[i]);
  return { root: roots.get(size), lastTimestamp };
}

/** How many lines the block has, but not more than wanted, and where they stop. */
function countLines(block, wanted) {
  let lines = 0;
  let stop = block.start;
  for (; lines < wanted && stop < block.end; lines += 1) {
    const at = block.bytes.indexOf(10, stop);
    stop = at < 0 ? block.end : at + 1;
  }
  return { lines, stop };
}

/** What the last line says of its own hash and time. Nothing is believed here: the block that has the line verifies it. */
function claimsOfLastLine(bytes, start, stop) {
  const line = bytes.latin1Slice(Math.max(start, bytes.lastIndexOf(10, stop - 2) + 1), stop - 1);
  const hashAt = line.lastIndexOf(',"sequence":') - 144;
  return { previousHash: line.slice(hashAt, hashAt + 64), previousTime: line.slice(-29, -2) };
}

/** One block: every line is an entry that follows the one before, and a leaf of the tree. */
function verifyBlock(job) {
  const { bytes, start, end, origin, treeEnd, cuts } = job;
  const state = { sequence: job.sequence, previousHash: job.previousHash, previousTime: job.previousTime, origin };
  const parts = { hash: "", prev: "", cutFrom: 0, cutTo: 0, sequence: 0, time: "" };
  const forest = createForest(job.sequence);
  const subtrees = [];
  const keyChanges = [];
  try {
    for (let at = start; at < end; ) {
      const found = bytes.indexOf(10, at);
      const stop = found < 0 || found >= end ? end : found;
      if (state.sequence < treeEnd) forest.push(leafHash(bytes, at, stop), 1);
      const change = checkEntry(bytes, at, stop, state, parts);
      if (change !== null) keyChanges.push(change);
      if (cuts.includes(state.sequence)) subtrees.push(...forest.take());
      at = stop + 1;
    }
  } catch (error) {
    if (error instanceof Broken) return { broken: error.verdict, subtrees, keyChanges, sequence: state.sequence };
    throw error;
  }
  subtrees.push(...forest.take());
  return { subtrees, keyChanges, sequence: state.sequence, previousTime: state.previousTime };
}

/** One entry against the one before; moves the state on and answers with the key change that the entry is, or null. */
function checkEntry(bytes, start, end, state, parts) {
  const { sequence, previousHash, previousTime } = state;
  const problem = end - start > ENTRY_BYTES_MAX ? "at most 65535 bytes" : scanEntry(bytes, start, end, parts);
  if (problem !== null) fail("ENTRY_MALFORMED", sequence, problem, excerpt(bytes.toString("utf8", start, end))); // check: entry-malformed
  const { time, prev } = parts;
  const isKeyChange = bytes[start + 11] === 0x6b && KEY_CHANGE.test(bytes.latin1Slice(start, start + 23));
  const text = sequence === 0 || isKeyChange ? bytes.toString("utf8", start, end) : "";
  const hash = hashOf(bytes, start, end, parts);
  const linked = previousHash === null || prev === previousHash;
  const hashed = parts.hash === hash;
  // What equals a hash of ours needs no second look; anything else may not even be the text of a hash.
  const digits = (linked && previousHash !== null) || HASH.test(prev) ? hashed || HASH.test(parts.hash) : false;
  if (!digits)
    fail("ENTRY_MALFORMED", sequence, "hash and prev_hash in lower-case hex digits", `${parts.hash} ${prev}`); // check: text-digits
  if (parts.sequence !== sequence) fail("SEQUENCE_MISMATCH", sequence, sequence, parts.sequence); // check: sequence
  if (!linked) fail("LINK_MISMATCH", sequence, previousHash, prev); // check: link
  if (!hashed) fail("HASH_MISMATCH", sequence, hash, parts.hash); // check: hash
  if (time < previousTime) fail("TIME_BACKWARDS", sequence, `at least ${previousTime}`, time); // check: time
  if (sequence === 0) checkGenesis(text, state.origin); // check: genesis
  const change = isKeyChange ? keyChangeOf(text, state.origin) : null;
  state.previousHash = hash;
  state.previousTime = time;
  state.sequence += 1;
  return change;
}

/**
 * SHA-256 of the 64 digits of prev_hash and the text without the two hash fields. The front of the text is moved over those fields, in
 * place, because that is the fastest way to bring the parts together; the line is of no use afterwards.
 */
function hashOf(bytes, start, end, { cutFrom, cutTo, prev }) {
  const front = cutTo - (cutFrom - start);
  bytes.copyWithin(front, start, cutFrom);
  bytes.latin1Write(prev, front - 64, 64);
  return crypto.hash("sha256", bytes.subarray(front - 64, end), "hex");
}

const GENESIS_FIELDS = ["canonicalization", "format", "hash", "incarnation", "keys", "origin"];
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

function checkGenesis(text, origin) {
  const { action, actor, subject_id: subject, data } = JSON.parse(text);
  const wrong = (expected, actual) => fail("GENESIS_MISMATCH", 0, expected, excerpt(String(actual)));
  if (action !== "chain.genesis") wrong("action chain.genesis", action); // check: genesis-action
  if (actor !== "service:operations") wrong("actor service:operations", actor); // check: genesis-actor
  if (!hasExactly(data, GENESIS_FIELDS)) wrong(`data with exactly ${GENESIS_FIELDS.join(", ")}`, JSON.stringify(data)); // check: genesis-fields
  if (data.origin !== origin) wrong(`origin ${origin}`, data.origin); // check: genesis-origin
  if (subject !== origin) wrong(`subject_id ${origin}`, subject); // check: genesis-subject
  if (data.canonicalization !== "rfc8785") wrong("canonicalization rfc8785", data.canonicalization); // check: genesis-canonicalization
  if (data.format !== "portcullis-audit/v1") wrong("format portcullis-audit/v1", data.format); // check: genesis-format
  if (data.hash !== "sha-256") wrong("hash sha-256", data.hash); // check: genesis-hash
  if (typeof data.incarnation !== "string" || !UUID.test(data.incarnation))
    wrong("incarnation, a uuid", data.incarnation); // check: genesis-incarnation
  if (!origin.endsWith(data.incarnation)) wrong(`an origin that ends in ${data.incarnation}`, origin); // check: genesis-origin-incarnation
  const keys = Array.isArray(data.keys) ? data.keys.map(parseVkey) : [];
  const some = keys.length > 0 && keys.length <= GENESIS_KEYS_MAX;
  const fit = some && keys.every((key) => key !== null && key.type === 1 && key.name === origin);
  if (!fit) wrong("keys, a list of 1 to 16 vkeys of this origin", JSON.stringify(data.keys)); // check: genesis-keys
}

const KEY_CHANGE = /^\{"action":"key\.(rotated|revoked)"$/;

/** A rotation or a revocation. Their shape is part of the format, so a misshapen one is not an entry. */
function keyChangeOf(text, origin) {
  const { action, data, sequence, subject_id: subject } = JSON.parse(text);
  const wrong = (expected) => fail("ENTRY_MALFORMED", sequence, expected, excerpt(JSON.stringify(data)));
  const keyOf = (vkey) => {
    const key = parseVkey(vkey);
    return key !== null && key.type === 1 && key.name === origin ? key : null;
  };
  if (action === "key.rotated") {
    if (!hasExactly(data, ["new_key", "old_key"])) wrong("data with exactly new_key and old_key"); // check: rotation-fields
    const newKey = keyOf(data.new_key);
    const oldKey = keyOf(data.old_key);
    if (newKey === null || oldKey === null) wrong("new_key and old_key as vkeys of this log"); // check: rotation-keys
    if (newKey.id === oldKey.id) wrong("two keys of different ids"); // check: rotation-same
    if (subject !== newKey.id) wrong(`subject_id ${newKey.id}`); // check: rotation-subject
    return { kind: "rotated", sequence, newVkey: data.new_key, oldVkey: data.old_key };
  }
  if (!hasExactly(data, ["key", "trusted_size"])) wrong("data with exactly key and trusted_size"); // check: revocation-fields
  const key = keyOf(data.key);
  if (key === null) wrong("key as a vkey of this log"); // check: revocation-key
  if (subject !== key.id) wrong(`subject_id ${key.id}`); // check: revocation-subject
  if (!Number.isSafeInteger(data.trusted_size) || data.trusted_size < 0) wrong("trusted_size as a number"); // check: revocation-size
  return { kind: "revoked", sequence, vkey: data.key, trustedSize: data.trusted_size };
}

// The text of an entry, byte by byte: RFC 8785 as the format narrows it. A scanner answers with the place after what it read, or -1.
// A line end is accepted nowhere, so that no scanner runs past the line it was given.

/** Fills `parts` with what the entry says; answers null, or what was expected. */
function scanEntry(bytes, start, end, parts) {
  let at = scanText(bytes, start, '{"action":', 128);
  if (at < 0) return "action, a string of 1 to 128 characters, first"; // check: text-action
  at = scanText(bytes, at, ',"actor":', 256);
  if (at < 0) return "actor, a string of 1 to 256 characters, next"; // check: text-actor
  at = scanLiteral(bytes, at, ',"data":');
  if (bytes[at] !== 0x7b) return "data, an object, next"; // check: text-data
  at = scanValue(bytes, at, DEPTH_MAX);
  if (at < 0) return "data in canonical JSON, at most 32 levels deep"; // check: text-data-canonical
  const hashes = bytes.latin1Slice(at, Math.min(at + HASHES_LENGTH, end));
  const named = hashes.startsWith(',"hash":"') && hashes.startsWith('","prev_hash":"', 73) && hashes.endsWith('"');
  if (!named) return "hash and prev_hash, of 64 characters each, next"; // check: text-hashes
  parts.hash = hashes.slice(9, 73);
  parts.prev = hashes.slice(88, 152);
  parts.cutFrom = at;
  parts.cutTo = at + HASHES_LENGTH;
  const sequenceAt = scanLiteral(bytes, parts.cutTo, ',"sequence":');
  at = sequenceAt < 0 || bytes[sequenceAt] === 0x2d ? -1 : scanInteger(bytes, sequenceAt);
  if (at < 0) return "sequence, a whole number, next"; // check: text-sequence
  parts.sequence = numberAt(bytes, sequenceAt, at);
  at = scanText(bytes, at, ',"subject_id":', 256);
  if (at < 0) return "subject_id, a string of 1 to 256 characters, next"; // check: text-subject
  at = scanLiteral(bytes, at, ',"timestamp":"');
  parts.time = at < 0 ? "" : bytes.latin1Slice(at, Math.min(at + 27, end));
  if (!isTimestamp(parts.time)) return "timestamp, UTC with six decimals, last"; // check: text-timestamp
  if (scanLiteral(bytes, at + 27, '"}') !== end) return "the end of the line after the object"; // check: text-end
  return null;
}

function scanLiteral(bytes, at, literal) {
  for (let i = 0; i < literal.length; i += 1) if (bytes[at + i] !== literal.charCodeAt(i)) return -1;
  return at + literal.length;
}

/** A member name and a string of 1 to `charactersMax` Unicode characters. */
function scanText(bytes, start, name, charactersMax) {
  const at = scanLiteral(bytes, start, name);
  const end = at < 0 ? -1 : scanString(bytes, at);
  const length = end - at - 2;
  if (length === 0) return -1; // check: text-empty
  if (length > charactersMax && [...JSON.parse(bytes.toString("utf8", at, end))].length > charactersMax) return -1; // check: text-length
  return end;
}

// What a byte may be: a plain character of a string, and of those, a digit.
const PLAIN = 1;
const DIGIT = 2;
const KIND = new Uint8Array(256);
for (let byte = 0x20; byte < 0x80; byte += 1) KIND[byte] = PLAIN;
for (let byte = 0x30; byte <= 0x39; byte += 1) KIND[byte] = DIGIT;
KIND[0x22] = 0;
KIND[0x5c] = 0;

/** Any value. `levels` is how many levels of objects and lists are still allowed. */
function scanValue(bytes, at, levels) {
  const byte = bytes[at];
  if (byte === 0x22) return scanString(bytes, at);
  if (byte === 0x7b || byte === 0x5b) {
    if (levels === 0) return -1; // check: depth
    return byte === 0x7b ? scanObject(bytes, at, levels - 1) : scanList(bytes, at, levels - 1);
  }
  if (byte === 0x74) return scanLiteral(bytes, at, "true");
  if (byte === 0x66) return scanLiteral(bytes, at, "false");
  if (byte === 0x6e) return scanLiteral(bytes, at, "null");
  return scanNumber(bytes, at);
}

function scanObject(bytes, start, levels) {
  let at = start + 1;
  if (bytes[at] === 0x7d) return at + 1;
  let nameBefore = -1;
  for (;;) {
    const name = at;
    at = scanString(bytes, name);
    if (bytes[at] !== 0x3a) return -1; // check: object-name
    if (nameBefore >= 0 && !ascends(bytes, nameBefore, name)) return -1; // check: object-order
    nameBefore = name;
    at = scanValue(bytes, at + 1, levels);
    if (bytes[at] === 0x7d) return at + 1;
    if (bytes[at] !== 0x2c) return -1; // check: object-comma
    at += 1;
  }
}

function scanList(bytes, start, levels) {
  let at = start + 1;
  if (bytes[at] === 0x5d) return at + 1;
  for (;;) {
    at = scanValue(bytes, at, levels);
    if (bytes[at] === 0x5d) return at + 1;
    if (bytes[at] !== 0x2c) return -1; // check: list-comma
    at += 1;
  }
}

/** Whether the name at `a` sorts before the name at `b`, by UTF-16 code units. Both were scanned; both places are quotation marks. */
function ascends(bytes, a, b) {
  for (let i = 1; ; i += 1) {
    const left = bytes[a + i];
    const right = bytes[b + i];
    // Bytes sort as code units do, but for escapes and for the characters from U+E000 on.
    const escaped = left === 0x5c || right === 0x5c || left >= 0xee || right >= 0xee;
    if (escaped) return stringAt(bytes, a) < stringAt(bytes, b);
    if (left === 0x22) return right !== 0x22;
    if (right === 0x22) return false;
    if (left !== right) return left < right;
  }
}

function stringAt(bytes, at) {
  return JSON.parse(bytes.toString("utf8", at, scanString(bytes, at)));
}

/** A string: characters as they are in well-formed UTF-8, escapes only where JSON needs them and in the one way of RFC 8785. */
function scanString(bytes, start) {
  let at = start + 1;
  if (bytes[start] !== 0x22) return -1; // check: string-opens
  for (;;) {
    while (KIND[bytes[at]] !== 0) at += 1;
    const byte = bytes[at];
    if (byte === 0x22) return at + 1;
    const length = byte === 0x5c ? escapeLength(bytes, at) : byte >= 0x80 ? characterLength(bytes, at) : 0;
    if (length === 0) return -1; // check: string-character
    at += length;
  }
}

const SHORT_ESCAPES = new Set([...'"\\bfnrt'].map((letter) => letter.charCodeAt(0)));
const LONG_ESCAPE = /^\\u00(0[0-7be-f]|1[0-9a-f])$/;

function escapeLength(bytes, at) {
  if (SHORT_ESCAPES.has(bytes[at + 1])) return 2;
  if (!LONG_ESCAPE.test(bytes.latin1Slice(at, Math.min(at + 6, bytes.length)))) return 0; // check: escape
  return 6;
}

/** How many bytes the character beyond ASCII at `at` has; 0 when it is not well-formed (too long a form, a surrogate, too large). */
function characterLength(bytes, at) {
  const first = bytes[at];
  const second = bytes[at + 1];
  const follows = (byte) => (byte & 0xc0) === 0x80;
  if (!follows(second)) return 0; // check: utf8-second
  if (first >= 0xc2 && first <= 0xdf) return 2;
  if (first < 0xe0 || !follows(bytes[at + 2])) return 0; // check: utf8-third
  if (first === 0xe0 && second < 0xa0) return 0; // check: utf8-overlong-three
  if (first === 0xed && second > 0x9f) return 0; // check: utf8-surrogate
  if (first <= 0xef) return 3;
  if (first > 0xf4 || !follows(bytes[at + 3])) return 0; // check: utf8-fourth
  if (first === 0xf0 && second < 0x90) return 0; // check: utf8-overlong-four
  if (first === 0xf4 && second > 0x8f) return 0; // check: utf8-too-large
  return 4;
}

const NUMBER_LENGTH_MAX = 25;

/** Digits alone are a whole number; a text with a point or an exponent is a number's only if ECMAScript, and so RFC 8785, writes that number so. */
function scanNumber(bytes, start) {
  let at = bytes[start] === 0x2d ? start + 1 : start;
  while (KIND[bytes[at]] === DIGIT) at += 1;
  if (bytes[at] !== 0x2e && bytes[at] !== 0x65) return scanInteger(bytes, start);
  const [text] = /^[-+.e0-9]*/.exec(bytes.latin1Slice(start, Math.min(start + NUMBER_LENGTH_MAX, bytes.length)));
  if (String(Number(text)) !== text) return -1; // check: number-form
  return start + text.length;
}

/** A whole number between -(2^53 - 1) and 2^53 - 1, without leading zeros or negative zero. */
function scanInteger(bytes, start) {
  const first = bytes[start] === 0x2d ? start + 1 : start;
  let at = first;
  while (KIND[bytes[at]] === DIGIT) at += 1;
  if (at === first) return -1; // check: integer-digits
  if (bytes[first] === 0x30 && (at > first + 1 || first > start)) return -1; // check: integer-zero
  if (at - first >= 16 && !(at - first === 16 && numberAt(bytes, first, at) <= Number.MAX_SAFE_INTEGER)) return -1; // check: integer-range
  return at;
}

function numberAt(bytes, start, end) {
  let value = 0;
  for (let at = start; at < end; at += 1) value = value * 10 + (bytes[at] - 0x30);
  return value;
}

const TIMESTAMP =
  /^[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]\.[0-9]{6}Z$/;
const MONTH_DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** A real moment in UTC, with exactly six decimals; leap seconds do not exist here. */
function isTimestamp(text) {
  if (!TIMESTAMP.test(text)) return false; // check: timestamp-form
  if (text.charCodeAt(8) < 0x32) return true;
  const [year, month, day] = [text.slice(0, 4), text.slice(5, 7), text.slice(8, 10)].map(Number);
  const leapDay = month === 2 && year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 1 : 0;
  if (day > MONTH_DAYS[month - 1] + leapDay) return false; // check: timestamp-day
  return true;
}

// The tree (RFC 6962): perfect subtrees, from left to right; two neighbours that make up a larger one become it. Hashes are held as
// strings of 32 characters, one for each byte, which is what the hash function hands out fastest.

function createForest(start) {
  const node = Buffer.alloc(65);
  node[0] = 1;
  let hashes = [];
  let sizes = [];
  let place = start;

  function nodeHash(left, right) {
    for (let i = 0; i < 32; i += 1) {
      node[1 + i] = left.charCodeAt(i);
      node[33 + i] = right.charCodeAt(i);
    }
    return crypto.hash("sha256", node, "latin1");
  }

  return {
    place: () => place,
    push(subtreeHash, subtreeSize) {
      let hash = subtreeHash;
      let size = subtreeSize;
      place += size;
      while (sizes.length > 0 && sizes[sizes.length - 1] === size && place % (2 * size) === 0) {
        hash = nodeHash(hashes.pop(), hash);
        size += sizes.pop();
      }
      hashes.push(hash);
      sizes.push(size);
    },
    root() {
      if (hashes.length === 0) return EMPTY_ROOT;
      return hashes.reduceRight((right, left) => nodeHash(left, right));
    },
    /** Hands out the subtrees and starts anew at this place. */
    take() {
      const taken = hashes.map((hash, i) => ({ hash, size: sizes[i] }));
      hashes = [];
      sizes = [];
      return taken;
    },
  };
}

/** A leaf is a zero byte and the text; the zero byte takes the place of the line end before, which has done its work. */
function leafHash(bytes, start, end) {
  bytes[start - 1] = 0;
  return crypto.hash("sha256", bytes.subarray(start - 1, end), "latin1");
}

// Threads: a large bundle is verified by as many of them as there are cores. They run this same file.

function createPool(threads) {
  if (threads === 1) return { blocksAheadMax: 1, run: (job) => verifyBlock(job), close: () => undefined };
  const workers = Array.from({ length: threads }, () => {
    const worker = new Worker(new URL(import.meta.url), { workerData: { auditBlocks: true } });
    const waiting = [];
    worker.on("message", (result) => waiting.shift().resolve(result));
    worker.on("error", (error) => waiting.shift()?.reject(error));
    return { worker, waiting };
  });
  let turn = 0;
  return {
    blocksAheadMax: 2 * threads,
    run(job) {
      const { worker, waiting } = workers[turn];
      turn = (turn + 1) % threads;
      // The byte before the first line goes along, because the leaf hash needs its place.
      const copy = new Uint8Array(job.end - job.start + 1);
      copy.set(job.bytes.subarray(job.start - 1, job.end));
      worker.postMessage({ ...job, bytes: copy, start: 1, end: copy.length }, [copy.buffer]);
      return new Promise((resolve, reject) => {
        waiting.push({ resolve, reject });
      });
    },
    close: async () => void (await Promise.all(workers.map(({ worker }) => worker.terminate()))),
  };
}

function runThread() {
  parentPort.on("message", (job) =>
    parentPort.postMessage(verifyBlock({ ...job, bytes: Buffer.from(job.bytes.buffer) })),
  );
}

// Notes: checkpoints, handovers, signatures and cosignatures (C2SP signed-note, tlog-checkpoint, tlog-cosignature).

const SIGNATURE_LINE = /^— ([^ ]+) (\S+)$/u;
const NOT_IN_NAMES = /[\p{White_Space}+]/u;

/** Whether a text can name a key or a log: no white space of any script, no plus sign, no control characters. */
function isName(text) {
  const plain = ![...text].some((character) => character < " ");
  return text !== "" && text.length <= NAME_LENGTH_MAX && !NOT_IN_NAMES.test(text) && plain;
}

function parseNote(note) {
  const malformed = (expected, actual) => fail("CHECKPOINT_MALFORMED", 0, expected, excerpt(String(actual)));
  if (note.length > NOTE_LENGTH_MAX) malformed(`a note of at most ${NOTE_LENGTH_MAX} characters`, note.length); // check: note-size
  const controls = [...note].some((character) => character < " " && character !== "\n");
  if (controls) malformed("no control characters", JSON.stringify(note)); // check: note-controls
  const gap = note.lastIndexOf("\n\n");
  if (gap < 0 || !note.endsWith("\n")) malformed("text, an empty line, signatures, a line end", note); // check: note-form
  const text = note.slice(0, gap + 1);
  const signatureLines = note.slice(gap + 2, -1).split("\n");
  if (signatureLines.length > SIGNATURES_MAX) malformed(`at most ${SIGNATURES_MAX} signatures`, signatureLines.length); // check: note-signatures
  const signatures = signatureLines.map((line) => {
    const [, name, encoded] = SIGNATURE_LINE.exec(line) ?? [];
    const bytes = encoded === undefined || !isName(name) ? null : fromBase64(encoded);
    if (bytes === null || bytes.length < 5) malformed("a line with dash, name and signature", line); // check: note-signature-line
    return { name, id: bytes.toString("hex", 0, 4), signature: bytes.subarray(4) };
  });
  const lines = text.split("\n");
  if (lines.length !== 4) malformed("three lines of text", `${lines.length - 1}`); // check: note-lines
  const [origin, sizeText, rootText] = lines;
  if (!isName(origin)) malformed("an origin", origin); // check: note-origin
  const size = Number(sizeText);
  if (!/^(0|[1-9][0-9]*)$/.test(sizeText) || !Number.isSafeInteger(size))
    malformed("a size in decimal digits", sizeText); // check: note-size-line
  const root = hashFromBase64(rootText);
  if (root === null) malformed("a root, base64 of 32 bytes", rootText); // check: note-root
  if (size === 0 && root !== EMPTY_ROOT) malformed("the root of the empty tree for size 0", rootText); // check: note-empty
  return { text, origin, size, root, signatures };
}

/** The checkpoint is of the log that we were asked about, and the handovers are of the same. */
function checkOrigins(checkpoint, handovers, trust) {
  const { origin, size } = checkpoint;
  const asked = trust.origins.length === 0 || trust.origins.includes(origin);
  if (!asked) fail("CHECKPOINT_MALFORMED", size, `origin ${trust.origins.join(" or ")}`, origin); // check: checkpoint-origin
  for (const handover of handovers) {
    const same = handover.origin === origin;
    if (!same) fail("CHECKPOINT_MALFORMED", handover.size, `a handover of ${origin}`, handover.origin); // check: handover-origin
  }
}

/** Whether this key signed the note. A line that claims to be this key's and does not verify condemns the note. */
function signedBy(note, key) {
  if (key.name !== note.origin) return false; // check: signer-name
  const lines = note.signatures.filter((line) => line.name === key.name && line.id === key.id);
  for (const { signature } of lines) {
    const valid = crypto.verify(null, Buffer.from(note.text), key.publicKey, signature);
    const expected = `a signature of ${key.text} on size ${note.size}`;
    if (!valid) fail("SIGNATURE_INVALID", note.size, expected, "one that does not verify"); // check: signature
  }
  return lines.length > 0;
}

/** When this witness cosigned the note, in seconds since 1970; null when it did not, or says that it will. */
function cosignedAt(note, witness, nowS) {
  let time = null;
  for (const { name, id, signature } of note.signatures) {
    if (name !== witness.name || id !== witness.id) continue;
    const said = signature.length === 72 ? signature.readBigUInt64BE(0) : -1n;
    const message = Buffer.from(`cosignature/v1\ntime ${said}\n${note.text}`);
    const wanted = `a cosignature of ${witness.text}`;
    const timely = said >= 0n && said < 2n ** 53n;
    if (!timely) fail("SIGNATURE_INVALID", note.size, wanted, "one without a time"); // check: cosignature-time
    const valid = crypto.verify(null, message, witness.publicKey, signature.subarray(8));
    if (!valid) fail("SIGNATURE_INVALID", note.size, wanted, "one that does not verify"); // check: cosignature
    const late = Number(said) > nowS + COSIGNATURE_AHEAD_S_MAX;
    if (late) continue; // check: cosignature-future
    time = Number(said);
  }
  return time;
}

// The ring of keys: those that we trust, and for which sizes of checkpoints. A key is trusted because it was given to us, or because a key
// that was trusted and in force handed over to it.

function createRing(keys) {
  const ring = new Map();
  for (const key of keys) ring.set(key.text, { key, first: 0, last: Number.POSITIVE_INFINITY, through: null });
  return ring;
}

/** After a rotation whose handover both keys signed. A key that has ended never begins again. */
function rotate(ring, oldVkey, newVkey, size, isShown) {
  const before = ring.get(oldVkey);
  const after = ring.get(newVkey);
  const trusted = before !== undefined && inForce(before, size);
  if (before !== undefined) before.last = Math.min(before.last, size);
  if (after !== undefined) after.first = Math.max(after.first, size);
  if (!trusted) return; // check: trust-in-force
  if (after !== undefined || !isShown) return; // check: trust-shown
  ring.set(newVkey, { key: parseVkey(newVkey), first: size, last: Number.POSITIVE_INFINITY, through: oldVkey });
}

/** After a revocation: what was trusted only through a signature that it takes away is not trusted any more. */
function revoke(ring, vkey, trustedSize) {
  const revoked = ring.get(vkey);
  if (revoked !== undefined) revoked.last = Math.min(revoked.last, trustedSize);
  for (let fallen = [""]; fallen.length > 0; ) {
    const lost = ({ through, first }) => through !== null && !(first <= (ring.get(through)?.last ?? -1));
    fallen = [...ring].filter(([, record]) => lost(record)).map(([text]) => text);
    for (const text of fallen) ring.delete(text);
  }
}

/** A change whose handover is not shown: what it takes from a key counts, what a rotation would give to one does not. */
function takeTrust(ring, change) {
  if (change.kind === "revoked") revoke(ring, change.vkey, change.trustedSize);
  else rotate(ring, change.oldVkey, change.newVkey, change.sequence + 1, false);
}

function inForce(record, size) {
  if (size < record.first) return false; // check: force-first
  if (size > record.last) return false; // check: force-last
  return true;
}

/** Follows rotations and revocations while the entries pass. Rotations and handovers belong together, one to one. */
function createKeyFollower(trust, checkpoint, handovers) {
  const ring = createRing(trust.keys);
  const waiting = [...handovers];

  function handOver({ sequence, oldVkey, newVkey }, roots) {
    const size = sequence + 1;
    // The checkpoint of that size is a handover like any other.
    const handover = [...waiting, checkpoint].find((note) => note.size === size);
    const expected = `a handover of size ${size}`;
    if (handover === undefined) fail("HANDOVER_INVALID", sequence, expected, "none"); // check: handover-missing
    const [byOld, byNew] = [oldVkey, newVkey].map((vkey) => signedBy(handover, parseVkey(vkey)));
    if (!byOld) fail("HANDOVER_INVALID", sequence, `${expected} signed by ${oldVkey}`, "not signed by it"); // check: handover-old
    if (!byNew) fail("HANDOVER_INVALID", sequence, `${expected} signed by ${newVkey}`, "not signed by it"); // check: handover-new
    const root = roots.get(size);
    if (root !== handover.root) fail("ROOT_MISMATCH", size, toBase64(handover.root), toBase64(root)); // check: handover-root
    rotate(ring, oldVkey, newVkey, size, true);
    if (waiting[0] === handover) waiting.shift();
  }

  /** A handover before this entry whose rotation did not come. */
  function expectNone(sequence) {
    const [next] = waiting;
    const left = next !== undefined && next.size <= sequence;
    if (left) fail("HANDOVER_INVALID", next.size - 1, "a rotation as the last entry of a handover", "another entry"); // check: handover-unfounded
  }

  return {
    ring,
    follow(keyChanges, sequence, roots) {
      for (const change of keyChanges) {
        expectNone(change.sequence);
        if (change.kind === "rotated" && change.sequence < checkpoint.size) handOver(change, roots);
        else takeTrust(ring, change);
      }
      expectNone(sequence);
    },
  };
}

/** Signatures, root and witnesses of the checkpoint; answers with the level that was reached. */
function checkCheckpoint(checkpoint, ring, trust, root) {
  const { size } = checkpoint;
  const signers = [...ring.values()].filter((record) => signedBy(checkpoint, record.key));
  if (trust.keys.length > 0) {
    const wanted = `a signature of a trusted key on size ${size}`;
    const good = signers.filter((record) => inForce(record, size));
    const names = checkpoint.signatures.map((line) => `${line.name}+${line.id}`).join(", ");
    if (signers.length === 0)
      fail("SIGNATURE_INVALID", size, wanted, excerpt(`signed by ${names}, none of them trusted`)); // check: signer-trusted
    if (good.length === 0) fail("KEY_OUT_OF_FORCE", size, wanted, excerpt(`signed by ${names}, not in force`)); // check: signer-in-force
  }
  if (root !== checkpoint.root) fail("ROOT_MISMATCH", size, toBase64(checkpoint.root), toBase64(root)); // check: root
  const witnesses = trust.witnesses
    .map((witness) => ({ name: witness.name, time: cosignedAt(checkpoint, witness, trust.nowS) }))
    .filter((witness) => witness.time !== null);
  if (witnesses.length < trust.quorum)
    fail("WITNESSES_MISSING", size, `${trust.quorum} cosignatures`, witnesses.length); // check: quorum
  const level = trust.keys.length === 0 ? "L0" : trust.quorum === 0 ? "L1" : "L2";
  return { level, witnesses };
}

// The proof of one entry (C2SP tlog-proof).

function verifyProof(reader, trust) {
  const malformed = (expected, actual) => fail("PROOF_INVALID", 0, expected, excerpt(String(actual)));
  const file = reader.rest(PROOF_BYTES_MAX);
  if (file === null) malformed(`at most ${PROOF_BYTES_MAX} bytes`, "more"); // check: proof-size
  if (!isUtf8(file)) malformed("UTF-8", "other bytes"); // check: proof-utf8
  const lines = file.toString("utf8").split("\n");
  const gap = lines.indexOf("");
  if (gap < 0 || gap === lines.length - 1) malformed("an empty line before the checkpoint", "none"); // check: proof-gap
  const above = lines.slice(0, gap);
  const note = lines.slice(gap + 1).join("\n");
  const extra = above[0]?.startsWith("extra ") ? fromBase64(above.shift().slice(6)) : undefined;
  if (extra === null) malformed("base64 in the line extra", "something else"); // check: proof-extra-form
  const indexText = /^index (0|[1-9][0-9]*)$/.exec(above.shift() ?? "")?.[1];
  const index = Number(indexText);
  if (!Number.isSafeInteger(index)) malformed("the line index with a number", indexText); // check: proof-index
  if (above.length > PROOF_HASHES_MAX) malformed(`at most ${PROOF_HASHES_MAX} hashes`, above.length); // check: proof-hashes-max
  const path = above.map(hashFromBase64);
  if (path.includes(null)) malformed("hashes, base64 of 32 bytes each", "others"); // check: proof-hashes
  const checkpoint = parseNote(note);
  checkOrigins(checkpoint, [], trust);

  const wrong = (expected, actual) => fail("PROOF_INVALID", index, expected, excerpt(String(actual)));
  if (extra === undefined)
    wrong("the line extra with the entry's text: without it nobody can tell what was proved", "none"); // check: proof-extra
  if (extra.includes(10)) fail("ENTRY_MALFORMED", index, "one line", "several"); // check: proof-one-line
  const bytes = Buffer.concat([Buffer.from([0]), extra, Buffer.from("\n")]);
  const leaf = leafHash(bytes, 1, bytes.length - 1);
  const previousHash = index === 0 ? ZERO_HASH : null;
  const state = { sequence: index, previousHash, previousTime: "", origin: checkpoint.origin };
  const change = checkEntry(bytes, 1, bytes.length - 1, state, {});
  const ring = createRing(trust.keys);
  if (change !== null) takeTrust(ring, change);
  const vouched = checkCheckpoint(checkpoint, ring, trust, checkpoint.root);
  if (index >= checkpoint.size) wrong(`an index below ${checkpoint.size}`, index); // check: proof-index-size
  const root = rootFromPath(leaf, index, checkpoint.size, path);
  if (root !== checkpoint.root)
    wrong(`the root ${toBase64(checkpoint.root)}`, root === null ? `${path.length} hashes` : toBase64(root)); // check: proof-root
  return {
    verdict: "yes",
    level: vouched.level,
    kind: "proof",
    origin: checkpoint.origin,
    entries: 1,
    from: index,
    to: index,
    checkpoint_size: checkpoint.size,
    covered: 1,
    unanchored_tail: 0,
    last_timestamp: state.previousTime,
    witnesses: vouched.witnesses,
  };
}

/** Climbs from the leaf to the root as RFC 6962 section 2.1.1 has it; null when the path is too long or too short. */
function rootFromPath(leaf, index, size, path) {
  const node = (left, right) => crypto.hash("sha256", Buffer.from(`\x01${left}${right}`, "latin1"), "latin1");
  let hash = leaf;
  let place = index;
  let last = size - 1;
  for (const sibling of path) {
    if (last === 0) return null; // check: path-too-long
    if (place % 2 === 1 || place === last) {
      hash = node(sibling, hash);
      // A node without a sibling at its level is carried up as it is.
      for (; place % 2 === 0 && place > 0; place /= 2) last = Math.floor(last / 2);
    } else {
      hash = node(hash, sibling);
    }
    place = Math.floor(place / 2);
    last = Math.floor(last / 2);
  }
  if (last > 0) return null; // check: path-too-short
  return hash;
}

// A proof of consistency, as `ctl operations audit consistency --json` writes it.

const CONSISTENCY_FIELDS = ["first_root", "first_size", "proof", "second_root", "second_size"];

function verifyConsistency(reader, trust, keptNote, laterNote) {
  const file = readConsistency(reader);
  const first = parseNote(keptNote);
  if (laterNote === undefined && file.checkpoint === undefined)
    fail("PROOF_INVALID", first.size, "a checkpoint of the second size, in the file or beside it", "none"); // check: consistency-later
  const second = parseNote(laterNote ?? file.checkpoint);
  checkOrigins(first, [], trust);
  const sameLog = second.origin === first.origin;
  if (!sameLog) fail("CHECKPOINT_MALFORMED", second.size, `a checkpoint of ${first.origin}`, second.origin); // check: consistency-origin
  const ring = createRing(trust.keys);
  // The witnesses are asked about the log as it is now; what was kept is the auditor's own.
  checkCheckpoint(first, ring, { ...trust, witnesses: [], quorum: 0 }, first.root);
  const vouched = checkCheckpoint(second, ring, trust, second.root);

  const wrong = (expected, actual) => fail("PROOF_INVALID", first.size, expected, excerpt(String(actual)));
  const sizes = `a proof from size ${first.size} to size ${second.size}`;
  if (file.first !== first.size) wrong(sizes, `one from size ${file.first}`); // check: consistency-first-size
  if (file.second !== second.size) wrong(sizes, `one to size ${file.second}`); // check: consistency-second-size
  if (first.size > second.size) wrong(`a checkpoint of at least size ${first.size}`, second.size); // check: consistency-order
  if (file.firstRoot !== first.root) fail("ROOT_MISMATCH", first.size, toBase64(first.root), toBase64(file.firstRoot)); // check: consistency-first-root-reported
  if (file.secondRoot !== second.root)
    fail("ROOT_MISMATCH", second.size, toBase64(second.root), toBase64(file.secondRoot)); // check: consistency-second-root-reported
  const roots = rootsFromProof(first, second, file.proof);
  if (roots === null) wrong("as many hashes as the two sizes need", `${file.proof.length} hashes`); // check: consistency-count
  if (roots.first !== first.root) fail("ROOT_MISMATCH", first.size, toBase64(first.root), toBase64(roots.first)); // check: consistency-first-root
  if (roots.second !== second.root) fail("ROOT_MISMATCH", second.size, toBase64(second.root), toBase64(roots.second)); // check: consistency-second-root
  return {
    verdict: "yes",
    level: vouched.level,
    kind: "consistency",
    origin: second.origin,
    first_size: first.size,
    checkpoint_size: second.size,
    witnesses: vouched.witnesses,
  };
}

function readConsistency(reader) {
  const malformed = (expected, actual) => fail("PROOF_INVALID", 0, expected, excerpt(String(actual)));
  const bytes = reader.rest(PROOF_BYTES_MAX);
  if (bytes === null) malformed(`at most ${PROOF_BYTES_MAX} bytes`, "more"); // check: consistency-size
  if (!isUtf8(bytes)) malformed("UTF-8", "other bytes"); // check: consistency-utf8
  const file = parseJson(bytes.toString("utf8"));
  const { checkpoint, ...rest } = typeof file === "object" && file !== null ? file : {};
  const names = Object.keys(rest).sort();
  if (names.join() !== CONSISTENCY_FIELDS.join())
    malformed(`a JSON object with ${CONSISTENCY_FIELDS.join(", ")}`, names.join(", ")); // check: consistency-fields
  if (checkpoint !== undefined && typeof checkpoint !== "string") malformed("checkpoint as a text", typeof checkpoint); // check: consistency-checkpoint
  const sizes = [rest.first_size, rest.second_size];
  if (!sizes.every((size) => Number.isSafeInteger(size) && size >= 0)) malformed("two sizes as numbers", sizes); // check: consistency-sizes
  const hashes = Array.isArray(rest.proof) ? [rest.first_root, rest.second_root, ...rest.proof] : [null];
  const read = hashes.map((text) => (typeof text === "string" ? hashFromBase64(text) : null));
  if (read.includes(null)) malformed("two roots and a list proof, base64 of 32 bytes each", "others"); // check: consistency-hashes
  if (read.length > 2 + PROOF_HASHES_MAX) malformed(`at most ${PROOF_HASHES_MAX} hashes`, read.length - 2); // check: consistency-hashes-max
  const [firstRoot, secondRoot, ...proof] = read;
  return { first: sizes[0], second: sizes[1], firstRoot, secondRoot, proof, checkpoint };
}

function parseJson(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** The two roots that the proof leads to, as RFC 9162 section 2.1.4.2 has it; null when it is too long or too short. */
function rootsFromProof(first, second, proof) {
  const node = (left, right) => crypto.hash("sha256", Buffer.from(`\x01${left}${right}`, "latin1"), "latin1");
  if (first.size === 0 || first.size === second.size) {
    if (proof.length > 0) return null; // check: consistency-none-needed
    // Any log begins with the empty one; of two of the same size the roots must be one root.
    return { first: first.root, second: first.size === 0 ? second.root : first.root };
  }
  // Down to the level of the largest subtree that ends where the first log does; a log that is such a subtree whole is its own start.
  let place = first.size - 1;
  let last = second.size - 1;
  for (; place % 2 === 1; place = (place - 1) / 2) last = Math.floor(last / 2);
  const [start, ...path] = place === 0 ? [first.root, ...proof] : proof;
  let roots = { first: start, second: start };
  for (const sibling of path) {
    if (last === 0) return null; // check: consistency-too-long
    if (place % 2 === 1 || place === last) {
      roots = { first: node(sibling, roots.first), second: node(sibling, roots.second) };
      for (; place % 2 === 0 && place > 0; place /= 2) last = Math.floor(last / 2);
    } else {
      roots.second = node(roots.second, sibling);
    }
    place = Math.floor(place / 2);
    last = Math.floor(last / 2);
  }
  if (last > 0) return null; // check: consistency-too-short
  return roots;
}

// What the user trusts: the log's keys, the witnesses, the origin.

function trustFrom({ vkeys = [], policy, origin, nowS = Date.now() / 1000 }) {
  const usage = (sentence) => {
    throw new UsageError(sentence);
  };
  const keyOf = (text, type, what) => {
    const key = parseVkey(text);
    if (key === null)
      usage(`${excerpt(text)} is not a vkey: write <name>+<8 hex digits>+<base64>, as it was published.`); // check: usage-vkey
    if (key.type !== type) usage(`${excerpt(text)} is not ${what}: its type is ${key.type}, not ${type}.`); // check: usage-type
    return key;
  };
  const keys = vkeys.map((text) => keyOf(text, 1, "a log's key (a witness's key belongs into --policy)"));
  if (policy !== undefined && keys.length === 0) usage("--policy needs the log's key as well: give it with --vkey."); // check: usage-policy-alone
  const [, count, list] = /^\s*([1-9][0-9]{0,3})\s+of\s+(\S.*)$/.exec(policy ?? "") ?? [];
  if (policy !== undefined && list === undefined) usage("--policy is written 'k of <vkey>,<vkey>', with k from 1 on."); // check: usage-policy
  const witnesses = (list ?? "")
    .split(",")
    .map((text) => text.trim())
    .filter((text) => text !== "")
    .map((text) => keyOf(text, 4, "a witness's key (the log's own key belongs into --vkey)"));
  const distinct = new Set(witnesses.map((witness) => witness.raw)).size;
  if (distinct < witnesses.length) usage("--policy names the same key twice: every witness must have its own."); // check: usage-twice
  const quorum = Number(count ?? 0);
  if (quorum > distinct) usage(`--policy asks for ${quorum} of ${distinct}: name more witnesses, or ask for fewer.`); // check: usage-quorum
  const named = origin === undefined || keys.length === 0 || keys.some((key) => key.name === origin);
  if (!named)
    usage(`--origin ${origin} is not the name of any key given with --vkey, and a log's key has its origin as name.`); // check: usage-origin
  const origins = origin === undefined ? keys.map((key) => key.name) : [origin];
  return { keys, witnesses, quorum, origins, nowS };
}

const PUBLIC_KEY_PREFIX = Buffer.from("302a300506032b6570032100", "hex"); // What X.509 puts before the 32 bytes of an Ed25519 key.

/** A vkey as { text, name, id, type, raw, publicKey }, or null. */
function parseVkey(text) {
  const [, name, id, encoded] = (typeof text === "string" && /^([^+]+)\+([0-9a-f]{8})\+(\S+)$/u.exec(text)) || [];
  const bytes = encoded === undefined || !isName(name) ? null : fromBase64(encoded);
  if (bytes === null || bytes.length !== 33) return null; // check: vkey-form
  const computed = crypto.hash("sha256", Buffer.concat([Buffer.from(`${name}\n`), bytes]), "hex").slice(0, 8);
  if (computed !== id) return null; // check: vkey-id
  const raw = bytes.subarray(1);
  const publicKey = { key: Buffer.concat([PUBLIC_KEY_PREFIX, raw]), format: "der", type: "spki" };
  return { text, name, id, type: bytes[0], raw: raw.toString("hex"), publicKey };
}

// Small things.

/** The file in pieces of whole lines. One byte is kept free before the first line, where the tree puts its zero byte. */
function createReader(read, chunkBytes) {
  let buffer = Buffer.alloc(1 + chunkBytes);
  let start = 1;
  let end = 1;
  let over = false;

  /** Moves what is left to the front and reads on; false at the end of the file. */
  function fill() {
    buffer.copyWithin(1, start, end);
    end -= start - 1;
    start = 1;
    if (end === buffer.length) buffer = Buffer.concat([buffer, Buffer.alloc(buffer.length)]);
    const got = over ? 0 : read(buffer, end, buffer.length - end);
    over = got === 0;
    end += got;
    return !over;
  }

  return {
    /** One line without its end; null when there is none or it is longer than that. */
    line(bytesMax) {
      for (;;) {
        const at = buffer.subarray(0, end).indexOf(10, start);
        if (at >= 0 && at - start <= bytesMax) {
          const line = Buffer.from(buffer.subarray(start, at));
          start = at + 1;
          return line;
        }
        if (at >= 0 || end - start > bytesMax || !fill()) return null;
      }
    },
    /** As many whole lines as are at hand, or more bytes than an entry may have; null at the end. Valid until the next call. */
    block() {
      for (;;) {
        const at = buffer.subarray(0, end).lastIndexOf(10);
        const stop = at >= start ? at + 1 : end - start > ENTRY_BYTES_MAX ? end : start;
        if (stop > start) {
          const block = { bytes: buffer.subarray(0, stop), start, end: stop };
          start = stop;
          return block;
        }
        if (!fill()) return null;
      }
    },
    /** Everything that is left, or null when that is too much. */
    rest(bytesMax) {
      while (end - start <= bytesMax && fill());
      return end - start > bytesMax ? null : buffer.subarray(start, end);
    },
    restBytes: () => end - start,
  };
}

function hasExactly(value, fields) {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return isObject && Object.keys(value).join() === fields.join();
}

/** Standard base64 with padding, in the one form that encoding gives back; null for anything else. */
function fromBase64(text) {
  const bytes = Buffer.from(text, "base64");
  return bytes.toString("base64") === text ? bytes : null;
}

function hashFromBase64(text) {
  const bytes = fromBase64(text);
  return bytes?.length === 32 ? bytes.toString("latin1") : null;
}

function toBase64(hash) {
  return Buffer.from(hash, "latin1").toString("base64");
}

function excerpt(text) {
  return text.length <= 200 ? text : `${text.slice(0, 200)}… (${text.length} characters)`;
}

// The command line.

const HELP = `Usage: node audit-verify.js <bundle | file.tlog-proof> --vkey <vkey> [--vkey …] [--policy 'k of <vkey>,<vkey>…']
                            [--origin <origin>] [--json]
       node audit-verify.js <proof of consistency> --first <checkpoint> [--second <checkpoint>] --vkey <vkey> …

  --vkey     the log's public key, as its owner published it; several when keys were rotated and the bundle starts after that
  --policy   how many of which witnesses must have cosigned the checkpoint
  --origin   the log you mean, when you have keys of several
  --first    a file with the checkpoint that you kept: the other file then is the proof that the log has only grown since
  --second   a file with the later checkpoint, where the one inside the proof is not meant
  --json     one JSON object instead of sentences

Levels: L0 the entries are consistent with each other; L1 and they are what a checkpoint under a trusted key says; L2 and the
witnesses of the policy have cosigned it. Exit codes: 0 yes, 10 no, 1 the file cannot be read, 2 wrong usage.
`;

function parseArguments(list) {
  const options = { vkeys: [], json: false, help: false };
  const paths = [];
  for (let i = 0; i < list.length; i += 1) {
    const [, flag, inline] = /^(--[a-z]+)(?:=(.*))?$/s.exec(list[i]) ?? [];
    const value = () => {
      const given = inline ?? list[++i];
      if (given === undefined) throw new UsageError(`${flag} needs a value after it.`);
      return given;
    };
    if (flag === "--help" || list[i] === "-h") options.help = true;
    else if (flag === "--json") options.json = true;
    else if (flag === "--vkey") options.vkeys.push(value());
    else if (flag === "--policy") options.policy = value();
    else if (flag === "--origin") options.origin = value();
    else if (flag === "--first") options.first = value();
    else if (flag === "--second") options.second = value();
    else if (list[i].startsWith("-")) throw new UsageError(`${list[i]} is not an option: --help lists them.`);
    else paths.push(list[i]);
  }
  if (paths.length !== 1 && !options.help) throw new UsageError("Name exactly one file: a bundle or a .tlog-proof.");
  if (options.second !== undefined && options.first === undefined)
    throw new UsageError("--second needs --first as well: the checkpoint that you kept.");
  return { ...options, path: paths[0] };
}

const LEVEL_SENTENCES = {
  L0: "consistent with itself; nobody vouches for it",
  L1: "what a checkpoint under a trusted key says",
  L2: "what a checkpoint under a trusted key says, and the witnesses have cosigned it",
};

function sentences(result) {
  if (result.verdict === "no") {
    return `NO  ${result.code} at sequence ${result.sequence}\n  expected  ${result.expected}\n  actual    ${result.actual}\n`;
  }
  if (result.kind === "consistency") return grownSentences(result);
  const range = result.entries === 0 ? "none" : `${result.entries} (${result.from} to ${result.to})`;
  const witnesses = result.witnesses.map(({ name, time }) => `  witness           ${name} at time ${time}\n`);
  return [
    `YES  ${result.level}: ${LEVEL_SENTENCES[result.level]}\n`,
    `  entries           ${range}\n`,
    `  origin            ${result.origin}\n`,
    `  checkpoint size   ${result.checkpoint_size}\n`,
    `  unanchored tail   ${result.unanchored_tail}\n`,
    ...witnesses,
  ].join("");
}

function grownSentences({ level, origin, first_size: first, checkpoint_size: second, witnesses }) {
  return [
    `YES  ${level}: the log has only grown; the newer size is ${LEVEL_SENTENCES[level]}\n`,
    `  origin            ${origin}\n`,
    `  from size         ${first}\n`,
    `  to size           ${second}\n`,
    ...witnesses.map(({ name, time }) => `  witness           ${name} at time ${time}\n`),
  ].join("");
}

/** A checkpoint's file; one that is too long is cut, and then is no checkpoint. */
function noteFrom(path) {
  return path === undefined ? undefined : fs.readFileSync(path, "utf8").slice(0, NOTE_LENGTH_MAX + 1);
}

/** Answers with the exit code. */
async function main(list) {
  const progress = (done, entries) => process.stderr.write(`\r${done} of ${entries} entries`);
  try {
    const { path, json, help, first, second, ...asked } = parseArguments(list);
    if (help) return process.stdout.write(HELP) ? 0 : 0;
    const options = { ...asked, first: noteFrom(first), second: noteFrom(second) };
    const shown = process.stderr.isTTY === true;
    const result = await verifyFile(path, shown ? { ...options, onProgress: progress } : options);
    if (shown) process.stderr.write("\r\x1b[K");
    process.stdout.write(json ? `${JSON.stringify(result)}\n` : sentences(result));
    return result.verdict === "yes" ? 0 : 10;
  } catch (error) {
    const sentence =
      error instanceof UsageError ? `${error.message} (--help says more.)` : `Cannot verify: ${error.message}`;
    process.stderr.write(`${sentence}\n`);
    return error instanceof UsageError ? 2 : 1;
  }
}

if (!isMainThread && workerData?.auditBlocks === true) {
  runThread();
} else if (
  isMainThread &&
  process.argv[1] !== undefined &&
  import.meta.url === pathToFileURL(fs.realpathSync(process.argv[1])).href
) {
  process.exitCode = await main(process.argv.slice(2));
}

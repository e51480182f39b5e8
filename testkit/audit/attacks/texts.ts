// Attacks on the text of an entry (canonical JSON, types, lengths, times). The attacker holds the log's key and hashes, chains and signs
// the bent bytes as they are, so that nothing but the look at the text itself can find them.
import { fileOf, leafHash, log, noteOf, origin, rootOf, sha256, textOf } from "../test-log.ts";
import { type Attack, attack, entryAt, first, headerOf } from "./shape.ts";

type Part = string | Uint8Array;

interface Parts {
  readonly action?: Part;
  readonly actor?: Part;
  readonly data?: Part;
  readonly sequence?: Part;
  readonly subject?: Part;
  readonly timestamp?: Part;
  /** What stands between data and sequence, given the honest hash and link. */
  readonly hashes?: (hash: string, prev: string) => string;
  readonly end?: string;
}

const join = (...parts: readonly Part[]): Buffer => Buffer.concat(parts.map((part) => Buffer.from(part)));

/** A log of two: the genesis entry, and one of these bytes. */
export function rawBundle(parts: Parts): Uint8Array {
  const start = log(1, first);
  const prev = entryAt(start, 0).hash;
  const { action = '"a.b"', actor = '"operator:ada"', data = "{}", sequence = "1", subject = '"s"' } = parts;
  const timestamp = parts.timestamp ?? '"2026-11-15T10:00:00.000000Z"';
  const head = join('{"action":', action, ',"actor":', actor, ',"data":', data);
  const tail = join(',"sequence":', sequence, ',"subject_id":', subject, ',"timestamp":', timestamp, parts.end ?? "}");
  const hash = sha256(prev, head, tail).toString("hex");
  const hashes = (parts.hashes ?? ((own, before) => `,"hash":"${own}","prev_hash":"${before}"`))(hash, prev);
  const text = join(head, hashes, tail);
  const root = rootOf([leafHash(textOf(entryAt(start, 0))), sha256(Buffer.from([0]), text)]);
  const checkpoint = noteOf(`${origin}\n2\n${root.toString("base64")}\n`, [first]);
  return fileOf(headerOf([], checkpoint, { entries: 2 }), [textOf(entryAt(start, 0)), text]);
}

const bad = (name: string, parts: Parts, says: string): Attack =>
  attack(name, rawBundle(parts), "ENTRY_MALFORMED", { sequence: 1, says });
const fine = (name: string, parts: Parts): Attack => attack(`fine: ${name}`, rawBundle(parts), "L1");
const badData = (name: string, data: Part): Attack => bad(`A24 ${name}`, { data }, "data in canonical JSON");
const utf8 = (name: string, ...bytes: readonly number[]): Attack =>
  badData(name, join('{"a":"', Uint8Array.from(bytes), '"}'));

const nested = (levels: number, open: string, close: string): string =>
  `{"a":${open.repeat(levels - 1)}${close.repeat(levels - 1)}}`;
const dated = (name: string, timestamp: string): Attack =>
  bad(`A30 ${name}`, { timestamp: `"${timestamp}"` }, "timestamp");

const values: readonly Attack[] = [
  badData("members out of order", '{"b":1,"a":2}'),
  badData("members out of order, deeper", '{"a":[{"b":1,"a":2}]}'),
  badData("a longer name first", '{"ab":1,"a":2}'),
  badData("a member twice", '{"a":1,"a":1}'),
  badData("a member twice, escaped", '{"\\n":1,"\\n":1}'),
  badData("names sorted by bytes, not by UTF-16", '{"\ue000":1,"😀":2}'),
  badData("names sorted by their escapes", '{"\\n":1,"\\b":2}'),
  badData("an escape after a letter", '{"a":1,"\\n":2}'),
  badData("a space", '{"a": 1}'),
  badData("a space in a list", '{"a":[1, 2]}'),
  badData("a semicolon in a list", '{"a":[1;2]}'),
  badData("a semicolon in an object", '{"a":1;"b":2}'),
  badData("a comma too many", '{"a":1,}'),
  badData("a name without quotes", "{a:1}"),
  badData("a name without value", '{"a"}'),
  badData("an equals sign", '{"a"=1}'),
  badData("a fraction of nothing", '{"a":1.0}'),
  badData("a digit too many", '{"a":0.10000000000000001}'),
  badData("a negative zero with a point", '{"a":-0.0}'),
  badData("an exponent beyond every double", '{"a":1e+400}'),
  badData("a large exponent", '{"a":1e21}'),
  badData("negative zero", '{"a":-0}'),
  badData("a leading zero", '{"a":01}'),
  badData("a plus", '{"a":+1}'),
  badData("a minus alone", '{"a":-}'),
  badData("no value", '{"a":}'),
  badData("2^53", '{"a":9007199254740992}'),
  badData("2^53 + 1", '{"a":9007199254740993}'),
  badData("-2^53", '{"a":-9007199254740992}'),
  badData("17 digits", '{"a":10000000000000000}'),
  badData("another word", '{"a":nil}'),
  badData("NaN", '{"a":NaN}'),
  badData("33 levels of objects", `${'{"a":'.repeat(32)}{}${"}".repeat(32)}`),
  badData("33 levels of lists", nested(33, "[", "]")),
  badData("a needless escape", '{"a":"\\/"}'),
  badData("an escaped letter", '{"a":"\\u0041"}'),
  badData("an escape in upper case", '{"a":"\\u001F"}'),
  badData("a long escape where there is a short one", '{"a":"\\u000a"}'),
  badData("an escape beyond Latin", '{"a":"\\u0100"}'),
  badData("an escape far beyond Latin", '{"a":"\\u1000"}'),
  badData("an escaped surrogate", '{"a":"\\ud800"}'),
  badData("a bare control character", '{"a":"\t"}'),
  badData("a zero byte", '{"a":"\u0000"}'),
  utf8("a lone surrogate", 0xed, 0xa0, 0x80),
  utf8("a two-byte form too long", 0xc0, 0xaf),
  utf8("a three-byte form too long", 0xe0, 0x9f, 0xbf),
  utf8("a four-byte form too long", 0xf0, 0x8f, 0xbf, 0xbf),
  utf8("a character beyond Unicode", 0xf4, 0x90, 0x80, 0x80),
  utf8("a lead byte beyond Unicode", 0xf5, 0x80, 0x80, 0x80),
  utf8("a continuation alone", 0x80, 0x80),
  utf8("a second byte that is none", 0xc3, 0x41),
  utf8("a third byte that is none", 0xe2, 0x82, 0x41),
  utf8("a fourth byte that is none", 0xf0, 0x9f, 0x98, 0x41),
  fine("32 levels of lists", { data: nested(32, "[", "]") }),
  fine("names by UTF-16", { data: '{"":0,"\\b":1,"\\n":2,"a":3,"aa":4,"é":5,"😀":6,"\ue000":7}' }),
  fine("escapes", { data: '{"a":"\\"\\\\\\b\\f\\n\\r\\t\\u0000\\u001f\u007f/é€😀\u2028"}' }),
  fine("NFC and NFD are two names", { data: '{"e\u0301":1,"\u00e9":2}' }),
  fine("__proto__ is a name", { data: '{"__proto__":{"toJSON":1}}' }),
  fine("numbers with a point or an exponent", {
    data: '{"a":0.1,"b":-0.0000033333333333333333,"c":[1e+21,5e-324,-2.5]}',
  }),
  fine("the largest numbers", { data: '{"a":9007199254740991,"b":-9007199254740991,"c":1000000000000000}' }),
];

const fields: readonly Attack[] = [
  bad("A26 action as a number", { action: "5" }, "action"),
  bad("A26 a string without its first quotation mark", { action: 'xa.b"' }, "action"),
  bad("A26 action empty", { action: '""' }, "action"),
  bad("A26 action of 129 characters", { action: `"${"a".repeat(129)}"` }, "action"),
  bad("A26 actor empty", { actor: '""' }, "actor"),
  bad("A26 actor of 257 characters", { actor: `"${"é".repeat(257)}"` }, "actor"),
  bad("A26 subject empty", { subject: '""' }, "subject_id"),
  bad("A26 subject null", { subject: "null" }, "subject_id"),
  bad("A26 subject of 257 characters", { subject: `"${"s".repeat(257)}"` }, "subject_id"),
  bad("A26 data as a list", { data: "[]" }, "data, an object"),
  bad("A26 data that begins as a list", { data: '["a":1}' }, "data, an object"),
  bad(
    "A26 a time without its last quotation mark",
    { timestamp: '"2026-11-15T10:00:00.000000Z', end: "x}" },
    "the end",
  ),
  bad("A26 no brace at the end", { end: "]" }, "the end"),
  bad("A26 data as text", { data: '"{}"' }, "data, an object"),
  bad("A26 sequence as text", { sequence: '"1"' }, "sequence"),
  bad("A26 sequence below zero", { sequence: "-1" }, "sequence"),
  bad("A26 sequence as a fraction", { sequence: "1.0" }, "subject_id"),
  bad("A26 sequence with a leading zero", { sequence: "01" }, "sequence"),
  bad(
    "A26 hash in upper case",
    { hashes: (hash, prev) => `,"hash":"${hash.toUpperCase()}","prev_hash":"${prev}"` },
    "hex",
  ),
  bad(
    "A26 prev_hash in upper case",
    { hashes: (hash, prev) => `,"hash":"${hash}","prev_hash":"${prev.toUpperCase()}"` },
    "hex",
  ),
  bad(
    "A26 prev_hash too short",
    { hashes: (hash, prev) => `,"hash":"${hash}","prev_hash":"${prev.slice(1)}"` },
    "64 characters",
  ),
  bad("A26 hash too long", { hashes: (hash, prev) => `,"hash":"${hash}0","prev_hash":"${prev}"` }, "64 characters"),
  bad(
    "A26 hashes in the other order",
    { hashes: (hash, prev) => `,"prev_hash":"${prev}","hash":"${hash}"` },
    "64 characters",
  ),
  bad("A26 a ninth field", { end: ',"zone":"UTC"}' }, "the end"),
  bad("A26 a field after data", { data: '{},"extra":1' }, "64 characters"),
  bad("A26 something after the object", { end: "} " }, "the end"),
  bad("A25 a boundary shifted", { action: '"a.b","actor":"x"' }, "data, an object"),
  dated("no decimals", "2026-11-15T10:00:00Z"),
  dated("milliseconds", "2026-11-15T10:00:00.000Z"),
  dated("another zone", "2026-11-15T10:00:00.000000+00:00"),
  dated("a space for T", "2026-11-15 10:00:00.000000Z"),
  dated("month 13", "2026-13-15T10:00:00.000000Z"),
  dated("day 31 of November", "2026-11-31T10:00:00.000000Z"),
  dated("day 29 of February in no leap year", "2027-02-29T10:00:00.000000Z"),
  dated("day 29 of February 2100", "2100-02-29T10:00:00.000000Z"),
  dated("day 0", "2026-11-00T10:00:00.000000Z"),
  dated("hour 24", "2026-11-15T24:00:00.000000Z"),
  dated("minute 60", "2026-11-15T10:60:00.000000Z"),
  dated("a leap second", "2026-12-31T23:59:60.000000Z"),
  fine("day 29 of February in a leap year", { timestamp: '"2028-02-29T10:00:00.000000Z"' }),
  fine("256 characters of two bytes", { actor: `"${"é".repeat(256)}"` }),
  fine("128 characters of four bytes", { action: `"${"😀".repeat(128)}"` }),
];

export const textAttacks: readonly Attack[] = [...values, ...fields];

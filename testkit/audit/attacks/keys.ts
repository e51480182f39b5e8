// Attacks on the keys: rotations, handovers and revocations (A28).
import {
  bundle,
  chain,
  checkpointOf,
  type Entry,
  type Fields,
  genesis,
  type Json,
  logKey,
  noteOf,
  ordinary,
  origin,
  proof,
  type Signer,
  type Trust,
} from "../test-log.ts";
import { type Attack, attack, first, second, stranger, third, trustFirst, w1 } from "./shape.ts";

const rotated = (n: number, from: Signer, to: Signer): Fields => ({
  ...ordinary(n),
  action: "key.rotated",
  subject_id: to.id,
  data: { new_key: to.vkey, old_key: from.vkey },
});

const revoked = (n: number, key: Signer, trustedSize: number): Fields => ({
  ...ordinary(n),
  action: "key.revoked",
  subject_id: key.id,
  data: { key: key.vkey, trusted_size: trustedSize },
});

/** A log of `count` entries in which some are replaced. */
function logWith(count: number, special: Readonly<Record<number, Fields>>): readonly Entry[] {
  const fields = Array.from({ length: count }, (_, n) => special[n] ?? (n === 0 ? genesis(first) : ordinary(n)));
  return chain(fields);
}

interface Case {
  readonly special: Readonly<Record<number, Fields>>;
  /** Sizes of the handovers and who signed them. */
  readonly handovers?: readonly (readonly [number, readonly Signer[]])[];
  readonly signers: readonly Signer[];
  readonly size?: number;
  readonly from?: number;
  readonly trust?: Trust;
}

function keyed(name: string, spec: Case, answer: string, rest: Partial<Attack> = {}): Attack {
  const entries = logWith(30, spec.special);
  const { size = 30, from = 0 } = spec;
  const handovers = (spec.handovers ?? []).map(([at, signers]) => checkpointOf(entries, at, signers));
  const bytes = bundle(entries, checkpointOf(entries, size, spec.signers), { from, size, handovers });
  return attack(name, bytes, answer, { trust: spec.trust ?? trustFirst, sequence: size, ...rest });
}

const toSecond = { 10: rotated(10, first, second) };
const toThird = { ...toSecond, 20: rotated(20, second, third) };
const bySecond = [11, [first, second]] as const;
const byThird = [21, [second, third]] as const;
const out = "KEY_OUT_OF_FORCE";
/** The table has checkpoints, each under its size; which of them are handovers is said by the entries. */
const notListed = { answer: "L1" };
const trustSecond: Trust = { vkeys: [second.vkey] };

const rotations: readonly Attack[] = [
  keyed("honest rotation", { special: toSecond, handovers: [bySecond], signers: [second] }, "L1"),
  keyed("honest, two rotations", { special: toThird, handovers: [bySecond, byThird], signers: [third] }, "L1"),
  keyed(
    "honest, the new key given",
    { special: toSecond, handovers: [bySecond], signers: [second], trust: trustSecond },
    "L1",
  ),
  keyed("honest, the rotation in the tail", { special: toSecond, signers: [first], size: 10 }, "L1"),
  keyed("honest, the checkpoint is the handover", { special: toSecond, signers: [first, second], size: 11 }, "L1"),
  keyed("honest, at L0", { special: toSecond, handovers: [bySecond], signers: [second], trust: {} }, "L0"),
  keyed(
    "honest, after the rotation with the new key",
    { special: toSecond, signers: [second], from: 15, trust: trustSecond },
    "L1",
  ),
  keyed(
    "honest, the old key's signature beside the new one",
    { special: toSecond, handovers: [bySecond], signers: [first, second] },
    "L1",
  ),
  keyed("A28 the old key after the rotation", { special: toSecond, handovers: [bySecond], signers: [first] }, out),
  keyed(
    "A28 a rotation in the tail gives no trust",
    { special: toSecond, signers: [second], size: 10 },
    "SIGNATURE_INVALID",
  ),
  keyed(
    "A28 the new key before the rotation",
    { special: toSecond, signers: [second], size: 10, trust: trustSecond },
    out,
  ),
  keyed(
    "A28 an outdated key hands over again",
    {
      special: { ...toSecond, 20: rotated(20, first, third) },
      handovers: [bySecond, [21, [first, third]]],
      signers: [third],
    },
    "SIGNATURE_INVALID",
    { database: { answer: out, sequence: 21 } },
  ),
  keyed(
    "A28 after the rotation with the first key alone",
    { special: toSecond, signers: [second], from: 15 },
    "SIGNATURE_INVALID",
  ),
  keyed(
    "A28 a handover whose rotation is not shown",
    { special: toSecond, handovers: [bySecond], signers: [second], from: 15 },
    "HANDOVER_INVALID",
    { sequence: 10, says: "from 16 on" },
  ),
  keyed(
    "A28 rotation forged, a stranger's key in both places",
    { special: { 10: rotated(10, stranger, second) }, handovers: [[11, [stranger, second]]], signers: [second] },
    "SIGNATURE_INVALID",
    { database: { answer: "SIGNATURE_INVALID", sequence: 11 } },
  ),
  keyed(
    "A28 rotation forged, not signed by the old key",
    { special: toSecond, handovers: [[11, [second]]], signers: [second] },
    "HANDOVER_INVALID",
    { sequence: 10, says: first.vkey },
  ),
  keyed(
    "A28 handover not signed by the new key",
    { special: toSecond, handovers: [[11, [first]]], signers: [second] },
    "HANDOVER_INVALID",
    { sequence: 10, says: second.vkey },
  ),
  keyed(
    "A28 the checkpoint is half a handover",
    { special: toSecond, signers: [first], size: 11 },
    "HANDOVER_INVALID",
    { sequence: 10, says: second.vkey },
  ),
  keyed("A28 a rotation without handover", { special: toSecond, signers: [second] }, "HANDOVER_INVALID", {
    sequence: 10,
  }),
  keyed(
    "A28 a rotation without handover under a checkpoint of both keys",
    { special: toSecond, signers: [first, second] },
    "HANDOVER_INVALID",
    { sequence: 10 },
  ),
  keyed(
    "A28 a rotation without handover at L0",
    { special: toSecond, signers: [second], trust: {} },
    "HANDOVER_INVALID",
    { sequence: 10 },
  ),
  keyed(
    "A28 a handover without rotation",
    { special: {}, handovers: [bySecond], signers: [first] },
    "HANDOVER_INVALID",
    { sequence: 10, says: "a rotation", database: notListed },
  ),
  keyed(
    "A28 a handover beyond the checkpoint",
    { special: toSecond, handovers: [bySecond], signers: [first], size: 10 },
    "HANDOVER_INVALID",
    { sequence: 10, says: "at most size 10", database: notListed },
  ),
  keyed(
    "A28 handovers out of order",
    { special: toThird, handovers: [byThird, bySecond], signers: [third] },
    "HANDOVER_INVALID",
    { sequence: 10, says: "in order", database: notListed },
  ),
  keyed(
    "A28 a handover twice",
    { special: toSecond, handovers: [bySecond, bySecond], signers: [second] },
    "HANDOVER_INVALID",
    { sequence: 10, says: "in order", database: notListed },
  ),
  ...bentHandovers(),
];

function bentHandovers(): readonly Attack[] {
  const entries = logWith(30, toSecond);
  const under = (handover: string): Uint8Array =>
    bundle(entries, checkpointOf(entries, 30, [second]), { handovers: [handover] });
  const honest = checkpointOf(entries, 11, [first, second]);
  const zero = Buffer.alloc(32).toString("base64");
  const elsewhere = "elsewhere";
  const otherOrigin = checkpointOf(entries, 11, [first, second], elsewhere);
  const badNew = { ...second, line: (text: string) => second.line(`${text}x`) };
  return [
    attack(
      "A28 a handover of another tree",
      under(noteOf(`${origin}\n11\n${zero}\n`, [first, second])),
      "ROOT_MISMATCH",
      { sequence: 11 },
    ),
    attack("A28 a handover of another origin", under(otherOrigin), "CHECKPOINT_MALFORMED", {
      sequence: 11,
      says: "a handover of",
    }),
    attack(
      "A28 a handover changed after signing",
      under(honest.replace(/\n11\n.*\n/, `\n11\n${zero}\n`)),
      "SIGNATURE_INVALID",
      { sequence: 11 },
    ),
    attack(
      "A28 a handover with a false signature of the new key",
      under(checkpointOf(entries, 11, [first, badNew])),
      "SIGNATURE_INVALID",
      { sequence: 11 },
    ),
    attack("A28 a handover that is no note", under("hello"), "CHECKPOINT_MALFORMED", {
      database: { answer: "HANDOVER_INVALID", sequence: 10 },
    }),
  ];
}

const revocations: readonly Attack[] = [
  keyed(
    "honest, an action that only begins like one of a key",
    { special: { 10: { ...ordinary(10), action: "key.reviewed" } }, signers: [first] },
    "L1",
  ),
  keyed(
    "A28 revoked before the key that handed over was handed over to",
    { special: { ...toThird, 25: revoked(25, first, 5) }, handovers: [bySecond, byThird], signers: [third] },
    "SIGNATURE_INVALID",
  ),
  keyed(
    "honest revocation of the old key",
    { special: { ...toSecond, 15: revoked(15, first, 11) }, handovers: [bySecond], signers: [second] },
    "L1",
  ),
  keyed("honest, revoked from a larger size on", { special: { 15: revoked(15, first, 30) }, signers: [first] }, "L1"),
  keyed("A28 a revoked key again", { special: { 15: revoked(15, first, 20) }, signers: [first] }, out),
  keyed("A28 revoked in the tail", { special: { 29: revoked(29, first, 20) }, signers: [first], size: 28 }, out),
  keyed(
    "A28 revoked before it handed over",
    { special: { ...toSecond, 15: revoked(15, first, 5) }, handovers: [bySecond], signers: [second] },
    "SIGNATURE_INVALID",
  ),
  keyed(
    "A28 revoked before it handed over, the new key given",
    {
      special: { ...toSecond, 15: revoked(15, first, 5) },
      handovers: [bySecond],
      signers: [second],
      trust: trustSecond,
    },
    "L1",
  ),
];

function misshapen(): readonly Attack[] {
  const bad = (name: string, fields: Fields, says: string): Attack =>
    keyed(`A28 ${name}`, { special: { 10: fields }, signers: [first], size: 10 }, "ENTRY_MALFORMED", {
      sequence: 10,
      says,
    });
  const rotation = rotated(10, first, second);
  const revocation = revoked(10, first, 5);
  const data = (fields: Fields, change: Readonly<Record<string, Json>>): Fields => ({
    ...fields,
    data: { ...(fields.data as object), ...change },
  });
  return [
    bad("a rotation with a field more", data(rotation, { zone: "UTC" }), "exactly"),
    bad("a rotation to no key", data(rotation, { new_key: "x" }), "vkeys"),
    bad("a rotation from a witness", data(rotation, { old_key: w1.vkey }), "vkeys"),
    bad("a rotation to half a key", data(rotation, { new_key: `${origin}+${second.id}+AAAA` }), "vkeys"),
    bad(
      "a rotation to a key of another id",
      data(rotation, { new_key: second.vkey.replace(second.id, "00000000") }),
      "vkeys",
    ),
    bad("a revocation with a field more", data(revocation, { zone: "UTC" }), "exactly"),
    bad("a rotation to the same key", { ...rotated(10, first, first) }, "different ids"),
    bad("a rotation to a key of another log", data(rotation, { new_key: logKey("x", "elsewhere").vkey }), "vkeys"),
    bad("a rotation under another subject", { ...rotation, subject_id: first.id }, "subject_id"),
    bad("a revocation without size", { ...revocation, data: { key: first.vkey } }, "exactly"),
    bad("a revocation of no key", data(revocation, { key: 5 }), "vkey"),
    bad("a revocation under another subject", { ...revocation, subject_id: second.id }, "subject_id"),
    bad("a revocation with a negative size", data(revocation, { trusted_size: -1 }), "trusted_size"),
    bad("a revocation with a part of a size", data(revocation, { trusted_size: 1.5 }), "trusted_size"),
  ];
}

/** Under the proof of a rotation or a revocation the entry itself says what its keys may sign. */
function proved(): readonly Attack[] {
  const entries = logWith(30, { 10: revoked(10, first, 20) });
  const whole = logWith(30, {});
  return [
    attack(
      "proof: A28 of the revocation of the key that signed",
      proof(entries, 10, checkpointOf(entries, 30, [first])),
      out,
      { sequence: 30 },
    ),
    attack("proof: before the revocation counts", proof(whole, 10, checkpointOf(whole, 30, [first])), "L1"),
  ];
}

export const keyAttacks: readonly Attack[] = [...rotations, ...revocations, ...misshapen(), ...proved()];

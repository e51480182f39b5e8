// Checkpoints, cosignatures and policies: what each of them must not let through.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { logSigner, sha256, verifySignature, witnessSigner } from "../../testkit/audit/keys.ts";
import { mutated } from "../../testkit/audit/mutated.ts";
import { firstSigner, origin, sampleLog, secondSigner } from "../../testkit/audit/sample-log.ts";
import { inputCount } from "../../testkit/full-count.ts";
import { prng } from "../../testkit/virtual/prng.ts";
import { readUtf8 } from "./base64.ts";
import {
  type CheckpointNote,
  checkpointText,
  emptyRoot,
  readCheckpointNote,
  readCheckpointText,
  signCheckpoint,
} from "./checkpoint.ts";
import { cosign, cosignatureMessage, judgeCosignature } from "./cosignature.ts";
import { asHash } from "./hash.ts";
import { startKeyRing } from "./key-ring.ts";
import { countCosignatures, makePolicy, type Policy, policyText, readPolicy } from "./policy.ts";
import { readSignatureLine, signNote } from "./signed-note.ts";
import { type CheckpointTrust, judgeCheckpoint } from "./trusted-checkpoint.ts";

const seed = 20_261_116;
const log = sampleLog(12);
const note = log.checkpoint(12);
const timeS = 1_794_735_000;
const clock = { nowUs: timeS * 1_000_000 };
const witnesses = [11, 12, 13].map((byte) => witnessSigner(`witness.example/w${byte}`, byte));
const [w1, w2, w3] = witnesses as [(typeof witnesses)[0], (typeof witnesses)[0], (typeof witnesses)[0]];

function signedOf(content: string): CheckpointNote {
  const read = readCheckpointNote(content);
  if ("malformed" in read) throw new Error(read.malformed);
  return read;
}

function policyOf(k: number, ...signers: (typeof witnesses)[0][]): Policy {
  const policy = makePolicy(
    k,
    signers.map(({ key }) => key),
  );
  if ("malformed" in policy) throw new Error(policy.malformed);
  return policy;
}

function judged(content: string, change: Partial<CheckpointTrust> = {}): string {
  const read = readCheckpointNote(content);
  if ("malformed" in read) return "CHECKPOINT_MALFORMED";
  const trust = { ring: startKeyRing([firstSigner.key]), origin, verifySignature, nowUs: clock.nowUs, ...change };
  const verdict = judgeCheckpoint(read, change === undefined ? undefined : log.root(12), trust);
  return "fault" in verdict ? verdict.fault.code : verdict.level;
}

describe("A18: a checkpoint", () => {
  const [text = ""] = note.split("\n\n");
  const [, , rootLine = ""] = text.split("\n");
  const resigned = (other: string) => signNote(other, [firstSigner]);

  it("that is whole is believed", () => {
    expect(judged(note)).toBe("L1");
    expect(readCheckpointText(`${text}\n`)).toEqual({ origin, size: 12, root: log.root(12) });
  });

  it.each([
    ["a leading zero in its size", `${origin}\n012\n${rootLine}\n`],
    ["a sign in its size", `${origin}\n+12\n${rootLine}\n`],
    ["a size past what can be counted", `${origin}\n9007199254740992\n${rootLine}\n`],
    ["a size in other digits", `${origin}\n\u0661\u0662\n${rootLine}\n`],
    ["an extension line", `${origin}\n12\n${rootLine}\nsmuggled\n`],
    ["an empty extension line", `${origin}\n12\n${rootLine}\n\n`],
    ["no root", `${origin}\n12\n`],
    ["a root that is too short", `${origin}\n12\n${rootLine.slice(4)}\n`],
    ["a root in base64 that is not canonical", `${origin}\n12\n${rootLine.slice(0, -2)}B=\n`],
    ["a root in hex", `${origin}\n12\n${"ab".repeat(32)}\n`],
    ["no origin", `\n12\n${rootLine}\n`],
    ["a space in its origin", `a b\n12\n${rootLine}\n`],
    ["size 0 and the root of another tree", `${origin}\n0\n${rootLine}\n`],
  ])("with %s is none, however well it is signed", (_, other) => {
    expect(judged(resigned(other))).toBe("CHECKPOINT_MALFORMED");
    expect(readCheckpointText(other)).toHaveProperty("malformed");
  });

  it("of size 0 with the empty root is one", () => {
    const empty = signCheckpoint({ origin, size: 0, root: emptyRoot }, [firstSigner]);
    expect(signedOf(empty).checkpoint.root).toBe(asHash(sha256(new Uint8Array(0))));
  });

  it("of another origin is refused, also when our key signed it", () => {
    const other = sampleLog(12, "sample", `${origin.slice(0, -1)}6`);
    expect(judged(other.checkpoint(12))).toBe("CHECKPOINT_MALFORMED");
    const { checkpoint } = signedOf(note);
    expect(judged(signNote(checkpointText({ ...checkpoint, origin: "other" }), [firstSigner]))).toBe(
      "CHECKPOINT_MALFORMED",
    );
    expect(() => signCheckpoint({ ...checkpoint, origin: "other" }, [firstSigner])).toThrow(RangeError);
  });

  it("with another root or size under the old signature is refused", () => {
    expect(judged(note.replace("\n12\n", "\n13\n"))).toBe("SIGNATURE_INVALID");
    expect(judged(note.replace(rootLine, sampleLog(12, "other").checkpoint(12).split("\n")[2] ?? ""))).toBe(
      "SIGNATURE_INVALID",
    );
  });

  it("with the signed root of another tree is refused", () => {
    expect(judged(sampleLog(12, "other").checkpoint(12))).toBe("ROOT_MISMATCH");
  });

  it("of an unknown key is refused; with ours beside it, it is believed", () => {
    expect(judged(log.checkpoint(12, [secondSigner]))).toBe("SIGNATURE_INVALID");
    expect(judged(log.checkpoint(12, [secondSigner, firstSigner]))).toBe("L1");
  });

  it("of a key whose id collides with ours is refused", () => {
    const eve = { key: firstSigner.key, sign: logSigner(origin, 66).sign };
    expect(judged(log.checkpoint(12, [eve]))).toBe("SIGNATURE_INVALID");
    expect(judged(log.checkpoint(12, [firstSigner, eve]))).toBe("SIGNATURE_INVALID");
  });

  it("signed under the trusted key of another log is refused", () => {
    const stranger = logSigner("another.log", 1);
    const other = signNote(`${text}\n`, [stranger]);
    expect(judged(other, { ring: startKeyRing([stranger.key]) })).toBe("SIGNATURE_INVALID");
    expect(judged(other, { ring: startKeyRing([firstSigner.key, stranger.key]) })).toBe("SIGNATURE_INVALID");
  });

  it("without any key to trust stays at L0, and with a policy alone it is refused", () => {
    expect(judged(note, { ring: startKeyRing([]) })).toBe("L0");
    expect(judged(note, { ring: startKeyRing([]), policy: policyOf(1, w1) })).toBe("SIGNATURE_INVALID");
    expect(judged(sampleLog(12, "other").checkpoint(12), { ring: startKeyRing([]) })).toBe("ROOT_MISMATCH");
  });

  it(`mutated anywhere, it is refused or says the same (seed ${seed})`, () => {
    const random = prng(seed);
    const bytes = new TextEncoder().encode(note + cosign(signedOf(note).note.text, w1, timeS));
    const allowed = new Set(["CHECKPOINT_MALFORMED", "SIGNATURE_INVALID", "WITNESSES_MISSING", "L2"]);
    for (let round = 0; round < inputCount(2_000); round += 1) {
      const content = readUtf8(mutated(bytes, random)) ?? "";
      const verdict = judged(content, { policy: policyOf(1, w1) });
      expect(allowed).toContain(verdict);
      if (verdict === "L2") expect(signedOf(content).checkpoint).toEqual(signedOf(note).checkpoint);
    }
  });
});

describe("a cosignature", () => {
  const { text } = signedOf(note).note;
  const judge = (line: string, at = clock.nowUs, aheadSMax?: number) => {
    const signature = readSignatureLine(line.trimEnd());
    if (signature === undefined) throw new Error("not a line");
    return judgeCosignature(text, signature, w1.key, verifySignature, {
      nowUs: at,
      ...(aheadSMax === undefined ? {} : { aheadSMax }),
    }).kind;
  };

  it("is the golden one to the byte", () => {
    const golden = JSON.parse(readFileSync(new URL("./golden/cosignature.json", import.meta.url), "utf8")) as Record<
      string,
      string | number
    >;
    const witness = witnessSigner("witness.example/w11", 11);
    expect(witness.key.vkey).toBe(golden["vkey"]);
    const signedText = signedOf(String(golden["checkpoint"])).note.text;
    expect(new TextDecoder().decode(cosignatureMessage(signedText, Number(golden["time"])))).toBe(golden["message"]);
    expect(cosign(signedText, witness, Number(golden["time"]))).toBe(golden["line"]);
    expect(golden["checkpoint"]).toBe(note);
  });

  it("verifies, and not under another text, key or time", () => {
    const line = cosign(text, w1, timeS);
    expect(judge(line)).toBe("valid");
    expect(judge(cosign(`${text}x\n`, w1, timeS))).toBe("bad");
    expect(judge(cosign(text, { key: w1.key, sign: w2.sign }, timeS))).toBe("bad");
    const signature = readSignatureLine(line.trimEnd())?.signature ?? new Uint8Array();
    signature[7] = (signature[7] ?? 0) ^ 1;
    expect(judgeCosignature(text, { name: "", keyId: "", signature }, w1.key, verifySignature, clock).kind).toBe("bad");
    expect(
      judgeCosignature(text, { name: "", keyId: "", signature: signature.subarray(1) }, w1.key, verifySignature, clock)
        .kind,
    ).toBe("bad");
  });

  it("is not the log's own signature under another name: the header keeps them apart", () => {
    const plain = new Uint8Array(72);
    plain.set(w1.sign(new TextEncoder().encode(text)), 8);
    expect(judgeCosignature(text, { name: "", keyId: "", signature: plain }, w1.key, verifySignature, clock).kind).toBe(
      "bad",
    );
  });

  it("A30: from the future does not count; a clock within the tolerance does", () => {
    expect(judge(cosign(text, w1, timeS + 60))).toBe("valid");
    expect(judge(cosign(text, w1, timeS + 61))).toBe("from the future");
    expect(judge(cosign(text, w1, timeS + 1), clock.nowUs, 0)).toBe("from the future");
    const ahead = note + cosign(text, w1, timeS + 3_600);
    expect(judged(ahead, { policy: policyOf(1, w1) })).toBe("WITNESSES_MISSING");
    expect(judged(ahead, { policy: policyOf(1, w1), nowUs: clock.nowUs + 3_600_000_000 })).toBe("L2");
  });

  it("A30: of a time past what can be counted is bad", () => {
    const stamped = new Uint8Array(72).fill(0xff);
    expect(
      judgeCosignature(text, { name: "", keyId: "", signature: stamped }, w1.key, verifySignature, clock).kind,
    ).toBe("bad");
    // The signature of such a time cannot be made here; a verifier that says yes to everything shows that it is not asked.
    const always = (signature: Uint8Array) =>
      judgeCosignature(text, { name: "", keyId: "", signature }, w1.key, () => true, clock).kind;
    expect(always(stamped)).toBe("bad");
    expect(always(new Uint8Array(71))).toBe("bad");
    expect(always(new Uint8Array(73))).toBe("bad");
    expect(always(new Uint8Array(72))).toBe("valid");
    const plain = { name: "", keyId: "", signature: new Uint8Array(72) };
    expect(judgeCosignature(text, plain, firstSigner.key, () => true, clock).kind).toBe("bad");
    expect(() => cosign(text, w1, -1)).toThrow(RangeError);
    expect(() => cosign(text, firstSigner, 1)).toThrow(RangeError);
  });
});

describe("a policy", () => {
  const { text } = signedOf(note).note;
  const with_ = (...signers: (typeof witnesses)[0][]) =>
    note + signers.map((each) => cosign(text, each, timeS)).join("");

  it("has two spellings and one meaning", () => {
    const policy = policyOf(2, w1, w2, w3);
    expect(readPolicy(policyText(policy), sha256)).toEqual(policy);
    expect(readPolicy(JSON.stringify({ k: 2, witnesses: witnesses.map(({ key }) => key.vkey) }), sha256)).toEqual(
      policy,
    );
  });

  it.each([
    "",
    "2",
    "of x",
    `0 of ${w1.key.vkey}`,
    `2 of ${w1.key.vkey}`,
    `1 of ${w1.key.vkey},${w1.key.vkey}`,
    `1 of ${w1.key.vkey},${witnessSigner("another.name", 11).key.vkey}`,
    `1 of ${firstSigner.key.vkey}`,
    `1 of ${w1.key.vkey},`,
    "{",
    "{}",
    '{"k":1,"witnesses":[1]}',
    JSON.stringify({ k: 1, witnesses: [w1.key.vkey], more: 1 }),
    JSON.stringify({ k: 1.5, witnesses: [w1.key.vkey] }),
    JSON.stringify({ k: 0, witnesses: [] }),
    "x".repeat(70_000),
  ])("%.60j is none", (spelled) => {
    expect(readPolicy(spelled, sha256)).toHaveProperty("malformed");
  });

  it("is met by k distinct witnesses, not by k signatures", () => {
    const policy = policyOf(2, w1, w2, w3);
    expect(judged(with_(w1, w3), { policy })).toBe("L2");
    expect(judged(with_(w1), { policy })).toBe("WITNESSES_MISSING");
    expect(judged(with_(w1, w1, w1), { policy })).toBe("WITNESSES_MISSING");
    expect(judged(note + cosign(text, w1, timeS) + cosign(text, w1, timeS - 5), { policy })).toBe("WITNESSES_MISSING");
    expect(judged(with_(w1, witnessSigner("stranger", 44)), { policy })).toBe("WITNESSES_MISSING");
  });

  it("A18: a named witness's bad cosignature refuses the checkpoint even when others are enough", () => {
    const bad = cosign(text, { key: w3.key, sign: w2.sign }, timeS);
    expect(judged(with_(w1, w2) + bad, { policy: policyOf(2, w1, w2, w3) })).toBe("SIGNATURE_INVALID");
    expect(judged(with_(w1, w2) + bad, { policy: policyOf(2, w1, w2) })).toBe("L2");
  });

  it("A16: each witness saw another branch: no branch has enough", () => {
    const other = sampleLog(12, "branch y");
    const policy = policyOf(2, w1, w2);
    const x = note + cosign(text, w1, timeS);
    const yText = signedOf(other.checkpoint(12)).note.text;
    const y = other.checkpoint(12) + cosign(yText, w2, timeS);
    expect(judged(x, { policy })).toBe("WITNESSES_MISSING");
    expect(judged(x + y.slice(other.checkpoint(12).length), { policy })).toBe("SIGNATURE_INVALID");
    const counted = countCosignatures(signedOf(y).note, policy, verifySignature, clock);
    expect(counted).toMatchObject({ kind: "counted", cosignedBy: [w2.key], enough: false });
  });
});

// The witness's answers, status by status, and the attacks that it is there to stop.
import { describe, expect, it } from "vitest";
import { logSigner, sha256, verifySignature, witnessSigner } from "../../testkit/audit/keys.ts";
import { mutated } from "../../testkit/audit/mutated.ts";
import { firstSigner, origin, sampleLog, secondSigner, tree } from "../../testkit/audit/sample-log.ts";
import { inputCount } from "../../testkit/full-count.ts";
import { prng } from "../../testkit/virtual/prng.ts";
import { base64OfHash, readUtf8 } from "./base64.ts";
import { readCheckpointNote } from "./checkpoint.ts";
import { asHash } from "./hash.ts";
import { countCosignatures, makePolicy } from "./policy.ts";
import { signNote } from "./signed-note.ts";
import {
  type AddCheckpointAnswer,
  addCheckpointBody,
  decideAddCheckpoint,
  readAddCheckpoint,
  type WitnessContext,
  type WitnessedState,
} from "./witness.ts";

const seed = 20_261_117;
const witness = witnessSigner("witness.example/w1", 11);
const log = sampleLog(14);
const nowUs = 1_794_735_000_000_000;

/** A witness with its memory; it keeps what an answer says, as the shell must. */
function witnessOf(keys = [firstSigner.key], kept?: WitnessedState) {
  let state = kept;
  const context: WitnessContext = {
    logOf: (name) => (name === origin ? { keys, state } : undefined),
    witness,
    tree,
    verifySignature,
    nowUs,
  };
  return {
    get state() {
      return state;
    },
    ask(body: string): AddCheckpointAnswer {
      const answer = decideAddCheckpoint(body, context);
      if (answer.status === 200) {
        expect(answer.replaces).toBe(state);
        expect(answer.keep.size).toBeGreaterThanOrEqual(state?.size ?? 0);
        state = answer.keep;
      }
      return answer;
    },
  };
}

function bodyOf(first: number, second: number, from = log, note = from.checkpoint(second)): string {
  return addCheckpointBody(first, from.consistency(first, second).map(base64OfHash), note);
}

describe("add-checkpoint", () => {
  it("cosigns the first checkpoint, then everything that follows from it", () => {
    const w = witnessOf();
    for (const [first, second] of [
      [0, 3],
      [3, 7],
      [7, 8],
      [8, 8],
      [8, 14],
    ] as const) {
      const answer = w.ask(bodyOf(first, second));
      expect(answer.status).toBe(200);
      const read = readCheckpointNote(log.checkpoint(second) + answer.body);
      const policy = makePolicy(1, [witness.key]);
      if ("malformed" in read || "malformed" in policy) throw new Error("not readable");
      expect(countCosignatures(read.note, policy, verifySignature, { nowUs })).toMatchObject({ enough: true });
      expect(w.state).toMatchObject({ size: second, root: log.root(second) });
    }
  });

  it("answers 404 for a log that it does not know", () => {
    const other = sampleLog(3, "sample", `${origin.slice(0, -1)}9`);
    expect(witnessOf().ask(bodyOf(0, 3, other)).status).toBe(404);
  });

  it("answers 403 without a valid signature of a key it was given", () => {
    expect(witnessOf().ask(bodyOf(0, 3, log, log.checkpoint(3, [secondSigner]))).status).toBe(403);
    const forged = { key: firstSigner.key, sign: logSigner(origin, 66).sign };
    expect(witnessOf().ask(bodyOf(0, 3, log, log.checkpoint(3, [forged]))).status).toBe(403);
    expect(witnessOf().ask(bodyOf(0, 3, log, log.checkpoint(3, [secondSigner, firstSigner]))).status).toBe(200);
    expect(
      witnessOf([firstSigner.key, secondSigner.key]).ask(bodyOf(0, 3, log, log.checkpoint(3, [secondSigner]))).status,
    ).toBe(200);
  });

  it("answers 403 to a key that was given for the log under another name", () => {
    const stranger = logSigner("another.log", 1);
    expect(witnessOf([stranger.key]).ask(bodyOf(0, 3)).status).toBe(403);
    const [text = ""] = log.checkpoint(3).split("\n\n");
    const body = addCheckpointBody(0, [], signNote(`${text}\n`, [stranger]));
    expect(witnessOf([stranger.key]).ask(body).status).toBe(403);
  });

  const note = log.checkpoint(3);
  const hash = base64OfHash(log.root(3));
  it.each([
    ["nothing", ""],
    ["no old size", `\n${note}`],
    ["an old size with a leading zero", `old 00\n\n${note}`],
    ["a negative old size", `old -1\n\n${note}`],
    ["two spaces", `old  0\n\n${note}`],
    ["no empty line", `old 0\n${note}`],
    ["a proof line that is no hash", `old 0\nhello\n\n${note}`],
    ["a proof line that is short", `old 0\n${hash.slice(4)}\n\n${note}`],
    ["64 proof lines", `old 0\n${`${hash}\n`.repeat(64)}\n${note}`],
    ["a checkpoint with an extension", `old 0\n\n${note.replace("\n\n", "\nmore\n\n")}`],
    ["half a checkpoint", `old 0\n\n${note.slice(0, -5)}`],
    ["more than anybody needs", `old 0\n\n${"x".repeat(600_000)}`],
  ])("answers 400 to %s", (_, body) => {
    expect(witnessOf().ask(body).status).toBe(400);
    expect(readAddCheckpoint(body)).toHaveProperty("malformed");
  });

  it("answers 400 when the old size is larger than the new one", () => {
    expect(witnessOf().ask(`old 4\n\n${note}`).status).toBe(400);
  });

  it("answers 409 and its size when the old size is not its own", () => {
    const w = witnessOf();
    expect(w.ask(bodyOf(3, 7))).toEqual({ status: 409, body: "0\n", contentType: "text/x.tlog.size" });
    w.ask(bodyOf(0, 7));
    expect(w.ask(bodyOf(3, 8))).toEqual({ status: 409, body: "7\n", contentType: "text/x.tlog.size" });
    expect(w.ask(bodyOf(0, 8))).toMatchObject({ status: 409, body: "7\n" });
  });

  it("A17: a request that comes late never rolls it back", () => {
    const w = witnessOf();
    w.ask(bodyOf(0, 3));
    const late = bodyOf(3, 7);
    w.ask(bodyOf(3, 12));
    expect(w.ask(late)).toMatchObject({ status: 409, body: "12\n" });
    expect(w.ask(bodyOf(7, 7))).toMatchObject({ status: 409, body: "12\n" });
    expect(w.state?.size).toBe(12);
  });

  it("A14: a log that went back to an older backup is refused", () => {
    const w = witnessOf();
    w.ask(bodyOf(0, 12));
    expect(w.ask(bodyOf(0, 7))).toMatchObject({ status: 409, body: "12\n" });
    const restored = sampleLog(7);
    for (let more = 0; more < 7; more += 1) restored.append({ data: { after: "restore", more } });
    expect(w.ask(bodyOf(12, 14, restored)).status).toBe(422);
    expect(w.state?.size).toBe(12);
  });

  it("A5: rewritten and chained again under the log's own key, the witness refuses it with 422", () => {
    const w = witnessOf();
    w.ask(bodyOf(0, 12));
    const forged = sampleLog(14, "rewritten");
    const answer = w.ask(bodyOf(12, 14, forged));
    expect(answer).toMatchObject({
      status: 422,
      suspicion: { origin, kept: log.checkpoint(12), submitted: forged.checkpoint(14) },
    });
    expect(w.state?.root).toBe(log.root(12));
  });

  it("A5: nor does an honest proof help a forged head, nor a wrong one an honest head", () => {
    const w = witnessOf();
    w.ask(bodyOf(0, 6));
    const forged = sampleLog(14, "rewritten").checkpoint(14);
    expect(w.ask(bodyOf(6, 14, log, forged)).status).toBe(422);
    const proof = log.consistency(6, 14).map(base64OfHash);
    expect(w.ask(addCheckpointBody(6, proof.slice(1), log.checkpoint(14))).status).toBe(422);
    expect(w.ask(addCheckpointBody(6, [...proof, hash], log.checkpoint(14))).status).toBe(422);
    expect(w.ask(addCheckpointBody(6, [...proof].reverse(), log.checkpoint(14))).status).toBe(422);
    expect(w.ask(addCheckpointBody(6, [hash], log.checkpoint(6))).status).toBe(422);
    expect(w.ask(addCheckpointBody(6, proof, log.checkpoint(14))).status).toBe(200);
  });

  it("a first checkpoint comes without a proof", () => {
    expect(witnessOf().ask(addCheckpointBody(0, [hash], note)).status).toBe(422);
  });

  it("A15: two heads of one size are a proof of misbehaviour, whatever old size was named", () => {
    const w = witnessOf();
    w.ask(bodyOf(0, 12));
    const fork = sampleLog(12, "fork");
    const misbehaviour = { origin, kept: log.checkpoint(12), submitted: fork.checkpoint(12) };
    expect(w.ask(bodyOf(12, 12, fork))).toEqual({
      status: 409,
      body: "12\n",
      contentType: "text/x.tlog.size",
      misbehaviour,
    });
    expect(w.ask(bodyOf(0, 12, fork))).toMatchObject({ status: 409, misbehaviour });
    expect(w.state?.root).toBe(log.root(12));
    for (const signed of [misbehaviour.kept, misbehaviour.submitted])
      expect(readCheckpointNote(signed)).not.toHaveProperty("malformed");
  });

  it("A15: what nobody signed is no proof of misbehaviour", () => {
    const w = witnessOf();
    w.ask(bodyOf(0, 12));
    const fork = sampleLog(12, "fork").checkpoint(12, [secondSigner]);
    expect(w.ask(addCheckpointBody(12, [], fork))).toEqual({ status: 403, body: "no known key\n" });
  });

  it("A16: two witnesses that saw two branches each keep theirs", () => {
    const left = witnessOf();
    const right = witnessOf();
    const fork = sampleLog(14, "fork");
    left.ask(bodyOf(0, 12));
    right.ask(bodyOf(0, 12, fork));
    expect(left.ask(bodyOf(12, 14, fork)).status).toBe(422);
    expect(right.ask(bodyOf(12, 14)).status).toBe(422);
  });

  it(`a mutated request is never cosigned for another head (seed ${seed})`, () => {
    const random = prng(seed);
    const honest = new TextEncoder().encode(bodyOf(6, 14));
    const statuses = new Set<number>();
    const kept = { size: 6, root: log.root(6), note: log.checkpoint(6) };
    const rounds = inputCount(1_500);
    for (let round = 0; round < rounds; round += 1) {
      const answer = witnessOf([firstSigner.key], kept).ask(readUtf8(mutated(honest, random)) ?? "");
      statuses.add(answer.status);
      if (answer.status === 200) expect(answer.keep.root).toBe(log.root(14));
    }
    // Two hundred meet no proof of another tree yet.
    const met = rounds > 1_000 ? [400, 403, 404, 422] : [400, 403, 404];
    expect([...statuses].sort()).toEqual(expect.arrayContaining(met));
  });

  it(`random hashes never prove anything (seed ${seed})`, () => {
    const random = prng(seed);
    const forged = sampleLog(14, "forged").checkpoint(14);
    const states = Array.from({ length: 13 }, (_, at) => ({ size: at + 1, root: log.root(at + 1), note: "" }));
    for (let round = 0; round < inputCount(500); round += 1) {
      const kept = states[random.below(states.length)];
      const proof = Array.from({ length: random.below(8) }, () => base64OfHash(asHash(sha256(random.bytes(8)))));
      const answer = witnessOf([firstSigner.key], kept).ask(addCheckpointBody(kept?.size ?? 0, proof, forged));
      expect(answer.status).toBe(422);
    }
  });
});

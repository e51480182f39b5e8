// What a C2SP witness answers to add-checkpoint, decided from the body, the log's keys and what was last cosigned for that log. The shell keeps the
// new state, compared with the old one in the same step, before it lets the answer leave: two requests at once must not roll a log back.
//
// Invariants:
//  1. What is kept never shrinks, and two cosigned checkpoints of one log are always consistent with each other.
//  2. Nothing is cosigned that the log has not signed with a key that the witness was given.
//  3. Two signed checkpoints of one size with different roots are a proof that the log misbehaved; both are handed out to be kept.
import { hashOfBase64, readDecimal } from "./base64.ts";
import { type Checkpoint, type CheckpointNote, emptyRoot, readCheckpointNote } from "./checkpoint.ts";
import { cosign } from "./cosignature.ts";
import type { Hash } from "./hash.ts";
import type { TreeHash } from "./merkle.ts";
import { verifyConsistency } from "./proof.ts";
import {
  type Malformed,
  noteLengthMax,
  openNote,
  type SignMessage,
  type VerifierKey,
  type VerifySignature,
} from "./signed-note.ts";

/** The most hashes that a proof between two sizes can have. */
const consistencyHashesMax = 63;

/** What a witness keeps of a log: the last checkpoint that it cosigned, with the note that said so. */
export interface WitnessedState {
  readonly size: number;
  readonly root: Hash;
  readonly note: string;
}

interface WitnessedLog {
  readonly keys: readonly VerifierKey[];
  /** Undefined before the first cosignature. */
  readonly state: WitnessedState | undefined;
}

export interface WitnessContext {
  readonly logOf: (origin: string) => WitnessedLog | undefined;
  readonly witness: { readonly key: VerifierKey; readonly sign: SignMessage };
  readonly tree: TreeHash;
  readonly verifySignature: VerifySignature;
  /** Microseconds since 1970. */
  readonly nowUs: number;
}

interface AddCheckpointRequest {
  readonly oldSize: number;
  readonly proof: readonly Hash[];
  readonly noteText: string;
  readonly signed: CheckpointNote;
}

/** Two checkpoints that the log signed and that cannot both be true. */
interface Misbehaviour {
  readonly origin: string;
  readonly kept: string;
  readonly submitted: string;
}

export type AddCheckpointAnswer =
  | {
      readonly status: 200;
      readonly body: string;
      readonly origin: string;
      /** To be kept before the answer leaves, if what is kept is still `replaces`. */
      readonly keep: WitnessedState;
      readonly replaces: WitnessedState | undefined;
    }
  | {
      readonly status: 409;
      readonly body: string;
      readonly contentType: "text/x.tlog.size";
      readonly misbehaviour?: Misbehaviour;
    }
  /** A signed checkpoint without a proof may be a mistake of whoever sent it, so it is a suspicion only. */
  | { readonly status: 422; readonly body: string; readonly suspicion?: Misbehaviour }
  | { readonly status: 400 | 403 | 404; readonly body: string };

/** Parts a request's body into the old size, the proof and the checkpoint. */
export function readAddCheckpoint(body: string): AddCheckpointRequest | Malformed {
  if (body.length > noteLengthMax) return { malformed: "the request is too long" };
  const split = body.indexOf("\n\n");
  if (split < 0) return { malformed: "no empty line before the checkpoint" };
  const [old = "", ...proofLines] = body.slice(0, split).split("\n");
  const oldSize = old.startsWith("old ") ? readDecimal(old.slice(4)) : undefined;
  if (oldSize === undefined) return { malformed: "the first line is not `old` and a size" };
  if (proofLines.length > consistencyHashesMax) return { malformed: `more than ${consistencyHashesMax} hashes` };
  const proof: Hash[] = [];
  for (const line of proofLines) {
    const hash = hashOfBase64(line);
    if (hash === undefined) return { malformed: "a line of the proof is not a hash" };
    proof.push(hash);
  }
  const noteText = body.slice(split + 2);
  const signed = readCheckpointNote(noteText);
  return "malformed" in signed ? signed : { oldSize, proof, noteText, signed };
}

/** The body of a request, as the log sends it. */
export function addCheckpointBody(oldSize: number, proofBase64: readonly string[], noteText: string): string {
  return `old ${oldSize}\n${proofBase64.map((hash) => `${hash}\n`).join("")}\n${noteText}`;
}

/** The answer to a request. */
export function decideAddCheckpoint(body: string, context: WitnessContext): AddCheckpointAnswer {
  const request = readAddCheckpoint(body);
  if ("malformed" in request) return { status: 400, body: `${request.malformed}\n` };
  const { checkpoint, note } = request.signed;
  const log = context.logOf(checkpoint.origin);
  if (log === undefined) return { status: 404, body: "unknown origin\n" };
  const keys = log.keys.filter((key) => key.name === checkpoint.origin);
  const opened = openNote(note, keys, context.verifySignature);
  if (opened.kind !== "opened") return { status: 403, body: `${opened.kind}\n` };
  if (request.oldSize > checkpoint.size) return { status: 400, body: "the old size is larger than the new one\n" };
  return decideSigned(request, checkpoint, log.state, context);
}

/** The answer to a request for a checkpoint that the log has signed. */
function decideSigned(
  { oldSize, proof, noteText, signed }: AddCheckpointRequest,
  checkpoint: Checkpoint,
  state: WitnessedState | undefined,
  { witness, tree, nowUs }: WitnessContext,
): AddCheckpointAnswer {
  const { origin, size, root } = checkpoint;
  const kept = state ?? { size: 0, root: emptyRoot, note: "" };
  const pair = { origin, kept: kept.note, submitted: noteText };
  const sizeBody = { body: `${kept.size}\n`, contentType: "text/x.tlog.size" } as const;
  if (size === kept.size && root !== kept.root) return { status: 409, ...sizeBody, misbehaviour: pair };
  if (oldSize !== kept.size) return { status: 409, ...sizeBody };
  if (!isExtension(tree, kept, checkpoint, proof)) {
    return { status: 422, body: "the proof does not lead from the old root to the new one\n", suspicion: pair };
  }
  return {
    status: 200,
    body: cosign(signed.note.text, witness, Math.floor(nowUs / 1_000_000)),
    origin,
    keep: { size, root, note: noteText },
    replaces: state,
  };
}

/** Whether the new tree begins with the old one. */
function isExtension(
  tree: TreeHash,
  old: { readonly size: number; readonly root: Hash },
  { size, root }: Checkpoint,
  proof: readonly Hash[],
): boolean {
  return verifyConsistency(tree, { first: old.size, firstRoot: old.root, second: size, secondRoot: root, proof });
}

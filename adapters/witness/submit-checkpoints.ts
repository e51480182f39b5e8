// Shows the log's checkpoints to its witnesses over HTTP. Each is asked on its own, in a bounded time; where it stands is remembered, and when it
// says that it stands elsewhere it is asked again from there. Only when it cannot be asked from where it stands, or does not accept the proof from
// there, does it contradict: an answer that was lost on the way, or a restart, must not look like that.
import { messageOf } from "../../contracts/src/fault.ts";
import { addCheckpointBody } from "../../core/audit/witness.ts";
import type { WitnessAnswers, WitnessContradiction, WitnessedCheckpoint, Witnesses } from "../../ports/witnesses.ts";

interface WitnessAddress {
  readonly url: string;
  readonly vkey: string;
}

const answerMsMax = 3_000;
const answerBytesMax = 65_536;
const attemptsMax = 3;
const conflict = 409;
const proofRefused = 422;

type Answer =
  | { readonly line: string }
  | { readonly why: string; readonly known?: Pick<WitnessContradiction, "kind" | "witnessSize"> };

/** What a witness at that URL answers to add-checkpoint. */
type AddCheckpoint = (url: string, body: string) => Promise<{ readonly status: number; readonly text: string }>;

export function witnessClient(
  addresses: readonly WitnessAddress[],
  needed: number,
  post: AddCheckpoint = postOverHttp,
): Witnesses {
  /** By URL: the size that the witness has, as far as we know. */
  const sizes = new Map<string, number>();

  async function ask({ url }: WitnessAddress, checkpoint: WitnessedCheckpoint): Promise<Answer> {
    const { size } = checkpoint;
    let oldSize = Math.min(sizes.get(url) ?? 0, size);
    for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
      const proof = oldSize === 0 ? [] : await checkpoint.proofFrom(oldSize);
      const { status, text } = await post(url, addCheckpointBody(oldSize, proof, checkpoint.note));
      if (status === 200) {
        sizes.set(url, size);
        return { line: text };
      }
      if (status === proofRefused && oldSize > 0) return notContinued(oldSize, size);
      const reported = sizeReported(text);
      if (status !== conflict || reported === undefined) return { why: `${status} ${text.trim().slice(0, 200)}` };
      sizes.set(url, reported);
      if (reported > size) return larger(reported, size);
      if (reported === oldSize)
        return reported === size ? otherRoot(reported) : { why: `409 from ${reported}, where it stands` };
      oldSize = reported;
    }
    return { why: "it keeps changing where it stands" };
  }

  return {
    policy: `${needed} of ${addresses.map(({ vkey }) => vkey).join(",")}`,
    async submit(checkpoint): Promise<WitnessAnswers> {
      const answers = await Promise.all(
        addresses.map(async (address) => {
          try {
            return { address, answer: await ask(address, checkpoint) };
          } catch (thrown) {
            return { address, answer: { why: messageOf(thrown) } satisfies Answer };
          }
        }),
      );
      const lines: string[] = [];
      const complaints: string[] = [];
      const contradictions: WitnessContradiction[] = [];
      for (const { address, answer } of answers) {
        if ("line" in answer) lines.push(answer.line);
        else complaints.push(`The witness at ${address.url} did not cosign size ${checkpoint.size}: ${answer.why}.`);
        if ("known" in answer && answer.known !== undefined) contradictions.push({ ...address, ...answer.known });
      }
      return { lines, complaints, contradictions };
    },
  };
}

function larger(witnessSize: number, size: number): Answer {
  const why = `it has cosigned a checkpoint of size ${witnessSize}, and this one has ${size}`;
  return { why, known: { kind: "larger", witnessSize } };
}

function otherRoot(witnessSize: number): Answer {
  return { why: `it has another checkpoint of size ${witnessSize}`, known: { kind: "other root", witnessSize } };
}

function notContinued(witnessSize: number, size: number): Answer {
  const why = `it has cosigned size ${witnessSize}, and no proof leads from there to this log's size ${size}`;
  return { why, known: { kind: "not continued", witnessSize } };
}

function sizeReported(text: string): number | undefined {
  const size = /^\d{1,16}$/.test(text.trim()) ? Number(text.trim()) : Number.NaN;
  return Number.isSafeInteger(size) ? size : undefined;
}

async function postOverHttp(url: string, body: string): ReturnType<AddCheckpoint> {
  const response = await fetch(new URL("add-checkpoint", url), {
    method: "POST",
    body,
    redirect: "error",
    signal: AbortSignal.timeout(answerMsMax),
  });
  return { status: response.status, text: await textOf(response) };
}

/** Not a byte more than that is kept, however long the answer goes on. */
async function textOf({ body }: Response): Promise<string> {
  if (body === null) return "";
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    length += chunk.length;
    if (length > answerBytesMax) throw new RangeError("its answer is too long");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

// Shows the log's checkpoints to its witnesses over HTTP. Each is asked on its own, in a bounded time; where it stands is remembered, and when it
// says that it stands elsewhere it is asked once more from there.
import { messageOf } from "../../contracts/src/fault.ts";
import { addCheckpointBody } from "../../core/audit/witness.ts";
import type { WitnessAnswers, WitnessedCheckpoint, Witnesses } from "../../ports/witnesses.ts";

export interface WitnessAddress {
  readonly url: string;
  readonly vkey: string;
}

const answerMsMax = 3_000;
const answerLengthMax = 65_536;
const conflict = 409;

export function witnessClient(addresses: readonly WitnessAddress[], needed: number): Witnesses {
  /** By URL: the size that the witness has, as far as we know. */
  const sizes = new Map<string, number>();

  async function post(url: string, body: string): Promise<{ readonly status: number; readonly text: string }> {
    const response = await fetch(new URL("add-checkpoint", url), {
      method: "POST",
      body,
      redirect: "error",
      signal: AbortSignal.timeout(answerMsMax),
    });
    const text = await response.text();
    if (text.length > answerLengthMax) throw new RangeError("its answer is too long");
    return { status: response.status, text };
  }

  /** The signature lines, or a sentence about why there are none. */
  async function ask({ url }: WitnessAddress, checkpoint: WitnessedCheckpoint): Promise<string | { why: string }> {
    let oldSize = Math.min(sizes.get(url) ?? 0, checkpoint.size);
    for (let attempt = 0; attempt < 2; attempt += 1) {
      const proof = oldSize === 0 ? [] : await checkpoint.proofFrom(oldSize);
      const { status, text } = await post(url, addCheckpointBody(oldSize, proof, checkpoint.note));
      if (status === 200) {
        sizes.set(url, checkpoint.size);
        return text;
      }
      const told = Number(text.trim());
      if (status !== conflict || !Number.isSafeInteger(told) || told < 0)
        return { why: `${status} ${text.trim().slice(0, 200)}` };
      sizes.set(url, told);
      if (told > checkpoint.size)
        return { why: `it has cosigned a checkpoint of size ${told}, and this log has ${checkpoint.size}` };
      if (told === oldSize) return { why: `it has another checkpoint of size ${told}` };
      oldSize = told;
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
            return { address, answer: { why: messageOf(thrown) } };
          }
        }),
      );
      const lines: string[] = [];
      const complaints: string[] = [];
      for (const { address, answer } of answers) {
        if (typeof answer === "string") lines.push(answer);
        else complaints.push(`The witness at ${address.url} did not cosign size ${checkpoint.size}: ${answer.why}.`);
      }
      return { lines, complaints };
    },
  };
}

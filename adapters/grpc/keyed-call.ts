// A call that came with an idempotency key: it is done once, and a repeat gets the first answer, denials and refusals included. It goes on when its
// caller hangs up, because whoever asks again wants to hear how it ended.
import type { Metadata } from "@grpc/grpc-js";
import { answerOf, type Denial, type FaultCode } from "../../contracts/src/codes.ts";
import { Fault } from "../../contracts/src/fault.ts";
import {
  idempotencyKeyHeader,
  idempotencyPathHeader,
  isIdempotencyKey,
  keyedProcedures,
  keyLengthMax,
} from "../../contracts/src/idempotency.ts";
import { parseJson } from "../../contracts/src/parse-json.ts";
import type { RpcCall } from "../../ports/rpc.ts";
import { type Ending, type Job, type KeyedWork, type OncePerKey, placeOf, sha256Hex } from "../records/once-per-key.ts";
import { DeniedCall } from "./status.ts";

type Settled = { readonly bytes: Buffer } | { readonly thrown: unknown };

interface KeyedCall {
  readonly name: string;
  readonly call: Pick<RpcCall, "identity" | "requestBytes">;
  readonly metadata: Metadata;
}

/** What is asked under a key; undefined without one, and for what no key makes once. */
export function keyedWork({ name, call, metadata }: KeyedCall): KeyedWork | undefined {
  const procedure = keyedProcedures.get(name);
  const key = metadata.get(idempotencyKeyHeader)[0];
  if (procedure === undefined || key === undefined) return undefined;
  if (typeof key !== "string" || !isIdempotencyKey(key)) {
    const sentence = `An ${idempotencyKeyHeader} has 1 to ${keyLengthMax} printable ASCII characters, and not only spaces.`;
    throw new Fault("INVALID_ARGUMENT", sentence, { retry: "never" });
  }
  const place = placeOf(name, String(metadata.get(idempotencyPathHeader)[0] ?? ""));
  return {
    key: { caller: call.identity.subject, place, key },
    bodyHash: sha256Hex(call.requestBytes),
    repeatable: procedure.repeatable,
  };
}

/** Rejects as the call itself did, also when that is given again. */
export async function callOnce(
  once: OncePerKey,
  asked: KeyedWork,
  run: () => Promise<Buffer>,
  replayed: () => void,
): Promise<Buffer> {
  const settled = await once.once(asked, jobOf(run));
  if (settled.replayed) replayed();
  if ("thrown" in settled.value) throw settled.value.thrown;
  return settled.value.bytes;
}

function jobOf(run: () => Promise<Buffer>): Job<Settled> {
  return {
    work: () =>
      run().then(
        (bytes): Settled => ({ bytes }),
        (thrown: unknown): Settled => ({ thrown }),
      ),
    ending: (settled) => ("bytes" in settled ? kept(answerTag, settled.bytes) : endingOfThrown(settled.thrown)),
    replay: settledOf,
  };
}

const answerTag = 0;
const refusalTag = 1;

function kept(tag: number, bytes: Uint8Array): Ending {
  const answer = new Uint8Array(bytes.length + 1);
  answer[0] = tag;
  answer.set(bytes, 1);
  return { state: "kept", answer };
}

/** What was refused for want of authority, or because there is too much to do, is not done and may be asked again. */
const undone: ReadonlySet<number> = new Set([401, 403, 429]);

function endingOfThrown(thrown: unknown): Ending {
  if (!(thrown instanceof DeniedCall || thrown instanceof Fault)) return { state: "unknown" };
  const code = thrown instanceof DeniedCall ? thrown.denial.code : thrown.code;
  const { http } = answerOf(code);
  if (undone.has(http)) return { state: "undone" };
  if (thrown instanceof Fault && (http >= 500 || thrown.retry !== "never")) return { state: "unknown" };
  const refused = thrown instanceof DeniedCall ? { denial: thrown.denial } : { code, message: thrown.message };
  return kept(refusalTag, new TextEncoder().encode(JSON.stringify(refused)));
}

type Refused = { readonly denial: Denial } | { readonly code: FaultCode; readonly message: string };

function settledOf(answer: Uint8Array): Settled {
  const bytes = Buffer.from(answer.subarray(1));
  if (answer[0] === answerTag) return { bytes };
  // Written by ourselves, a moment or a day ago. It was reported then.
  const refused = parseJson(bytes.toString("utf8")) as Refused;
  if ("denial" in refused) return { thrown: new DeniedCall(refused.denial, true) };
  return { thrown: new Fault(refused.code, refused.message, { retry: "never", isReported: true }) };
}

// The only way to GitHub's network: it makes the calls of the list and no others, to the configured address alone, follows no redirect, waits for so long, and
// tells who listens what was called.
import { Fault } from "../../contracts/src/fault.ts";
import { whyNotAllowed } from "./allowed-calls.ts";

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

interface Heard {
  readonly method: string;
  readonly path: string;
  readonly status: number;
}

const answerMsMax = 20_000;
const answerBytesMax = 16_000_000;

export function guardedFetch(apiUrl: string, fetch: Fetch, heard: (call: Heard) => void): Fetch {
  const base = new URL(apiUrl);
  const prefix = base.pathname.replace(/\/$/, "");
  return async (address, init) => {
    const url = new URL(address);
    const method = (init.method ?? "GET").toUpperCase();
    const path = url.pathname.slice(prefix.length);
    const body = typeof init.body === "string" ? init.body : undefined;
    const isElsewhere = url.origin !== base.origin || !url.pathname.startsWith(`${prefix}/`);
    const why = isElsewhere ? "it leads elsewhere" : whyNotAllowed(method, path, body);
    if (why !== undefined) {
      throw new Fault("GITHUB_REFUSED", `A call to GitHub was not made: ${why}.`, {
        retry: "never",
        facts: { status: 0 },
      });
    }
    const signals = [AbortSignal.timeout(answerMsMax), ...(init.signal ? [init.signal] : [])];
    try {
      const answer = await fetch(address, { ...init, redirect: "manual", signal: AbortSignal.any(signals) });
      heard({ method, path, status: answer.status });
      return bounded(answer);
    } catch (thrown) {
      heard({ method, path, status: 0 });
      throw thrown;
    }
  };
}

/** An answer without end would fill the memory. */
function bounded(answer: Response): Response {
  if (Number(answer.headers.get("content-length") ?? 0) > answerBytesMax) throw new Error("the answer is too long");
  if (answer.body === null) return answer;
  let left = answerBytesMax;
  const counted = answer.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        left -= chunk.byteLength;
        if (left < 0) controller.error(new Error("the answer is too long"));
        else controller.enqueue(chunk);
      },
    }),
  );
  return new Response(counted, { status: answer.status, statusText: answer.statusText, headers: answer.headers });
}

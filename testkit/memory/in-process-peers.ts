// How services ask each other when they share a process without a network, as in the simulator: through the same codecs, so that what a
// wire would change is changed here as well, and with a bound on the time that an answer may take.

import { codecOf, methodOf } from "../../adapters/grpc/definitions.ts";
import { type AskPeer, type Peers, peersOver } from "../../adapters/peers/peers.ts";
import type { Denial } from "../../contracts/src/codes.ts";
import { Fault } from "../../contracts/src/fault.ts";
import type { Identity, Outcome } from "../../ports/identity.ts";
import type { EncodedAnswer, RpcCall, RpcService } from "../../ports/rpc.ts";
import type { Timers } from "../../ports/timers.ts";

export interface InProcessPeersOptions {
  readonly timers: Timers;
  /** Who asks. */
  readonly identity: Identity;
  /** Their proof of a second factor, for the one question that needs it. */
  readonly stepUpProof?: string | undefined;
  /** The service of that name in the protos, if it runs at present. */
  readonly find: (service: string) => RpcService | undefined;
  /** How long an answer may take; default 2 seconds. */
  readonly answerMsMax?: number;
}

export function createInProcessPeers(options: InProcessPeersOptions): Peers {
  return peersOver(askInProcess(options));
}

export function askInProcess(options: InProcessPeersOptions): AskPeer {
  const { timers, identity, stepUpProof, find, answerMsMax = 2_000 } = options;
  async function handle(service: string, name: string, request: object, signal: AbortSignal) {
    const method = methodOf(service, name);
    const handler = find(service)?.handlers[name];
    if (handler === undefined) throw new Fault("SERVICE_UNAVAILABLE", `${service} is not there.`, { retry: "later" });
    const requestBytes = codecOf(method.requestType).encode(request).finish();
    const isGone = (): boolean => signal.aborted;
    const call: RpcCall = { requestId: "peer", identity, stepUpProof, isGone, signal, requestBytes };
    const answer = await handler(codecOf(method.requestType).decode(requestBytes) as never, call);
    if (typeof answer === "object" && answer !== null && "denial" in answer) {
      return { ok: false, denial: (answer as { readonly denial: Denial }).denial } as const;
    }
    const isEncoded = typeof answer === "object" && answer !== null && "encoded" in answer;
    const response = codecOf(method.responseType);
    const bytes = isEncoded ? (answer as EncodedAnswer).encoded : response.encode(answer).finish();
    return { ok: true, value: response.decode(bytes) } as const;
  }

  return (service, method, request) =>
    new Promise<Outcome<unknown>>((resolve, reject) => {
      const patience = new AbortController();
      const cancel = timers.after(answerMsMax, () => {
        patience.abort();
        const sentence = `${service} did not answer within ${answerMsMax} ms.`;
        reject(new Fault("DEADLINE_EXCEEDED", sentence, { retry: "later" }));
      });
      handle(service, method, request, patience.signal).then(resolve, reject).finally(cancel);
    });
}

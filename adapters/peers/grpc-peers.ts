// How the services of one process ask those of others: over their gRPC, with this process's own token. Where a service answers may be known
// only later than this is made, so the channels are opened with the first question after the addresses have changed.
import { Fault } from "../../contracts/src/fault.ts";
import type { Clock } from "../../ports/clock.ts";
import { createRpcClient, type RpcClient } from "../grpc/rpc-client.ts";
import type { PeerSecurity } from "../tls/peer-security.ts";
import { type Peers, peersOver } from "./peers.ts";

/** A check is answered within milliseconds; whoever waits longer asks again with the same key. */
const checkMsMax = 2_000;
/** A halt is confirmed when decisions before it are answered; whoever asks asks again soon. */
const confirmMsMax = 6_000;
/** An order is answered when it is with its broker, or when order management has waited for that long enough. */
const answerMsMax = 10_000;

const timeoutsMs: Readonly<Record<string, number>> = {
  CheckOrder: checkMsMax,
  GetEnvelope: checkMsMax,
  AnnounceHalt: checkMsMax,
  // Treasury holds the fund's books meanwhile.
  ReserveWithdrawal: checkMsMax,
  ConfirmHalts: confirmMsMax,
};

interface GrpcPeersOptions {
  readonly clock: Clock;
  /** What this process shows of itself, now. */
  readonly token: () => string;
  /** How services on other machines are spoken to; in clear text when absent. */
  readonly security?: PeerSecurity | undefined;
  /** Where each service answers, as far as it is known now. */
  readonly targets: () => Readonly<Record<string, string>>;
}

export interface GrpcPeers extends Peers {
  close(): void;
}

export function createGrpcPeers({ clock, token, targets, security }: GrpcPeersOptions): GrpcPeers {
  let client: RpcClient | undefined;
  let opened = "";
  let isClosed = false;

  function channels(): RpcClient {
    if (isClosed) throw new Fault("SERVICE_UNAVAILABLE", "This process is ending.", { retry: "later" });
    const wanted = targets();
    const shape = JSON.stringify(wanted);
    if (client !== undefined && shape === opened) return client;
    client?.close();
    client = createRpcClient({ targets: wanted, clock, security });
    opened = shape;
    return client;
  }

  const peers = peersOver(async (service, method, request) => {
    const timeoutMs = timeoutsMs[method] ?? answerMsMax;
    return channels().call(service, method, request, { bearer: token(), timeoutMs });
  });
  return {
    ...peers,
    close() {
      isClosed = true;
      client?.close();
    },
  };
}

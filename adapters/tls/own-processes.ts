// Over which connections a token of our own processes counts: within this machine, or with a certificate of the installation's authority. A
// token alone, read or taken somewhere, opens nothing from another machine.
import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import { callerOf } from "../listener/caller-key.ts";

export interface OwnProcessRule {
  /** Whether there is an authority for certificates of our own processes. */
  readonly hasAuthority: boolean;
  /** Whether they may come from other machines without a certificate (`rpc.insecure`). */
  readonly isInsecure: boolean;
}

const begin =
  "A token of our own processes counts from another machine only with a certificate of tls.peer_ca_file, and";

/** Why a token of our own processes does not count on this connection; undefined when it does. */
export function objectionToOwn(socket: Socket, isUnixSocket: boolean, rule: OwnProcessRule): string | undefined {
  if (isUnixSocket) return undefined;
  if (socket instanceof TLSSocket && rule.hasAuthority) {
    return socket.authorized ? undefined : `${begin} ${whyNot(socket)}.`;
  }
  if (rule.isInsecure) return undefined;
  // In clear text within this machine; with TLS our own processes here come in over the unix socket.
  if (!(socket instanceof TLSSocket) && callerOf(socket.remoteAddress) === undefined) return undefined;
  return `${begin} this server has none: set tls.peer_ca_file, tls.peer_cert_file and tls.peer_key_file on both machines.`;
}

function whyNot(socket: TLSSocket): string {
  if (socket.getPeerX509Certificate() === undefined) return "this connection shows none";
  const problem = String(socket.authorizationError ?? "");
  if (problem === "CERT_HAS_EXPIRED") return "that of this connection has run out";
  if (problem === "CERT_NOT_YET_VALID") return "that of this connection is not valid yet";
  return `that of this connection does not come from there (${problem})`;
}

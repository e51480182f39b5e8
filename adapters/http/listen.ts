// What HTTP and gRPC share when they begin to listen: one literal address per listener, and a sentence that a person can act
// on when the address cannot be had.
import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { Fault, messageOf } from "../../contracts/src/fault.ts";

/**
 * Connections that may wait at a door to be taken in. One that finds no room even there is tried again by its machine after a second, then after two more, and
 * so on: whoever is honest must not be among a crowd of them.
 */
export const backlogMax = 2_048;

export interface TcpAddress {
  readonly host: string;
  readonly port: number;
}

/**
 * A name is resolved once and its first address is used. Libraries that bind every address of a name call it a success when
 * one of them worked, and a "localhost" that is half taken by another program would then go unnoticed.
 */
export async function resolveHost(host: string): Promise<string> {
  if (isIP(host) !== 0) return host;
  try {
    return (await lookup(host)).address;
  } catch (thrown) {
    throw new Fault("SERVICE_START_FAILED", `The host name "${host}" cannot be resolved: ${messageOf(thrown)}.`, {
      retry: "never",
      facts: { host },
      cause: thrown,
    });
  }
}

/** "127.0.0.1:8080", "[::1]:8080" or the path of a socket. */
export function addressText(address: TcpAddress | { readonly path: string }): string {
  if ("path" in address) return address.path;
  return address.host.includes(":") ? `[${address.host}]:${address.port}` : `${address.host}:${address.port}`;
}

/** Why listening failed, as a fault. `environmentVariable` is what the operator sets to choose another address. */
export function listenFault(thrown: unknown, purpose: string, address: string, environmentVariable: string): Fault {
  const errno = errnoOf(thrown);
  const facts = { address, environment_variable: environmentVariable };
  if (errno === "EADDRINUSE") return portInUse(purpose, address, environmentVariable, thrown);
  const why =
    errno === "EACCES"
      ? "this user may not listen there"
      : errno === "EADDRNOTAVAIL"
        ? "this machine does not have that address"
        : messageOf(thrown);
  return new Fault(
    "SERVICE_START_FAILED",
    `${purpose} cannot listen on ${address}: ${why}. Set ${environmentVariable} to use another address.`,
    { retry: "never", facts, cause: thrown },
  );
}

export function portInUse(purpose: string, address: string, environmentVariable: string, cause?: unknown): Fault {
  return new Fault(
    "PORT_IN_USE",
    `${purpose} cannot listen on ${address}: another program already does. ` +
      `Stop that program or set ${environmentVariable} to use another address.`,
    { retry: "never", facts: { address, environment_variable: environmentVariable }, cause },
  );
}

/** The operating system's name for what went wrong ("EADDRINUSE"), when there is one. */
export function errnoOf(thrown: unknown): string | undefined {
  if (typeof thrown !== "object" || thrown === null || !("code" in thrown)) return undefined;
  return typeof thrown.code === "string" ? thrown.code : undefined;
}

// Agents for tests that are about connections: one that keeps them for the next request, and one that never does. What stands idle for a second is ended
// from this side, long before a server ends it under the next request.
import { Agent } from "node:http";
import { Agent as SecureAgent } from "node:https";

const idleMsMax = 1_000;

/** Destroy it when the test is over. */
export const keptConnections = (connectionsMax = Number.POSITIVE_INFINITY): Agent =>
  new Agent({ keepAlive: true, maxSockets: connectionsMax, timeout: idleMsMax });

export const keptSecureConnections = (connectionsMax = Number.POSITIVE_INFINITY): SecureAgent =>
  new SecureAgent({ keepAlive: true, maxSockets: connectionsMax, timeout: idleMsMax });

/** For one request. */
export const ownConnection = (): Agent => new Agent();

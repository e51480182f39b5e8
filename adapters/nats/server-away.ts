// Whether a NATS server answers at all, before anything is built on it. A server that refuses us, or cannot serve us, is no matter of waiting: whoever
// starts finds that out by itself and says so.
import { AuthorizationError, connect } from "@nats-io/transport-node";
import { Fault, messageOf } from "../../contracts/src/fault.ts";
import type { Log } from "../../ports/log.ts";
import { connectionSettings, parseTarget } from "./connect.ts";
import { loginNameOf, loginPath } from "./login.ts";

export interface ServerAwayOptions {
  readonly url: string;
  readonly credsFile?: string | undefined;
  readonly credsFolder?: string | undefined;
  readonly tlsCaFile?: string | undefined;
  /** The services that run here: the login is one of theirs. */
  readonly services: readonly string[];
  readonly log: Log;
}

const connectMsMax = 3_000;

/** One sentence when nobody answers; undefined when somebody does. */
export async function natsServerAway(options: ServerAwayOptions): Promise<string | undefined> {
  const { url, credsFile, credsFolder, tlsCaFile, services, log } = options;
  const target = parseTarget(url);
  const login = credsFolder === undefined ? credsFile : loginPath(credsFolder, loginNameOf(services));
  try {
    const asking = { url, credsFile: login, tlsCaFile, name: "portcullis start", log };
    const settings = await connectionSettings(asking, target);
    const connection = await connect({ ...settings, reconnect: false, timeout: connectMsMax });
    await connection.close();
    return undefined;
  } catch (thrown) {
    if (thrown instanceof AuthorizationError || thrown instanceof Fault) return undefined;
    return `No NATS server answers at ${target.address}: ${messageOf(thrown)}. Start it, or check PORTCULLIS_BUS_URL.`;
  }
}

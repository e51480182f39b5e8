// Whether the NATS server keeps strangers from speaking on the bus. It is tried, because nothing else tells: without a login, and with this process's own
// login where it has no business. What is published for that is never stored (it names a stream that does not exist), and every reader ignores it.
//
//  1. Asked again after every reconnect, because another server may answer; while nobody can say, the server counts as open.
//  2. In production a server that is open ends the start, and turns health red when it is met later; in development it is reported. In both, money is
//     believed then only with its row in the outbox.
import {
  AuthorizationError,
  connect,
  headers,
  type NatsConnection,
  PermissionViolationError,
} from "@nats-io/transport-node";
import { Fault, messageOf } from "../../contracts/src/fault.ts";
import { everySubject } from "../../contracts/src/subjects.ts";
import type { BusHealth } from "../../ports/bus.ts";
import type { Log } from "../../ports/log.ts";
import { connectionSettings, type NatsConnectOptions, type NatsLink, parseTarget } from "./connect.ts";
import { conflatedName, ownName, probeSubject } from "./wire.ts";

export interface Guard {
  /** Whether whoever published was let in by the server under a name that may. */
  isClosed(): Promise<boolean>;
  /** Whether this process may publish prices where nobody else may: one that publishes none may not, nor does a server with permissions of before. */
  mayPublishOwn(): boolean;
  /** What the newest trial found: whoever asks for health has a server tried that was not tried yet. */
  health(): Pick<BusHealth, "complaint" | "note">;
}

export interface GuardOptions {
  readonly link: NatsLink;
  readonly connecting: NatsConnectOptions;
  /** Whose login this process has. */
  readonly login: string;
  readonly production: boolean;
  readonly log: Log;
}

const probeMsMax = 3_000;
/** Whose prices they are, also those that come over gRPC. */
const priceLogin = "operations";
const whatToDo = "Give every service a login of its own (docs/nats.md), and let the server take nobody without one.";

export async function createGuard(options: GuardOptions): Promise<Guard> {
  const { link, log } = options;
  let connection: AbortSignal | undefined;
  let complaint: string | undefined;
  let lacking: string | undefined;
  let mayPublishOwn = false;
  let asking: Promise<void> | undefined;

  async function ask(): Promise<void> {
    const asked = link.lost();
    const found = await openings(options);
    if (options.login === priceLogin) {
      lacking = await ownPricesRefused(options);
      mayPublishOwn = lacking === undefined;
      if (lacking !== undefined) log.warn("the NATS server has permissions of before", { note: lacking });
    }
    if (found !== undefined && found !== complaint) log.warn("the NATS server is open", { complaint: found });
    [connection, complaint] = [asked, found];
  }

  function askOnce(): Promise<void> {
    asking ??= ask().finally(() => {
      asking = undefined;
    });
    return asking;
  }

  await ask();
  if (complaint !== undefined && options.production) {
    throw new Fault("BUS_UNSUPPORTED", complaint, { retry: "never", facts: { feature: "permissions" } });
  }
  return {
    async isClosed() {
      if (connection !== link.lost()) await askOnce();
      return connection === link.lost() && complaint === undefined;
    },
    mayPublishOwn: () => mayPublishOwn,
    health() {
      if (connection !== link.lost() && link.health().connected) {
        askOnce().catch((thrown: unknown) =>
          log.warn("the NATS server could not be tried", { error: messageOf(thrown) }),
        );
      }
      if (complaint === undefined) return lacking === undefined ? {} : { note: lacking };
      return options.production ? { complaint } : { note: complaint };
    },
  };
}

/** In one sentence, what anybody could do there; undefined when it lets nobody. */
async function openings({ connecting, login }: GuardOptions): Promise<string | undefined> {
  const stranger = await openToStrangers(connecting);
  if (stranger !== undefined) return stranger;
  const settings = await connectionSettings(connecting, parseTarget(connecting.url));
  // Operations relays for everybody; what it has no business with is a price that does not exist.
  const subject = login === "operations" ? conflatedName(probeSubject) : probeSubject;
  const found = await tried(() => connect({ ...settings, reconnect: false, timeout: probeMsMax }), subject);
  if (found === "refused") return undefined;
  if (found !== "published")
    return `Whether NATS lets ${login} publish what is not its own could not be tried: ${found}`;
  return `NATS lets the login of ${login} publish ${subject}, which is not its business: its permissions are not kept. ${whatToDo}`;
}

/** In one sentence, why prices of ours can only be published where a feed of somebody else's may publish as well. */
async function ownPricesRefused({ connecting }: GuardOptions): Promise<string | undefined> {
  const settings = await connectionSettings(connecting, parseTarget(connecting.url));
  const subject = ownName(probeSubject);
  const found = await tried(() => connect({ ...settings, reconnect: false, timeout: probeMsMax }), subject);
  if (found === "published") return undefined;
  return `NATS does not let ${priceLogin} publish ${ownName(everySubject)}: give the server the permissions of this version (docs/nats.md) before a token names a login, or prices of ours and those over gRPC count nowhere from then on.`;
}

/** The same of everybody who can reach the server, without a login; every server of the list is tried. */
export async function openToStrangers(
  options: Pick<NatsConnectOptions, "url" | "tlsCaFile">,
): Promise<string | undefined> {
  const { url, tlsCaFile } = options;
  const target = parseTarget(url);
  const { tls } = await connectionSettings({ url, tlsCaFile }, { ...target, credentials: {} });
  for (const server of target.servers) {
    const strange = { servers: server, name: "portcullis probe", reconnect: false, timeout: probeMsMax };
    const found = await tried(() => connect({ ...strange, ...(tls !== undefined && { tls }) }), probeSubject);
    if (found === "refused") continue;
    if (found !== "published") return `Whether NATS at ${server} takes in strangers could not be tried: ${found}`;
    return `NATS at ${server} lets anybody publish without a login. ${whatToDo}`;
  }
  return undefined;
}

/** "published", "refused", or why it could not be tried. */
async function tried(open: () => Promise<NatsConnection>, subject: string): Promise<string> {
  try {
    const connection = await open();
    return (await mayPublish(connection, subject)) ? "published" : "refused";
  } catch (thrown) {
    return thrown instanceof AuthorizationError ? "refused" : `${messageOf(thrown)}.`;
  }
}

async function mayPublish(connection: NatsConnection, subject: string): Promise<boolean> {
  let isRefused = false;
  const watching = (async () => {
    for await (const status of connection.status()) {
      if (status.type === "error" && status.error instanceof PermissionViolationError) isRefused = true;
    }
  })();
  try {
    const marked = headers();
    marked.set("Nats-Expected-Stream", "PORTCULLIS_PROBE");
    connection.publish(subject, "", { headers: marked });
    // The server refuses what is not permitted before it answers what was sent behind it.
    await connection.flush();
  } finally {
    await connection.close();
    await watching;
  }
  return !isRefused;
}

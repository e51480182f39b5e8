// The login of a process on NATS, from a file: what `nsc` writes (a JWT and its seed), the seed of an nkey alone, or one line
// `user:password`. Which it is, the file says itself. It is read again at every reconnect, so that a renewed login counts
// without a restart; nothing of it ever appears in a message.
import { join } from "node:path";
import {
  type Authenticator,
  credsAuthenticator,
  nkeyAuthenticator,
  usernamePasswordAuthenticator,
} from "@nats-io/transport-node";
import { Fault, messageOf } from "../../contracts/src/fault.ts";
import type { Log } from "../../ports/log.ts";
import { readPrivateFile } from "../system/private-file.ts";

/**
 * Whose login a process uses: its service's. One that runs several has one connection all the same, and takes that of
 * operations if it is among them, because that one relays for all.
 */
export function loginNameOf(services: readonly string[]): string {
  const name = services.includes("operations") ? "operations" : services[0];
  return name ?? "operations";
}

/** The file of a service's login in the folder that holds one per service. */
export function loginPath(folder: string, name: string): string {
  return join(folder, `${name}.creds`);
}

/** Rejects a file that is missing, malformed or open to others at once; later ones only cost a line in the log. */
export function loginFromFile(path: string, log: Log): Authenticator {
  let current = readLogin(path);
  return (nonce) => {
    try {
      current = readLogin(path);
    } catch (thrown) {
      log.warn("the NATS login could not be read again; the one from before is used", { reason: messageOf(thrown) });
    }
    return current(nonce);
  };
}

function readLogin(path: string): Authenticator {
  const login = authenticatorOf(readPrivateFile(path, "The NATS credentials file", "INVALID_ARGUMENT"));
  if (login === undefined) {
    const forms = "a JWT and its seed as nsc writes them, the seed of an nkey, or one line user:password";
    throw refused(`The NATS credentials file ${path} holds none of these: ${forms}.`);
  }
  return login;
}

function authenticatorOf(text: string): Authenticator | undefined {
  const line = text.trim();
  const login = /^-+BEGIN NATS USER JWT/m.test(text)
    ? credsAuthenticator(new TextEncoder().encode(text))
    : /^SU[A-Z2-7]{56}$/.test(line)
      ? nkeyAuthenticator(new TextEncoder().encode(line))
      : passwordLogin(line);
  return login !== undefined && isUsable(login) ? login : undefined;
}

function passwordLogin(line: string): Authenticator | undefined {
  const [, user, password] = /^([^\s:]+):(\S+)$/.exec(line) ?? [];
  return user === undefined || password === undefined ? undefined : usernamePasswordAuthenticator(user, password);
}

/** A key that cannot sign is found now and not in the middle of a connection. */
function isUsable(login: Authenticator): boolean {
  try {
    login("nonce");
    return true;
  } catch {
    // What the library says might repeat what it read; that it is unusable is all there is to tell.
    return false;
  }
}

function refused(sentence: string): Fault {
  return new Fault("INVALID_ARGUMENT", sentence, { retry: "never" });
}

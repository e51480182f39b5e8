// A login at Vault that stays valid: the token is renewed when two thirds of its lease are over; when it cannot be renewed any
// further, AppRole credentials log in anew, and a plain token is used until Vault refuses it.
import { Fault, messageOf } from "../../contracts/src/fault.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";
import type { CancelTimer, Timers } from "../../ports/timers.ts";
import { field, textField } from "./vault-answer.ts";
import { checkHeaderValue, unavailable, type VaultAnswer, type VaultHttp, type VaultRequest } from "./vault-http.ts";

export type VaultLogin =
  | { readonly kind: "token"; readonly token: string }
  | { readonly kind: "approle"; readonly roleId: string; readonly secretId: string };

export interface SessionPorts {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
}

export interface VaultSession {
  /** The answer to a request made with the token; SECRETS_FORBIDDEN when Vault refuses it even after a new login. */
  call(request: Omit<VaultRequest, "token">): Promise<VaultAnswer>;
  close(): Promise<void>;
}

interface Lease {
  readonly token: string;
  /** What was granted at login; 0 is a token that never ends. */
  readonly grantedMs: number;
  readonly endsAtUs: number;
  readonly isRenewable: boolean;
}

const renewalMsMax = 24 * 3600 * 1000;
const renewalMsMin = 1_000;

function forbidden(message: string, path: string): Fault {
  return new Fault("SECRETS_FORBIDDEN", message, { retry: "never", facts: { path } });
}

/** The lease in the `auth` part of an answer to a login or a renewal; undefined when it is not there. */
function leaseOf(part: unknown, secondsName: string, token: string | undefined, nowUs: number): Lease | undefined {
  const seconds = field(part, secondsName);
  if (token === undefined || typeof seconds !== "number") return undefined;
  const isRenewable = field(part, "renewable") === true;
  return { token, grantedMs: seconds * 1000, endsAtUs: nowUs + seconds * 1e6, isRenewable };
}

export async function openVaultSession(login: VaultLogin, http: VaultHttp, ports: SessionPorts): Promise<VaultSession> {
  const { clock, timers, log } = ports;
  let cancelRenewal: CancelTimer = () => undefined;
  let pendingLogin: Promise<Lease> | undefined;
  let closed = false;
  let lease = await logIn();
  schedule();

  async function askForLease(): Promise<Lease> {
    if (login.kind === "token") {
      const path = "auth/token/lookup-self";
      const token = checkHeaderValue("Vault's token", login.token);
      const { status, body } = await http.call({ method: "GET", path, token });
      if (status === 403) throw forbidden("Vault refuses this token.", path);
      const found = status === 200 ? leaseOf(field(body, "data"), "ttl", token, clock.now()) : undefined;
      if (found === undefined) throw unavailable("Vault's answer makes no sense.", "never", { status, path });
      return found;
    }
    const path = "auth/approle/login";
    const credentials = { role_id: login.roleId, secret_id: login.secretId };
    const { status, body } = await http.call({ method: "POST", path, body: credentials });
    if (status === 400 || status === 403) throw forbidden("Vault refuses this role id and secret id.", path);
    const auth = field(body, "auth");
    const token = textField(auth, "client_token");
    const given = token === undefined ? undefined : checkHeaderValue("The token from Vault", token);
    const granted = status === 200 ? leaseOf(auth, "lease_duration", given, clock.now()) : undefined;
    if (granted === undefined) throw unavailable("Vault's answer makes no sense.", "never", { status, path });
    log.info("Logged in to Vault", { leaseMs: granted.grantedMs, renewable: granted.isRenewable });
    return granted;
  }

  /** However many callers need a login at once, there is one. */
  function logIn(): Promise<Lease> {
    pendingLogin ??= askForLease().finally(() => {
      pendingLogin = undefined;
    });
    return pendingLogin;
  }

  async function logInAnew(): Promise<void> {
    lease = await logIn();
    schedule();
  }

  function leftMs(): number {
    return (lease.endsAtUs - clock.now()) / 1000;
  }

  function schedule(delayMs = (leftMs() * 2) / 3): void {
    cancelRenewal();
    if (closed || lease.grantedMs === 0) return;
    const boundedMs = Math.min(Math.max(delayMs, renewalMsMin), renewalMsMax);
    cancelRenewal = timers.after(boundedMs, () => {
      renew().catch(renewalFailed);
    });
  }

  /** Called when no renewal came through: there is time for another try as long as the lease runs. */
  function renewalFailed(thrown: unknown): void {
    if (closed) return;
    log.warn("Vault's lease could not be renewed", { reason: messageOf(thrown), leftMs: Math.round(leftMs()) });
    const isFinal = thrown instanceof Fault && thrown.retry === "never";
    if (!isFinal && leftMs() > 0) schedule(leftMs() / 4);
  }

  async function renew(): Promise<void> {
    const { grantedMs, isRenewable, token } = lease;
    if (isRenewable) {
      const answer = await http.call({ method: "POST", path: "auth/token/renew-self", token, body: {} });
      const renewed =
        answer.status === 200 ? leaseOf(field(answer.body, "auth"), "lease_duration", token, clock.now()) : undefined;
      // Somebody logged in anew while this was under way; the old token is of no interest any more.
      if (lease.token !== token) return;
      // Near its greatest age a token is renewed for less and less; a new login comes before that ends.
      const isShrinking = renewed === undefined || renewed.grantedMs < grantedMs / 2;
      if (renewed !== undefined) lease = { ...renewed, grantedMs };
      if (!isShrinking) {
        log.debug("Renewed Vault's lease", { leaseMs: renewed.grantedMs });
        schedule();
        return;
      }
    }
    if (login.kind === "approle") return logInAnew();
    log.error("The Vault token cannot be renewed any further; give the platform a new one before it ends", {
      leftMs: Math.round(leftMs()),
    });
  }

  return {
    async call(request) {
      if (login.kind === "approle" && lease.grantedMs !== 0 && leftMs() <= 0) await logInAnew();
      const used = lease.token;
      const answer = await http.call({ ...request, token: used });
      if (answer.status !== 403) return answer;
      if (login.kind === "approle") {
        if (lease.token === used) await logInAnew();
        const second = await http.call({ ...request, token: lease.token });
        if (second.status !== 403) return { ...second, isRepeated: answer.isRepeated || second.isRepeated };
      }
      throw forbidden(
        `Vault forbids ${request.path}: the token has ended or its policy does not allow it.`,
        request.path,
      );
    },
    async close() {
      if (closed) return;
      closed = true;
      cancelRenewal();
      if (login.kind !== "approle") return;
      // A token that we asked for is given back; when that fails it ends by itself.
      const request = { method: "POST", path: "auth/token/revoke-self", token: lease.token, body: {} } as const;
      await http.call(request).catch((thrown: unknown) => {
        log.warn("Vault's token could not be given back", { reason: messageOf(thrown) });
      });
    },
  };
}

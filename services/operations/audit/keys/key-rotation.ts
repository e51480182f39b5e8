// Gives the log another key, and takes one away. Each step is durable before the next one begins, so that whoever starts after a crash finds out
// how far it came and goes on from there:
//
//  1. The next key is kept in the secret, beside the one that signs. Nobody trusts it yet; after a crash here it is forgotten again.
//  2. `key.rotated` becomes an entry. After a crash here the handover is the first thing that is signed.
//  3. The handover is signed by both keys and stored. After a crash here the secret is changed at the start.
//  4. The secret says that the next key is the one that signs, from that size on, and the old key's seed is gone.
//
// The same command given again goes on with the next key that is kept: a rotation stands in the log at most once for each.
import { Fault } from "../../../../contracts/src/fault.ts";
import { type KeyRing, revokedAction, rotatedAction } from "../../../../core/audit/key-ring.ts";
import type { AppendRequest } from "../log/append-request.ts";
import type { Checkpoints, Handover } from "../log/checkpoints.ts";
import { invalid } from "../log/reserved.ts";
import type { Restored } from "../log/restore.ts";
import type { Appended } from "../log/sequencer.ts";
import { unknownNext } from "./reported-keys.ts";
import {
  dropNextKey,
  type KeptTerm,
  type KeyPorts,
  keepNextKey,
  keysMax,
  type LogKey,
  markRevoked,
  promoteNextKey,
  ringOf,
} from "./signing-key.ts";

export interface SettledKey {
  /** Undefined when there is none that may sign. */
  readonly key: LogKey | undefined;
  readonly handover: Handover | undefined;
  /** Why nothing is signed, in one sentence. */
  readonly complaint: string | undefined;
}

/** Brings a rotation that a crash cut off to where the log says it came. The log must have been found whole. */
export async function settleKey(ports: KeyPorts, key: LogKey, restored: Restored): Promise<SettledKey> {
  const { rotation, handedOver, last } = restored;
  if (restored.keyComplaint !== undefined) {
    return { key: undefined, handover: undefined, complaint: restored.keyComplaint };
  }
  const settled = (now: LogKey, handover?: Handover): SettledKey => ({ key: now, handover, complaint: undefined });
  if (handedOver) return settled(await promoteNextKey(ports, last?.size ?? 0));
  if (rotation === undefined) return settled(key.next === undefined ? key : await dropNextKey(ports));
  const { next } = key;
  if (next?.key.vkey === rotation.newKey.vkey) return settled(key, { ...rotation.head, next });
  return { key: undefined, handover: undefined, complaint: unknownNext(ports, rotation) };
}

export interface KeyChangeDone {
  readonly sequence: number;
  /** The key that signs now. */
  readonly key: string;
  /** The key that was rotated away or revoked. */
  readonly oldKey: string;
  /** Up to which size the old key's checkpoints count. */
  readonly trustedSize: number;
}

export interface KeyKeeper {
  /** The keys that the log ever signed with; the last one signs. */
  terms(): readonly KeptTerm[];
  ring(): KeyRing | undefined;
  /** Step 4, asked for by whoever stored the handover. */
  promote(handoverSize: number): Promise<LogKey>;
  rotate(actor: string): Promise<KeyChangeDone>;
  /** Of the key that signs now it is a rotation first. */
  revoke(actor: string, keyId: string): Promise<KeyChangeDone>;
}

interface KeyKeeperOptions {
  readonly ports: KeyPorts;
  /** The one that is kept, whether it may sign or not. */
  readonly key: LogKey | undefined;
  /** Why none may sign or be changed. */
  readonly complaint: string | undefined;
  readonly append: (request: AppendRequest) => Promise<Appended>;
  readonly checkpoints: () => Pick<Checkpoints, "expectRotation" | "flush" | "complaint">;
}

export function createKeyKeeper(options: KeyKeeperOptions): KeyKeeper {
  const { ports, append, checkpoints } = options;
  let { key } = options;
  let isBusy = false;

  /** One change at a time: two rotations at once would leave a key that was announced nowhere. */
  async function alone<Value>(work: () => Promise<Value>): Promise<Value> {
    if (isBusy) throw new Fault("RESOURCE_EXHAUSTED", "A key of the audit log is being changed.", { retry: "later" });
    isBusy = true;
    try {
      return await work();
    } finally {
      isBusy = false;
    }
  }

  function mustHaveKey(): LogKey {
    if (key !== undefined && options.complaint === undefined) return key;
    const sentence = options.complaint ?? `There is no key of the audit log (${ports.path}).`;
    throw new Fault("SERVICE_UNAVAILABLE", sentence, { retry: "later" });
  }

  async function rotate(actor: string): Promise<KeyChangeDone> {
    const old = mustHaveKey();
    if (old.terms.length >= keysMax) throw invalid(`This log has had ${keysMax} keys, as many as one may have.`);
    const { next } = await keepNextKey(ports);
    checkpoints().expectRotation(next);
    const { sequence } = await append({
      eventId: `${rotatedAction}/${next.key.id}`,
      actor,
      action: rotatedAction,
      subjectId: next.key.id,
      data: { new_key: next.key.vkey, old_key: old.key.vkey },
    });
    await checkpoints().flush();
    if (key?.key.vkey !== next.key.vkey) throw notHandedOver(sequence, checkpoints().complaint());
    return { sequence, key: next.key.vkey, oldKey: old.key.vkey, trustedSize: sequence + 1 };
  }

  async function revoke(actor: string, keyId: string): Promise<KeyChangeDone> {
    const found = mustHaveKey().terms.find((term) => term.key.id === keyId);
    if (found === undefined) throw unknownKey(keyId, mustHaveKey());
    const isCurrent = found.key.vkey === key?.key.vkey;
    const trustedSize = isCurrent ? (await rotate(actor)).trustedSize : found.toSize;
    const { sequence } = await append({
      eventId: `${revokedAction}/${keyId}`,
      actor,
      action: revokedAction,
      subjectId: keyId,
      data: { key: found.key.vkey, trusted_size: trustedSize },
    });
    key = await markRevoked(ports, found.key.vkey, trustedSize);
    return { sequence, key: key.key.vkey, oldKey: found.key.vkey, trustedSize };
  }

  return {
    terms: () => key?.terms ?? [],
    ring: () => (key === undefined ? undefined : ringOf(key)),
    async promote(handoverSize) {
      key = await promoteNextKey(ports, handoverSize);
      return key;
    },
    rotate: (actor) => alone(() => rotate(actor)),
    revoke: (actor, keyId) => alone(() => revoke(actor, keyId)),
  };
}

function notHandedOver(sequence: number, complaint: string | undefined): Fault {
  return new Fault(
    "SERVICE_UNAVAILABLE",
    `The rotation is entry ${sequence}, and its handover is not signed yet: ${complaint ?? "no reason was given"} It is tried again by itself; \`ctl operations audit status\` shows the key that signs.`,
    { retry: "later" },
  );
}

function unknownKey(keyId: string, { terms }: LogKey): Fault {
  const known = terms.map(({ key }) => key.id).join(", ");
  return new Fault("NOT_FOUND", `The audit log has no key ${JSON.stringify(keyId.slice(0, 64))}; it has ${known}.`, {
    retry: "never",
  });
}

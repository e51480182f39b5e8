// What the tests of this folder share: a store on a test's own database with a clock that is set by hand, and a way to read
// everything that was written, as its owner.

import { createSealing, type Sealing } from "../../adapters/identity/sealing.ts";
import { type DatabaseAddress, openPool } from "../../adapters/postgres/connection.ts";
import { createPostgresStore, type PostgresStore } from "../../adapters/postgres/store.ts";
import { unauditedChange, unitsOfWork } from "../../adapters/records/state-changes.ts";
import { systemRandom } from "../../adapters/system/random.ts";
import { systemTimers } from "../../adapters/system/timers.ts";
import type { Role } from "../../contracts/src/authority.ts";
import { fromMicroseconds, type Instant, plusMilliseconds } from "../../contracts/src/instant.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Identity } from "../../ports/identity.ts";
import type { Log } from "../../ports/log.ts";

export interface HandClock extends Clock {
  pass(ms: number): void;
}

export interface RecordedEvent {
  readonly subject: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

export interface IdentityFixture {
  readonly clock: HandClock;
  readonly store: PostgresStore;
  readonly sealing: Sealing;
  /** Another process's store, on connections of its own. */
  another(): PostgresStore;
  /** As the owner of the schema. */
  rows(text: string, values?: readonly unknown[]): Promise<readonly Readonly<Record<string, unknown>>[]>;
  events(): Promise<readonly RecordedEvent[]>;
  /** Every row of every table as one text, bytes as hexadecimal and as the text that they may be. */
  dump(): Promise<string>;
  close(): Promise<void>;
}

/** A step begins here, so that tests know how much of it is left. */
export const testStart: Instant = fromMicroseconds(1_794_000_000_000_000);

export function handClock(): HandClock {
  let now = testStart;
  return {
    now: () => now,
    pass(ms) {
      now = plusMilliseconds(now, ms);
    },
  };
}

export const quiet: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  with: () => quiet,
};

export function person(name: string, issuer = "http://127.0.0.1:8080/oidc"): Identity {
  return {
    kind: "operator",
    actor: `operator:${name}`,
    name,
    subject: `${issuer}|${name}`,
    issuer,
    roles: ["operator", "admin"],
    tokenId: `jti-${name}`,
    sessionId: `session-${name}`,
    issuedAt: testStart,
    expiresAt: plusMilliseconds(testStart, 300_000),
  };
}

/** A real person of the embedded provider, as an administrator would make one. */
export async function putOperator(
  fixture: Pick<IdentityFixture, "rows">,
  {
    name,
    passwordHash,
    roles,
  }: { readonly name: string; readonly passwordHash: string; readonly roles: readonly Role[] },
): Promise<void> {
  await fixture.rows(
    "insert into operator (name, password_hash, roles, development, created_us) values ($1, $2, $3, false, 0)",
    [name, passwordHash, roles],
  );
}

const tables = [
  "identity_revocation",
  "operator",
  "second_factor",
  "recovery_code",
  "step_up_proof",
  "service_token",
  "oidc_state",
  "outbox",
] as const;

export function openIdentityFixture(address: DatabaseAddress): IdentityFixture {
  const clock = handClock();
  const random = systemRandom();
  const owner = openPool(address.owner, { log: quiet, applicationName: "identity fixture owner", sizeMax: 1 });
  const closes: (() => Promise<void>)[] = [() => owner.end()];

  function openStore(): PostgresStore {
    const pool = openPool(address.app, { log: quiet, applicationName: "identity fixture", sizeMax: 5 });
    const store = createPostgresStore({
      pool,
      clock,
      random,
      timers: systemTimers(),
      log: quiet,
      metrics: {
        counter: () => ({ add: () => undefined }),
        gauge: () => ({ set: () => undefined }),
        histogram: () => ({ observe: () => undefined }),
      },
      tracer: { span: (_name, _fields, work) => work() },
      source: "gateway",
      // Tests set scenes in units of their own; the platform's own must tell.
      unauditedChange: (unit, ...rest) =>
        Object.hasOwn(unitsOfWork, unit) ? unauditedChange(unit, ...rest) : undefined,
      wake: { poke: () => undefined },
    });
    closes.unshift(async () => {
      await store.close();
      await pool.end();
    });
    return store;
  }

  const rows: IdentityFixture["rows"] = async (text, values = []) => (await owner.query(text, [...values])).rows;
  return {
    clock,
    store: openStore(),
    sealing: createSealing(random.bytes(32), random),
    another: openStore,
    rows,
    async events() {
      const found = await rows("select subject, convert_from(payload, 'UTF8') as text from outbox order by id");
      return found.map((row) => ({ subject: String(row["subject"]), payload: JSON.parse(String(row["text"])) }));
    },
    async dump() {
      const parts: string[] = [];
      for (const table of tables) {
        for (const row of await rows(`select * from ${table}`)) {
          parts.push(
            `${table} ${JSON.stringify(row, (_key, value: unknown) => value)}`,
            ...Object.values(row).flatMap((value) =>
              Buffer.isBuffer(value) ? [value.toString("latin1"), value.toString("base64url")] : [],
            ),
          );
        }
      }
      return parts.join("\n");
    },
    async close() {
      for (const close of closes) await close();
    },
  };
}

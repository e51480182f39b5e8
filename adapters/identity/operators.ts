// The people of the embedded provider: a name, a password hash and roles.
//
//  1. An answer takes as long for a name that nobody has as for a wrong password.
//  2. Every wrong password for somebody who exists is an event; too many from one address for one name are refused without looking.
//  3. Wrong passwords for names that nobody has are a sample, twenty a minute, and a count: whoever invents names cannot make the record grow at
//     will. What is not recorded takes as long as what is (1).
//  4. A name that nobody has stands nowhere as it was typed: it may be a password in the wrong field. Records carry a pseudonym of it, the same for the
//     same text.
import { isRole } from "../../contracts/src/authority.ts";
import { format, millisecondsBetween } from "../../contracts/src/instant.ts";
import { idText } from "../../contracts/src/records/fields.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Random } from "../../ports/random.ts";
import type { Timers } from "../../ports/timers.ts";
import { attemptWindow } from "../listener/attempt-window.ts";
import type { PostgresStore } from "../postgres/store.ts";
import type { People, Person } from "./embedded/options.ts";
import type { PasswordHashing } from "./password-hashing.ts";
import type { Sealing } from "./sealing.ts";
import { createWrongPasswords } from "./wrong-passwords.ts";

interface OperatorsOptions {
  readonly store: PostgresStore;
  readonly clock: Clock;
  readonly timers: Pick<Timers, "sleep">;
  readonly random: Random;
  readonly hashing: PasswordHashing;
  readonly sealing: Pick<Sealing, "pseudonym">;
}

interface OperatorRow {
  readonly name: string;
  readonly roles: readonly string[];
  readonly password_hash: string;
  readonly disabled: boolean;
}

/** A refused attempt has left its event when it is answered; a login's own event is its owner's. */
export function createOperators(options: OperatorsOptions): People {
  const { store, clock, hashing, sealing } = options;
  const wrongPasswords = createWrongPasswords(clock);
  const invented = attemptWindow(clock);
  const pace = recordingPace(options);
  let nobodysHash: Promise<string> | undefined;

  /** The hash of a password that nobody knows, to verify against when there is no such person. */
  function hashOfNobody(): Promise<string> {
    nobodysHash ??= hashing.hash(Buffer.from(options.random.bytes(32)).toString("base64url")).catch((thrown) => {
      nobodysHash = undefined;
      throw thrown;
    });
    return nobodysHash;
  }

  async function findRow(name: string): Promise<OperatorRow | undefined> {
    // What is not a name is asked of nobody; the database would refuse some of it.
    if (!idText.safeParse(name).success) return undefined;
    return store.transactSql("identity.operator_find", async (_unit, sql) => {
      const found = await sql.read({
        name: "operator_find",
        text: "select name, roles, password_hash, disabled_us is not null as disabled from operator where name = $1",
        values: [name],
      });
      return found.rows[0];
    });
  }

  async function tellRefused(principal: string, remoteAddress: string, more: number): Promise<void> {
    const address = lineOf(remoteAddress);
    await store.transact("identity.session_refused", async ({ events }) => {
      await events.publish(subjects.sessionRefused, {
        principal,
        method: "password",
        code: "UNAUTHENTICATED",
        ...(address === "" ? {} : { remote_address: address }),
        ...(more === 0
          ? {}
          : { reason: `${more} more for names that nobody has were refused before and not recorded.` }),
        at: format(clock.now()),
      });
    });
  }

  return {
    async authenticate(name, password, remoteAddress) {
      // Counted before it is looked at, so that a hundred at once are not a hundred tries.
      const retryAfterS = wrongPasswords.begin(name, remoteAddress);
      if (retryAfterS !== undefined) return { ok: false, code: "RESOURCE_EXHAUSTED", retryAfterS };
      const nobody = await hashOfNobody();
      const row = await findRow(name);
      const isRight = await hashing.verify(row?.password_hash ?? nobody, password, remoteAddress);
      // Whoever is disabled hears what everybody hears who may not: a right password is no news to give away.
      if (row === undefined || row.disabled || !isRight) {
        const more = row === undefined ? invented.admit() : 0;
        const principal = `operator:${row?.name ?? `unknown-${sealing.pseudonym(name)}`}`;
        if (more === undefined) await pace.wait();
        else await pace.measured(() => tellRefused(principal, remoteAddress, more));
        return { ok: false, code: "UNAUTHENTICATED" };
      }
      wrongPasswords.forget(name, remoteAddress);
      return { ok: true, ...personOf(row) };
    },

    async find(name) {
      const row = await findRow(name);
      return row === undefined || row.disabled ? undefined : personOf(row);
    },
  };
}

const tellsRemembered = 16;

/** How long it lately took to record an attempt, so that one that is not recorded can take as long. */
function recordingPace({ clock, timers, random }: Pick<OperatorsOptions, "clock" | "timers" | "random">) {
  const lately: number[] = [];
  return {
    measured: async (record: () => Promise<void>): Promise<void> => {
      const began = clock.now();
      await record();
      lately.push(Math.max(0, millisecondsBetween(began, clock.now())));
      if (lately.length > tellsRemembered) lately.shift();
    },
    wait: async (): Promise<void> => {
      const [drawn = 0] = random.bytes(1);
      await timers.sleep(lately[drawn % Math.max(1, lately.length)] ?? 0);
    },
  };
}

function personOf({ name, roles }: OperatorRow): Person {
  return { name, roles: roles.filter(isRole) };
}

/** What a listener saw, as one line that a record can carry. */
function lineOf(text: string): string {
  return text.slice(0, 200).replaceAll(/[\p{Cc}\u2028\u2029\p{Surrogate}]/gu, "?");
}

// The command on the data folder: makes the first two admins of the embedded provider, and one again when fewer than two can sign. Whoever may run it
// holds the folder, and with it everything; so it asks for no second person, and the record says that it was used, and by which account of the machine.
import type { Denial } from "../../../contracts/src/codes.ts";
import { isActiveAdmin, judgeLocalAdmin } from "../../../core/identity/identity-rules.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { Random } from "../../../ports/random.ts";
import type { PostgresStore } from "../../postgres/store.ts";
import type { Sql } from "../../postgres/store-transaction.ts";
import { newRecoveryCode } from "../one-time-codes.ts";
import type { PasswordHashing } from "../password-hashing.ts";
import { localCommandName } from "../service-tokens.ts";
import { lockPeople } from "./operator-rows.ts";
import { createPeopleChanges } from "./people-changes.ts";

interface LocalAdminOptions {
  readonly store: PostgresStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly hashing: PasswordHashing;
  /** How long a login can last: `identity.session_s`. */
  readonly sessionS: number;
  /** Of the machine. */
  readonly account: string;
}

type LocalAdmin =
  | {
      readonly ok: true;
      readonly password: string /** The other ones who can sign. */;
      readonly others: readonly string[];
    }
  | { readonly ok: false; readonly denial: Denial };

const nameForm = /^[a-z0-9][a-z0-9._-]{0,63}$/;

/** Somebody of that name gets a new password, loses the second factor, and is an admin besides what they were. */
export async function makeLocalAdmin(options: LocalAdminOptions, name: string): Promise<LocalAdmin> {
  const { store, clock, random, hashing } = options;
  if (!nameForm.test(name)) {
    const reason = `A name has up to 64 lower-case letters, digits and . _ -, unlike ${JSON.stringify(name.slice(0, 80))}.`;
    return { ok: false, denial: { code: "OPERATOR_UNKNOWN", reason } };
  }
  const password = `${newRecoveryCode(random)}-${newRecoveryCode(random)}`;
  const passwordHash = await hashing.hash(password);
  return store.transactSql("identity.local_admin", async ({ events }, sql): Promise<LocalAdmin> => {
    const people = await lockPeople(sql);
    const denial = judgeLocalAdmin(name, people);
    if (denial !== undefined) return { ok: false, denial };
    const issuer = await announcedIssuer(sql);
    const changes = createPeopleChanges({ issuer: () => issuer, sessionS: options.sessionS });
    const before = people.find((person) => person.name === name);
    const roles = before === undefined || before.isDisabled ? ["admin"] : [...new Set([...before.roles, "admin"])];
    const actor = `service:${localCommandName}`;
    const reason = `Made on the data folder by the account ${options.account}.`;
    const it = { sql, events, at: clock.now(), actor, subject: actor, reason };
    await changes.add(it, { name, roles, passwordHash }, people);
    const others = people.filter((one) => isActiveAdmin(one) && !one.isDevelopment && one.name !== name);
    return { ok: true, password, others: others.map((one) => one.name) };
  });
}

/** As the gateway last announced it; before its first start nobody has logged in. */
async function announcedIssuer(sql: Sql): Promise<string> {
  const found = await sql.read({ text: "select issuer from identity_issuer" });
  return found.rows[0]?.issuer ?? "";
}

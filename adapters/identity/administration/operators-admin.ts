// The people of the embedded provider, as an admin changes them.
//
//  1. A change is judged with every person locked, redeems the proof of the second factor and is done, or requested, in one transaction: of two
//     admins who disable each other the first one wins, and the other one is refused.
//  2. In production whatever creates power is only requested here; a second admin signs it (cosign-requests.ts).
//  3. The first password of a new person has two halves where it takes two admins: the admin who asks is told the first, the one who signs the second,
//     so that neither can log in as the person whom they made.
import {
  changeNeedsTwo,
  judgeAdmin,
  judgeChange,
  type People,
  type PersonChange,
} from "../../../core/identity/identity-rules.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { NamedAction, Outcome, Requested } from "../../../ports/identity.ts";
import type { AskedBy, ChangedOperator, OperatorsAdmin } from "../../../ports/operators.ts";
import type { Random } from "../../../ports/random.ts";
import type { PostgresStore } from "../../postgres/store.ts";
import type { Sql } from "../../postgres/store-transaction.ts";
import { newRecoveryCode } from "../one-time-codes.ts";
import type { PasswordHashing } from "../password-hashing.ts";
import type { Sealing } from "../sealing.ts";
import { redeemOrTell } from "../step-up-proofs.ts";
import type { ChangeWork, ReadPeople } from "./change-work.ts";
import { type Attempt, noReason, refused, tooManyWait } from "./identity-refusals.ts";
import { makeRequest } from "./identity-requests.ts";
import { listFactorOwners, listOperators } from "./operator-rows.ts";
import { changeOf, type PeopleChanges } from "./people-changes.ts";

interface OperatorsAdminOptions {
  readonly store: PostgresStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly sealing: Sealing;
  readonly hashing: PasswordHashing;
  readonly changes: PeopleChanges;
  readonly people: ReadPeople;
  readonly isExternal: boolean;
  readonly isProduction: boolean;
}

/** What the rules and records need of one change. */
interface Asking {
  readonly asked: AskedBy;
  readonly change: PersonChange;
  readonly named: NamedAction;
  /** Made before the transaction, because a hash takes its time. */
  readonly password?: NewPassword | undefined;
  done(it: ChangeWork, people: People): Promise<ChangedOperator>;
}

export interface NewPassword {
  /** What the caller is told of it. */
  readonly shown: string;
  readonly hash: string;
}

export const requestContext = (requestId: string): string => `identity_request ${requestId}`;

export function createOperatorsAdmin(options: OperatorsAdminOptions): OperatorsAdmin {
  const { store, clock, random, changes } = options;

  async function run(asking: Asking): Promise<Outcome<ChangedOperator | Requested>> {
    const { asked, change, named } = asking;
    const { identity, reason, proof } = asked;
    return store.transactSql("identity.operator_change", async ({ events }, sql) => {
      const at = clock.now();
      const people = await options.people(sql);
      const denial =
        (reason.trim() === "" ? noReason : undefined) ?? judgeAdmin(identity, people) ?? judgeChange(change, people);
      const attempt = { sql, events, identity, at };
      if (denial !== undefined) return refused(attempt, named.action, change.name, denial);
      const unproved = await redeemOrTell(sql, events, { proof, identity, named, at });
      if (unproved !== undefined) return { ok: false, denial: unproved };
      if (changeNeedsTwo(change.kind, options.isProduction)) return request(asking, attempt);
      const it = { sql, events, at, actor: identity.actor, subject: identity.subject, reason };
      const password = asking.password === undefined ? {} : { password: asking.password.shown };
      return { ok: true, value: { ...(await asking.done(it, people)), ...password } };
    });
  }

  async function request(
    asking: Asking,
    { sql, events, at }: Pick<Attempt, "events" | "at"> & { readonly sql: Sql },
  ): Promise<Outcome<Requested>> {
    const { asked, change, named } = asking;
    const { identity } = asked;
    const requestId = random.uuid();
    const passwordHalf = change.kind === "add" ? newRecoveryCode(random) : undefined;
    const sealed =
      passwordHalf === undefined ? undefined : options.sealing.seal(passwordHalf, requestContext(requestId));
    const made = await makeRequest(sql, events, {
      requestId,
      operation: named.action,
      target: `operator:${change.name}`,
      parameters: named.parameters,
      sealed,
      identity,
      reason: asked.reason,
      at,
    });
    if (made === undefined) return { ok: false, denial: tooManyWait };
    return { ok: true, value: { request: made, ...(passwordHalf === undefined ? {} : { passwordHalf }) } };
  }

  async function onePassword(): Promise<NewPassword | undefined> {
    if (changeNeedsTwo("add", options.isProduction)) return undefined;
    const shown = `${newRecoveryCode(random)}-${newRecoveryCode(random)}`;
    return { shown, hash: await options.hashing.hash(shown) };
  }

  return {
    list: (page) =>
      store.transactSql("identity.operator_list", (_unit, sql) =>
        options.isExternal ? listFactorOwners(sql, page) : listOperators(sql, page),
      ),

    async add(asked, { name, roles }) {
      const password = await onePassword();
      return run({
        asked,
        change: changeOf("add", name, roles),
        named: { action: "AddOperator", parameters: { name, roles } },
        password,
        done: async (it, people) => ({
          operator: await changes.add(it, { name, roles, passwordHash: password?.hash ?? "" }, people),
        }),
      });
    },

    changeRoles: (asked, { name, roles }) =>
      run({
        asked,
        change: changeOf("roles", name, roles),
        named: { action: "ChangeOperatorRoles", parameters: { name, roles } },
        done: async (it) => ({ operator: await changes.changeRoles(it, { name, roles }) }),
      }),

    resetFactor: (asked, name) =>
      run({
        asked,
        change: changeOf("reset factor", name),
        named: { action: "ResetOperatorFactor", parameters: { name } },
        done: async (it) => ({ operator: await changes.resetFactor(it, name) }),
      }),

    async disable(asked, { name, keepTokens }) {
      const outcome = await run({
        asked,
        change: changeOf("disable", name),
        named: { action: "DisableOperator", parameters: { name, keep_tokens: keepTokens } },
        done: (it) => changes.disable(it, { name, keepTokens }),
      });
      return outcome as Outcome<ChangedOperator>;
    },
  };
}

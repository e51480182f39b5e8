// What a change of a person does once nothing stands against it, in the transaction of whoever judged it: the row, the end of what the person held
// before, and the events. One admin's change and one that a second admin signed take the same way.
import { Fault } from "../../../contracts/src/fault.ts";
import { format } from "../../../contracts/src/instant.ts";
import type { OperatorChanged } from "../../../contracts/src/records/platform.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import type { People, PersonChange } from "../../../core/identity/identity-rules.ts";
import type { ChangedOperator, Operator } from "../../../ports/operators.ts";
import { deleteFactor } from "../factor-rows.ts";
import { endLogins } from "../logins/sessions.ts";
import { findTokensOf } from "../service-token-rows.ts";
import { revokeWithEvent } from "../service-tokens.ts";
import type { ChangeWork } from "./change-work.ts";
import { findOperator, putOperator, setDisabled, setRoles } from "./operator-rows.ts";

interface PeopleChangesOptions {
  issuer(): string;
  /** How long a login can last: `identity.session_s`. */
  readonly sessionS: number;
}

export interface PeopleChanges {
  add(
    it: ChangeWork,
    person: { readonly name: string; readonly roles: readonly string[]; readonly passwordHash: string },
    people: People,
  ): Promise<Operator>;
  changeRoles(it: ChangeWork, person: { readonly name: string; readonly roles: readonly string[] }): Promise<Operator>;
  resetFactor(it: ChangeWork, name: string): Promise<Operator>;
  disable(it: ChangeWork, person: { readonly name: string; readonly keepTokens: boolean }): Promise<ChangedOperator>;
}

export function createPeopleChanges({ issuer, sessionS }: PeopleChangesOptions): PeopleChanges {
  async function end(it: ChangeWork, name: string): Promise<void> {
    const person = { name, issuer: issuer(), sessionS };
    await endLogins(it.sql, it.events, person, { actor: it.cosignedBy ?? it.actor, reason: it.reason, at: it.at });
  }

  async function removeFactors(it: ChangeWork, name: string): Promise<void> {
    const actor = `operator:${name}`;
    const found = await it.sql.write({
      text: "select subject, secret_sealed is not null as confirmed from second_factor where actor = $1 order by subject for update",
      values: [actor],
    });
    for (const { subject } of found.rows) await deleteFactor(it.sql, subject);
    if (!found.rows.some(({ confirmed }) => confirmed)) return;
    await it.events.publish(subjects.factorChanged, {
      operator: actor,
      factor: "totp",
      change: "removed",
      ...standing(it),
    });
  }

  async function mustFind(it: ChangeWork, name: string): Promise<Operator> {
    const operator = await findOperator(it.sql, name);
    if (operator !== undefined) return operator;
    throw new Fault("INTERNAL", `The operator ${name} is gone while it is changed.`, { retry: "never" });
  }

  async function tell(it: ChangeWork, operator: Operator, change: OperatorChanged["change"]): Promise<Operator> {
    await it.events.publish(subjects.operatorChanged, {
      operator: `operator:${operator.name}`,
      change,
      roles: [...operator.roles],
      ...standing(it),
    });
    return operator;
  }

  return {
    async add(it, { name, roles, passwordHash }, people) {
      const isBack = people !== "external" && people.some((person) => person.name === name);
      // Whatever an earlier bearer of the name left behind is not theirs. A new person has no logins to end, and tokens say in whole seconds when
      // they were issued: the first login may come within this one.
      if (isBack) await end(it, name);
      await removeFactors(it, name);
      await putOperator(it.sql, { name, roles, passwordHash, at: it.at });
      return tell(it, await mustFind(it, name), isBack ? "restored" : "made");
    },

    async changeRoles(it, { name, roles }) {
      await setRoles(it.sql, name, roles);
      await end(it, name);
      return tell(it, await mustFind(it, name), "changed");
    },

    async resetFactor(it, name) {
      await end(it, name);
      await removeFactors(it, name);
      // With another issuer there is no row here, and the name is all that is known.
      return (await findOperator(it.sql, name)) ?? { name, roles: [], isDevelopment: false, createdAt: it.at };
    },

    async disable(it, { name, keepTokens }) {
      await setDisabled(it.sql, name, it.at, it.actor);
      await end(it, name);
      const tokens = await findTokensOf(it.sql, `operator:${name}`, it.at);
      const alone = keepTokens ? [] : tokens.filter(({ cosignedBy }) => cosignedBy === undefined);
      for (const row of alone) {
        await revokeWithEvent(it.sql, it.events, row, { identity: it, at: it.at, reason: it.reason });
      }
      const operator = await tell(it, await mustFind(it, name), "disabled");
      const kept = tokens.filter((row) => !alone.includes(row)).map(({ id }) => id);
      return { operator, revokedTokens: alone.map(({ id }) => id), keptTokens: kept };
    },
  };
}

/** Who stands behind it, as every event of such a change says. */
function standing({ actor, cosignedBy, requestId, reason, at }: ChangeWork) {
  return {
    actor,
    ...(cosignedBy === undefined ? {} : { cosigned_by: cosignedBy }),
    ...(requestId === undefined ? {} : { request_id: requestId }),
    reason,
    at: format(at),
  };
}

/** As the rules name it. */
export function changeOf(kind: PersonChange["kind"], name: string, roles: readonly string[] = []): PersonChange {
  return kind === "add" || kind === "roles" ? { kind, name, roles } : { kind, name };
}

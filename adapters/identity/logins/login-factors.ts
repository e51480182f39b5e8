// The second factor at a login of the embedded provider: asked for where one is set up, judged with the same locks and events as everywhere else.
import type { Clock } from "../../../ports/clock.ts";
import type { NamedAction, ShownFactor } from "../../../ports/identity.ts";
import type { PostgresStore } from "../../postgres/store.ts";
import type { LoginFactors } from "../embedded/options.ts";
import { lockFactor, readFactorFacts } from "../factor-rows.ts";
import type { Sealing } from "../sealing.ts";
import { showFactor } from "../second-factors.ts";
import { parametersHashOf } from "../step-up-proofs.ts";

interface LoginFactorsOptions {
  readonly store: PostgresStore;
  readonly sealing: Sealing;
  readonly clock: Clock;
}

export function createLoginFactors({ store, sealing, clock }: LoginFactorsOptions): LoginFactors {
  return {
    isEnrolled: ({ subject }) =>
      store.transactSql("identity.factor_status", async (_unit, sql) => {
        const facts = await readFactorFacts(sql, subject);
        return facts?.enrolledAt !== undefined;
      }),

    show: (person, parameters, code) => {
      const named: NamedAction = { action: "LogIn", parameters };
      const parametersHash = parametersHashOf(parameters);
      return store.transactSql("identity.log_in_factor", async ({ events }, sql) => {
        const row = await lockFactor(sql, sealing, person.subject);
        // It was removed since the page was shown: then there is nothing to show.
        if (row?.secret === undefined) return undefined;
        const attempt = { sql, events, identity: person, named, parametersHash, at: clock.now() };
        const refused = await showFactor(attempt, { ...row, secret: row.secret }, shownBy(code));
        return refused === undefined ? undefined : { reason: refused.denial.reason, retryAfterS: refused.retryAfterS };
      });
    },
  };
}

/** One field takes either: six digits are a code of now, anything else a recovery code. */
function shownBy(code: string): ShownFactor {
  const typed = code.replaceAll(" ", "");
  return /^\d{6}$/.test(typed) ? { kind: "totp", code: typed } : { kind: "recovery_code", code: typed };
}

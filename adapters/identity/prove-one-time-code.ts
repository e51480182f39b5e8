// One-time codes that come with the request they are for, judged like those of a step-up (second-factors.ts): the same transaction, locks and
// events, only that no proof is made, because whoever asks acts on the answer at once.
import type { Clock } from "../../ports/clock.ts";
import type { OneTimeCodes } from "../../ports/one-time-codes.ts";
import type { PostgresStore } from "../postgres/store.ts";
import { lockFactor } from "./factor-rows.ts";
import type { Sealing } from "./sealing.ts";
import { refuse, showFactor, type Try } from "./second-factors.ts";
import { parametersHashOf } from "./step-up-proofs.ts";

export interface OneTimeCodesOptions {
  readonly store: PostgresStore;
  readonly clock: Clock;
  /** Opened with the first code: a process that is never shown one needs no key. */
  readonly openSealing: () => Promise<Sealing>;
}

export function createOneTimeCodes({ store, clock, openSealing }: OneTimeCodesOptions): OneTimeCodes {
  let opening: Promise<Sealing> | undefined;

  async function sealing(): Promise<Sealing> {
    opening ??= openSealing();
    try {
      return await opening;
    } catch (thrown) {
      opening = undefined;
      throw thrown;
    }
  }

  return {
    async prove(identity, named, code) {
      const opened = await sealing();
      // Before the transaction: parameters that have no hash must not take a wrong attempt back with them.
      const parametersHash = parametersHashOf(named.parameters);
      return store.transactSql("identity.step_up", async ({ events }, sql) => {
        const row = await lockFactor(sql, opened, identity.subject);
        const attempt: Try = { sql, events, identity, named, parametersHash, at: clock.now() };
        const refusal =
          row?.secret === undefined
            ? await refuse(attempt, "totp", { code: "SECOND_FACTOR_MISSING" })
            : await showFactor(attempt, { ...row, secret: row.secret }, { kind: "totp", code });
        return refusal?.denial;
      });
    },
  };
}

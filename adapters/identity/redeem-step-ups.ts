// Redeems proofs of a second factor for services whose work is not a transaction of the store's: the proof is used up first, for good.
import type { Denial } from "../../contracts/src/codes.ts";
import { format } from "../../contracts/src/instant.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { Clock } from "../../ports/clock.ts";
import type { StepUps } from "../../ports/step-ups.ts";
import type { PostgresStore } from "../postgres/store.ts";
import { parametersHashOf, redeemProof } from "./step-up-proofs.ts";

export function createStepUps({ store, clock }: { readonly store: PostgresStore; readonly clock: Clock }): StepUps {
  return {
    redeem: (identity, named, proof) =>
      store.transactSql("identity.step_up_redeem", async ({ events }, sql): Promise<Denial | undefined> => {
        const at = clock.now();
        const denial = await redeemProof(sql, events, { identity, named, proof, at });
        // A missing proof is only a question for one; one that does not fit is an attempt.
        if (denial?.code === "STEP_UP_WRONG") {
          await events.publish(subjects.stepUpRefused, {
            operator: identity.actor,
            action: named.action,
            parameters_hash: parametersHashOf(named.parameters),
            code: denial.code,
            at: format(at),
          });
        }
        return denial;
      }),
  };
}

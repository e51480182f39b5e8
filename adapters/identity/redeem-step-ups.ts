// Redeems proofs of a second factor for services whose work is not a transaction of the store's: the proof is used up first, for good.
import type { Clock } from "../../ports/clock.ts";
import type { StepUps } from "../../ports/step-ups.ts";
import type { Store } from "../../ports/store.ts";

export function createStepUps({ store, clock }: { readonly store: Store; readonly clock: Clock }): StepUps {
  return {
    redeem: (identity, named, proof) =>
      store.transact("identity.step_up_redeem", ({ stepUps }) =>
        stepUps.redeem({ identity, named, proof, at: clock.now() }),
      ),
  };
}

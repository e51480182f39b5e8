// GetHaltStatus at the risk engine: what it enforces at this moment, for whoever is about to send an order and compares epochs. It asks nobody, so it answers
// while operations is away; where the engine itself does not know, that counts as halted.
import { Fault } from "../../contracts/src/fault.ts";
import type { HaltStatus, HaltStatusRequest } from "../../contracts/src/generated/svc/v1/halt.ts";
import { haltsAbout } from "../../core/halts/halts.ts";
import type { Clock } from "../../ports/clock.ts";
import { statusOf } from "../halts/resume-workflow.ts";
import type { HaltWatch } from "./halt-watch.ts";
import type { ReferenceWatch } from "./reference-watch.ts";

interface HaltStatusOptions {
  readonly clock: Clock;
  readonly watch: Pick<HaltWatch, "enforced" | "epoch" | "health">;
  readonly reference: Pick<ReferenceWatch, "fund" | "fundOfStrategy">;
}

export function haltStatusOf({ clock, watch, reference }: HaltStatusOptions) {
  return async (request: HaltStatusRequest): Promise<HaltStatus> => {
    const { fundId, about } = scopeOf(request, reference);
    const status = statusOf(fundId, haltsAbout(watch.enforced(), about), watch.epoch(), clock.now());
    const isKnown = watch.health().status === "ok";
    return isKnown ? status : { ...status, halted: true, known: false };
  };
}

function scopeOf(
  { fund_id: fundId, strategy_id: strategyId = "" }: HaltStatusRequest,
  reference: HaltStatusOptions["reference"],
): { readonly fundId: string; readonly about: Parameters<typeof haltsAbout>[1] } {
  if (strategyId !== "") {
    const owner = reference.fundOfStrategy(strategyId);
    if (owner === undefined) throw nobody("strategy", strategyId);
    return { fundId: owner.fund_id, about: { fundId: owner.fund_id, strategyId } };
  }
  if (fundId === "") return { fundId, about: "everything" };
  if (reference.fund(fundId) === undefined) throw nobody("fund", fundId);
  return { fundId, about: { fundId } };
}

function nobody(what: string, id: string): Fault {
  return new Fault("NOT_FOUND", `There is no ${what} ${JSON.stringify(id.slice(0, 128))}.`, { retry: "never" });
}
